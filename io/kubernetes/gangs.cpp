#include "io/kubernetes/gangs.h"

#include <algorithm>
#include <map>

#include "model/base/require.h"

namespace muster {

namespace {

constexpr std::size_t kNoGang = std::numeric_limits<std::size_t>::max();
constexpr std::int32_t kKaiPriority = 50;           // of a group whose class does not exist
constexpr std::int32_t kKaiNonPreemptible = 100;    // from here on, if a group does not set it
constexpr std::string_view kNoSubgroup = "(none)";  // of pods that name none; no name of Kubernetes
constexpr std::string_view kNoTask = "default";

std::string key_of(const KubernetesGroup& group) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(group.system)));
  return key.append(group.full_name());
}

KubernetesGroup group_of(const KubernetesPod& pod) {
  KubernetesGroup group;
  group.system = pod.reference.system;
  group.namespace_name = pod.namespace_name;
  group.name = pod.reference.name;
  group.group = pod.reference.group;
  group.replica = pod.reference.replica;
  return group;
}

// For a group that the input does not have: what `kubectl get` has to list, too.
std::string_view missing_group(GroupSystem system) {
  switch (system) {
    case GroupSystem::kPodGroup:
      return "its PodGroup is not in the input; add podgroups.scheduling.k8s.io to the kinds of kubectl get";
    case GroupSystem::kWorkload:
      return "its Workload is not in the input; add workloads.scheduling.k8s.io to the kinds of kubectl get";
    case GroupSystem::kKai:
      return "its PodGroup is not in the input; add podgroups.scheduling.run.ai to the kinds of kubectl get";
    case GroupSystem::kVolcano:
      return "its PodGroup is not in the input; add podgroups.scheduling.volcano.sh to the kinds of kubectl get";
    case GroupSystem::kCoscheduling:
      return "its PodGroup is not in the input; add podgroups.scheduling.x-k8s.io to the kinds of kubectl get";
    default:
      return "its pod group is not in the input";
  }
}

std::string_view api_group(GroupSystem system) {
  switch (system) {
    case GroupSystem::kPodGroup:
    case GroupSystem::kWorkload:
      return "scheduling.k8s.io";
    case GroupSystem::kKai:
      return "scheduling.run.ai";
    case GroupSystem::kVolcano:
      return "scheduling.volcano.sh";
    case GroupSystem::kCoscheduling:
      return "scheduling.x-k8s.io";
    case GroupSystem::kCoschedulingSigs:
      return "scheduling.sigs.k8s.io";
    case GroupSystem::kKueue:
      return "kueue.x-k8s.io";
    case GroupSystem::kNone:
      break;
  }
  return "pod";
}

// So that the order of the pods does not matter.
void keep_first(std::string_view candidate, std::string_view& kept) {
  if (!candidate.empty() && (kept.empty() || candidate < kept)) kept = candidate;
}

const KubernetesSubgroup* leaf_named(const KubernetesGroup& group, std::string_view name) {
  const auto found = std::ranges::find(group.subgroups, name, &KubernetesSubgroup::name);
  if (name.empty() || found == group.subgroups.end()) return nullptr;
  const auto child = std::ranges::find(group.subgroups, name, &KubernetesSubgroup::parent);
  return child == group.subgroups.end() ? &*found : nullptr;
}

std::string_view add_empty_subgroup(KubernetesGroup& group, std::string_view name) {
  if (std::ranges::find(group.subgroups, name, &KubernetesSubgroup::name) == group.subgroups.end()) {
    KubernetesSubgroup& subgroup = group.subgroups.emplace_back();
    subgroup.name = name;
    subgroup.min_member = 0;
    if (group.min_subgroups) ++*group.min_subgroups;  // it is always there
  }
  return name;
}

// Names of quotas that Volcano writes in addition to the resources themselves.
bool is_quota_name(std::string_view resource) {
  return resource.starts_with("requests.") || resource.starts_with("limits.") || resource.starts_with("count/");
}

bool write_min_resources(KubernetesReading& in, JsonWriter& writer, JsonValue resources) {
  if (!resources) return true;
  writer.raw(R"(,"minResources":{)");
  bool first = true;
  for (const JsonMember member : resources.members()) {
    if (member.value.is(JsonKind::kNull) || is_quota_name(member.key)) continue;
    if (!in.expect_text_or_number(member.value, "a quantity")) return false;
    writer.separate(first).string(member.key == "nvidia.com/gpu" ? "gpu" : member.key).raw(":");
    write_json(writer, in.document, member.value);
  }
  writer.raw("}");
  return true;
}

