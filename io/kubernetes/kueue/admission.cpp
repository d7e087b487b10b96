#include "io/kubernetes/kueue/admission.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

// The value of a namespace's label; its name is one even if the object is not known.
json::JsonValue value_of(json::JsonValue labels, std::string_view key) { return member_of(labels, key); }

bool has_label(json::JsonValue labels, std::string_view name, std::string_view key) {
  return key == kNameLabel ? !name.empty() : static_cast<bool>(value_of(labels, key));
}

bool is_value(json::JsonValue labels, std::string_view name, std::string_view key, std::string_view wanted) {
  if (key == kNameLabel) return name == wanted;
  const json::JsonValue value = value_of(labels, key);
  return value && value.is(json::JsonKind::kString) && value.string() == wanted;
}

}  // namespace

bool KueueAdmission::add_namespace(KubernetesReading& in, const KubernetesObject& object) {
  return in.take(object.metadata, "labels", namespaces_[object.name]);
}

bool KueueAdmission::selects(KubernetesReading& in, json::JsonValue selector, const KubernetesPod& pod,
                             bool& out) const {
  static constexpr std::array<std::string_view, 2> kKeys = {"matchExpressions", "matchLabels"};
  std::array<json::JsonValue, 2> found;
  bool has_any = false;
  const auto known = namespaces_.find(pod.namespace_name);
  const json::JsonValue labels = known == namespaces_.end() ? json::JsonValue() : known->second;
  const std::string_view name = pod.namespace_name;
  if (!in.take(selector, kKeys, found) || !in.has_elements(found[0], has_any)) return false;
  out = true;
  if (found[1]) {
    if (!in.expect(found[1], json::JsonKind::kObject)) return false;
    for (const json::JsonMember wanted : found[1].members()) {
      std::string_view value;
      if (!in.text(wanted.value, value)) return false;
      out = out && is_value(labels, name, wanted.key, value);
    }
  }
  if (!has_any) return true;
  for (const json::JsonValue element : found[0].elements()) {
    static constexpr std::array<std::string_view, 3> kParts = {"key", "operator", "values"};
    std::array<json::JsonValue, 3> parts;
    std::string_view key, op;
    bool has_values = false, is_one = false;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kParts, parts) || !in.text(parts[0], key) ||
        !in.text(parts[1], op) || !in.has_elements(parts[2], has_values)) {
      return false;
    }
    if (has_values) {
      for (const json::JsonValue value : parts[2].elements()) {
        std::string_view text;
        if (!in.text(value, text)) return false;
        is_one = is_one || is_value(labels, name, key, text);
      }
    }
    if (op == "Exists") is_one = has_label(labels, name, key);
    if (op == "DoesNotExist") is_one = !has_label(labels, name, key);
    if (op == "NotIn") is_one = !is_one;
    out = out && is_one;
  }
  return true;
}

bool KueueAdmission::hold(KubernetesReading& in, const KueueQueue& queue, KubernetesPod& pod) const {
  bool is_selected = true;
  if (queue.namespaces && !selects(in, queue.namespaces, pod, is_selected)) return false;
  if (!is_selected) {
    pod.hold(in.has_namespaces ? "its ClusterQueue does not admit workloads of its namespace"
                               : "its ClusterQueue selects namespaces by label, and the input has no Namespace: add "
                                 "namespaces to `kubectl get`");
  }
  // Then the limit on GPUs is for slices alone.
  const bool has_slices = std::ranges::any_of(
      queue.quotas.by_flavor, [](const auto& entry) { return mig_thousandths(entry.first.second) > 0; });
  if (has_slices && pod.gpus.request.kind != GpuRequestKind::kNone && !queue.quotas.covers("nvidia.com/gpu"))
    pod.hold("its ClusterQueue has no quota of nvidia.com/gpu");
  for (const KueueResourceGroup& group : queue.quotas.groups) {
    if (flavors_.empty() || !asks_for(pod, group)) continue;
    const bool has_all =
        std::ranges::all_of(group.flavors, [this](std::string_view name) { return flavors_.has(name); });
    if (!has_all) pod.hold("a ResourceFlavor of its ClusterQueue is not in the input");
  }
  return true;
}

bool KueueAdmission::settle(KubernetesReading& in, KubernetesPod& pod) const {
  const GroupLabels& labels = pod.membership.labels;
  const KueueQueue* queue = labels.kueue_queue.empty() ? nullptr : queues_.find(pod.namespace_name, labels.kueue_queue);
  if (queue == nullptr || labels.is_admitted_by_kueue) return true;
  return (!pod.state.waits() || hold(in, *queue, pod)) && flavors_.restrict(in, queue->quotas, pod);
}