void write_topology(JsonWriter& writer, std::string_view required, std::string_view preferred) {
  if (required.empty() && preferred.empty()) return;
  bool first = true;
  writer.raw(R"(,"topology":{)");
  if (!required.empty()) writer.separate(first).raw(R"("required":)").string(required);
  if (!preferred.empty()) writer.separate(first).raw(R"("preferred":)").string(preferred);
  writer.raw("}");
}

void write_subgroups(JsonWriter& writer, const std::vector<KubernetesSubgroup>& subgroups) {
  bool first = true;
  writer.raw(R"(,"subgroups":[)");
  for (const KubernetesSubgroup& subgroup : subgroups) {
    writer.separate(first).raw(R"({"name":)").string(subgroup.name);
    if (!subgroup.parent.empty()) writer.raw(R"(,"parent":)").string(subgroup.parent);
    if (subgroup.min_member) writer.raw(R"(,"minMember":)").integer(*subgroup.min_member);
    if (subgroup.min_subgroups) writer.raw(R"(,"minSubgroups":)").integer(*subgroup.min_subgroups);
    write_topology(writer, subgroup.required, subgroup.preferred);
    writer.raw("}");
  }
  writer.raw("]");
}

}  // namespace

std::size_t KubernetesGangs::append(const KubernetesGroup& group) {
  gangs_.emplace_back().group = group;
  return gangs_.size() - 1;
}

bool KubernetesGangs::add(KubernetesReading& in, const KubernetesGroup& group) {
  MUSTER_REQUIRE(!has_joined_);
  const bool is_new = positions_.emplace(key_of(group), gangs_.size()).second;
  if (!is_new) return in.fail(group.object, "DuplicateName", "duplicate pod group " + group.full_name());
  Gang& gang = gangs_[append(group)];
  gang.is_written = !group.is_basic;
  return true;
}

void KubernetesGangs::add_made(const KubernetesGroup& group) {
  if (positions_.emplace(key_of(group), gangs_.size()).second) append(group);
}

std::size_t KubernetesGangs::find_or_add(const KubernetesPod& pod) {
  KubernetesGroup group = group_of(pod);
  const auto known = positions_.find(key_of(group));
  if (known != positions_.end()) return known->second;
  if (!group.replica.empty()) {  // each key is a gang, as the pod group requires
    KubernetesGroup whole = group;
    whole.replica = {};
    if (const auto base = positions_.find(key_of(whole)); base != positions_.end()) {
      Gang& source = gangs_[base->second];
      if (source.group.is_basic) return base->second;
      source.is_written = source.pods > 0;
      whole = source.group;
      whole.replica = group.replica;
      const std::size_t position = append(whole);
      positions_.emplace(key_of(whole), position);
      return position;
    }
  }
  if (group.system == GroupSystem::kCoscheduling) return kNoGang;
  if (group.system == GroupSystem::kVolcano) group.queue = "default";
  const bool is_told_by_pods = group.system == GroupSystem::kCoschedulingSigs || group.system == GroupSystem::kKueue;
  if (!is_told_by_pods) group.held = missing_group(group.system);
  const std::size_t position = append(group);
  positions_.emplace(key_of(group), position);
  return position;
}

void KubernetesGangs::join(KubernetesPod& pod) {
  has_joined_ = true;
  if (pod.reference.system == GroupSystem::kNone || pod.is_left_out) return;
  if (!(pod.reference == last_reference_) || pod.namespace_name != last_namespace_) {
    last_ = find_or_add(pod);
    last_reference_ = pod.reference;
    last_namespace_ = pod.namespace_name;
  }
  if (last_ == kNoGang) return;
  Gang& gang = gangs_[last_];
  if (gang.group.is_basic) {
    if (pod.held.empty()) pod.held = gang.group.held;
    return;
  }
  pod.gang = static_cast<std::int32_t>(last_);
  gang.is_written = true;
  count(pod, gang);
  set_subgroup(pod, gang);
}

void KubernetesGangs::count(const KubernetesPod& pod, Gang& gang) {
  ++gang.pods;
  if (pod.status == PodStatus::kSucceeded) ++gang.succeeded;
  gang.highest_priority = std::max(gang.highest_priority, priority_of(pod));
  gang.never_preempts = gang.never_preempts && pod.never_preempts;
  gang.has_fixed = gang.has_fixed || pod.is_fixed;
  gang.forbids_preemption = gang.forbids_preemption || pod.words.volcano_forbids_preemption;
  if (pod.words.min_available) gang.min_available = std::max(gang.min_available.value_or(0), *pod.words.min_available);
  if (!pod.created.empty() && (gang.earliest.empty() || is_earlier(pod.created, gang.earliest))) {
    gang.earliest = pod.created;
  }
  keep_first(pod.words.kai_queue, gang.kai_queue);
  keep_first(pod.words.runai_queue, gang.runai_queue);
  keep_first(pod.words.kueue_queue, gang.kueue_queue);
  if (gang.group.system == GroupSystem::kKueue) {
    keep_first(pod.words.kueue_required, gang.group.required);
    keep_first(pod.words.kueue_preferred, gang.group.preferred);
  }
  if (gang.group.held.empty()) gang.group.held = pod.held;
}

void KubernetesGangs::set_subgroup(KubernetesPod& pod, Gang& gang) {
  KubernetesGroup& group = gang.group;
  if (group.subgroups.empty()) return;
  if (group.system == GroupSystem::kVolcano) {
    pod.subgroup = add_empty_subgroup(group, pod.words.volcano_task.empty() ? kNoTask : pod.words.volcano_task);
  } else if (const KubernetesSubgroup* leaf = leaf_named(group, pod.words.kai_subgroup)) {
    pod.subgroup = leaf->name;
  } else {
    pod.subgroup = add_empty_subgroup(group, kNoSubgroup);
    if (group.held.empty()) group.held = "a pod of the gang names no subgroup of its PodGroup";
  }
}

std::int32_t KubernetesGangs::priority_of(const KubernetesPod& pod) const {
  return pod.priority ? *pod.priority : priorities_.value_of(pod.priority_class, 0);
}

void KubernetesGangs::hold(const KubernetesPod& pod) {
  if (pod.gang < 0 || pod.held.empty()) return;
  std::string_view& held = gangs_[static_cast<std::size_t>(pod.gang)].group.held;
  if (held.empty()) held = pod.held;
}

std::string_view KubernetesGangs::held(const KubernetesPod& pod) const {
  return pod.gang < 0 ? pod.held : gangs_[static_cast<std::size_t>(pod.gang)].group.held;
}

// Of groups of several systems with one name, the first system's keeps it.
void KubernetesGangs::settle_names() {
  std::map<std::string, GroupSystem> first;
  for (Gang& gang : gangs_) {
    if (!gang.is_written) continue;
    gang.name = gang.group.full_name();
    const auto [known, is_new] = first.emplace(gang.name, gang.group.system);
    if (!is_new) known->second = std::min(known->second, gang.group.system);
  }
  for (Gang& gang : gangs_) {
    if (!gang.is_written || first.at(gang.name) == gang.group.system) continue;
    gang.name.append("@").append(api_group(gang.group.system));
  }
}

std::int32_t KubernetesGangs::settled_priority(const Gang& gang) const {
  const KubernetesGroup& group = gang.group;
  if (group.priority) return *group.priority;
  const bool is_kai = group.system == GroupSystem::kKai;
  if ((is_kai && group.object) || !group.priority_class.empty() || gang.pods == 0) {
    return priorities_.value_of(group.priority_class, is_kai ? kKaiPriority : 0);
  }
  return gang.highest_priority;
}

void KubernetesGangs::settle(Gang& gang) {
  KubernetesGroup& group = gang.group;
  const bool is_kai = group.system == GroupSystem::kKai;
  gang.priority = settled_priority(gang);
  if (is_kai) {
    gang.preemptible = group.preemptible.value_or(gang.priority < kKaiNonPreemptible && !gang.has_fixed);
  } else {
    gang.preemptible =
        group.preemptible.value_or(!gang.forbids_preemption) && gang.priority < kSystemPriority && !gang.has_fixed;
  }
  // KAI ignores all preemption policies.
  if (!group.says_policy && !is_kai) group.never_preempts = gang.pods > 0 && gang.never_preempts;
  if (!group.min_member && group.subgroups.empty()) group.min_member = gang.min_available;
  if (group.system == GroupSystem::kKueue && group.min_member) {  // those that have succeeded need no place
    group.min_member = static_cast<std::int32_t>(std::max<std::int64_t>(0, *group.min_member - gang.succeeded));
  }
  if (group.created.empty()) group.created = gang.earliest;
  std::string_view queue = group.queue;
  if (is_kai) {
    for (const std::string_view next : {gang.kai_queue, group.runai_queue, gang.runai_queue}) {
      if (queue.empty()) queue = next;
    }
  }
  gang.queue = queue;
  const bool is_kueue = queue.empty() && !is_kai && !gang.kueue_queue.empty();
  if (is_kueue) {
    gang.queue = queues_.kueue().name_of(group.namespace_name, gang.kueue_queue);
    if (queues_.kueue().is_stopped(group.namespace_name, gang.kueue_queue) && group.held.empty()) {
      group.held = "its queue is stopped";
    }
    return;
  }
  if (queue.empty() || (queue == "default" && !queues_.has(queue))) gang.queue = queues_.common_queue();
  if (queues_.is_closed(gang.queue) && group.held.empty()) group.held = "its queue is not open";
}