// Whether a flavor of each group can have so much, if nothing else runs.
bool KueueAdmission::fits(KubernetesReading& in, const KueueQueue& queue, const KubernetesPod& pod,
                          const Sums& sums) const {
  for (const KueueResourceGroup& group : queue.quotas.groups) {
    std::vector<std::string_view> names;
    if (group.flavors.size() < 2 || !asks_for(pod, group)) continue;
    if (!in.tried(flavors_.find(in, group, pod, names))) continue;
    const auto can_have_all = [&](std::string_view flavor) {
      return std::ranges::all_of(sums, [&](const auto& sum) {
        return !group.covers(sum.first) || sum.second <= queues_.tree().most(queue.node, {flavor, sum.first});
      });
    };
    if (std::ranges::none_of(names, can_have_all)) return false;
  }
  return true;
}

void KueueAdmission::hold_beyond_flavors(KubernetesReading& in, std::vector<KubernetesPod>& pods) const {
  using Gang = std::array<std::string_view, 5>;
  struct PodSet {
    const KueueQueue* queue = nullptr;
    std::vector<KubernetesPod*> pods;
    Sums sums;
  };
  std::map<std::pair<Gang, std::string_view>, PodSet> sets;
  std::set<Gang> admitted;  // or in part
  for (KubernetesPod& pod : pods) {
    const GroupMembership& membership = pod.membership;
    const GroupLabels& labels = membership.labels;
    if (labels.kueue_queue.empty() || pod.state.is_left_out) continue;
    const KueueQueue* queue = queues_.find(pod.namespace_name, labels.kueue_queue);
    if (queue == nullptr) continue;
    const bool is_group = membership.reference.system == GroupSystem::kKueue;
    const Gang gang = {pod.namespace_name, is_group ? "" : pod.name, membership.reference.name,
                       membership.reference.group, membership.reference.replica};
    const bool is_in_part = labels.min_available && !membership.reference.group.empty();
    if (!pod.state.waits() || labels.is_admitted_by_kueue || is_in_part) {
      admitted.insert(gang);
      continue;
    }
    PodSet& set = sets[{gang, labels.kueue_pod_set}];
    set.queue = queue;
    set.pods.push_back(&pod);
    ++set.sums["pods"];
    for (const RequestedAmount& one : pod.requests) {
      std::int64_t& sum = set.sums[one.resource];
      sum = capped_sum(sum, std::max<std::int64_t>(0, whole_units(one)));
    }
    if (pod.gpus.request.kind == GpuRequestKind::kWhole) set.sums["nvidia.com/gpu"] += pod.gpus.request.devices;
  }
  for (const auto& [key, set] : sets) {
    if (admitted.contains(key.first) || fits(in, *set.queue, *set.pods.front(), set.sums)) continue;
    for (KubernetesPod* pod : set.pods) pod->hold("no ResourceFlavor of its ClusterQueue has a quota for all its pods");
  }
}

std::string_view KueuePodSets::add(const KubernetesPod& pod) {
  const GroupLabels& labels = pod.membership.labels;
  const PodStatus status = pod.state.status;
  const std::string_view name = labels.kueue_pod_set.empty() ? kNoSubgroup : labels.kueue_pod_set;
  const auto [at, is_new] = positions_.try_emplace(name, sets_.size());
  PodSet& set = is_new ? sets_.emplace_back() : sets_[at->second];
  set.name = name;
  const bool has_started = status == PodStatus::kRunning || status == PodStatus::kSucceeded;
  if (has_started) ++set.started;
  if (has_started || pod.state.waits()) ++set.there;
  keep_first(labels.kueue_required, set.topology.required);
  keep_first(labels.kueue_preferred, set.topology.preferred);
  return name;
}

void KueuePodSets::settle(KubernetesGroup& group) const {
  const auto has_topology = [](const PodSet& set) {
    return !set.topology.required.empty() || !set.topology.preferred.empty();
  };
  std::int64_t started = 0, there = 0;
  for (const PodSet& set : sets_) {
    started += set.started;
    there += set.there;
  }
  if (sets_.size() == 1 || std::ranges::none_of(sets_, has_topology)) {
    if (sets_.size() == 1) group.topology = sets_.front().topology;
    if (started > 0) group.minimum.members = static_cast<std::int32_t>(started);
    return;
  }
  for (const PodSet& set : sets_) {
    SnapshotSubgroup& subgroup = group.subgroups.emplace_back();
    subgroup.name = set.name;
    subgroup.min_member = static_cast<std::int32_t>(started > 0 ? set.started : set.there);
    subgroup.topology = set.topology;
  }
  if (started == 0 && group.minimum.members && *group.minimum.members > there && group.held.empty())
    group.held = "its group has fewer pods than it announces";
  group.minimum.members.reset();
}

}  // namespace muster::kubernetes