// A pod without a gang is one by itself, named after the pod; if a gang has that name, the pod's gang gets another.
void KubernetesGangs::give_own_gangs(std::vector<KubernetesPod>& pods) {
  std::unordered_set<std::string> names;
  for (const Gang& gang : gangs_) names.insert(gang.name);
  if (names.empty()) return;
  for (KubernetesPod& pod : pods) {
    if (pod.gang >= 0 || pod.is_left_out || !names.contains(pod.full_name())) continue;
    Gang& gang = gangs_.emplace_back();
    gang.group.namespace_name = pod.namespace_name;
    gang.group.name = pod.name;
    gang.name = pod.full_name().append("@").append(api_group(GroupSystem::kNone));
    count(pod, gang);
    settle(gang);
    pod.gang = static_cast<std::int32_t>(gangs_.size() - 1);
  }
}

void KubernetesGangs::finish(std::vector<KubernetesPod>& pods, KubernetesRemarks& remarks) {
  settle_names();
  for (Gang& gang : gangs_) {
    if (gang.is_written) settle(gang);
  }
  give_own_gangs(pods);
  for (const Gang& gang : gangs_) {
    if (!gang.is_written || gang.group.held.empty()) continue;
    remarks.add("a gang is held and its pods are not planned: " + std::string(gang.group.held), gang.name);
  }
  for (const KubernetesPod& pod : pods) {
    if (pod.gang < 0 && !pod.is_left_out && pod.reference.system == GroupSystem::kCoscheduling)
      remarks.add("a pod is planned without its gang: " + std::string(missing_group(pod.reference.system)),
                  pod.full_name());
    if (pod.gang >= 0 || pod.held.empty() || pod.is_left_out) continue;
    remarks.add("a pod is held and not planned: " + std::string(pod.held), pod.full_name());
  }
}

bool KubernetesGangs::write_gang(KubernetesReading& in, JsonWriter& writer, const Gang& gang) const {
  const KubernetesGroup& group = gang.group;
  writer.raw(R"({"name":)").string(gang.name).raw(R"(,"queue":)").string(gang.queue);
  writer.raw(R"(,"priority":)").integer(gang.priority);
  writer.raw(gang.preemptible ? R"(,"preemptible":true)" : R"(,"preemptible":false)");
  if (group.never_preempts) writer.raw(R"(,"preemptionPolicy":"Never")");
  if (group.min_member) writer.raw(R"(,"minMember":)").integer(*group.min_member);
  if (group.min_subgroups) writer.raw(R"(,"minSubgroups":)").integer(*group.min_subgroups);
  if (!group.subgroups.empty()) write_subgroups(writer, group.subgroups);
  if (!write_min_resources(in, writer, group.min_resources)) return false;
  if (!group.min_amounts.empty()) {
    writer.raw(R"(,"minResources":)");
    write_requests(writer, group.min_amounts);
  }
  write_topology(writer, group.required, group.preferred);
  if (!group.created.empty()) writer.raw(R"(,"created":)").string(group.created);
  if (group.timeout) {
    writer.raw(R"(,"timeout":)");
    write_json(writer, in.document, group.timeout);
  }
  if (group.grace_period) {
    const std::string_view period = group.grace_period.string();
    writer.raw(R"(,"stalenessGracePeriod":)").string(period.starts_with('-') ? "never" : period);
  }
  if (!group.grace_period && group.system == GroupSystem::kKai && !default_grace_period_.empty()) {
    writer.raw(R"(,"stalenessGracePeriod":)").string(default_grace_period_);
  }
  if (!group.stale_since.empty()) writer.raw(R"(,"staleSince":)").string(group.stale_since);
  writer.raw("}");
  return true;
}

bool KubernetesGangs::write(KubernetesReading& in, JsonWriter& writer) const {
  bool first = true;
  for (const Gang& gang : gangs_) {
    if (!gang.is_written) continue;
    writer.separate(first);
    if (write_gang(in, writer, gang)) continue;
    in.error.message = "PodGroup " + gang.name + ": " + in.error.message;
    return false;
  }
  return true;
}

}  // namespace muster
