#include "io/kubernetes/import/gangs.h"

#include <algorithm>
#include <map>

#include "io/kubernetes/grouping/kai.h"
#include "io/kubernetes/object/instants.h"
#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

using muster_v1::SnapshotInput;

constexpr std::size_t kNoGang = std::numeric_limits<std::size_t>::max();
constexpr std::int32_t kKaiPriority = 50;  // of a class that does not exist
constexpr std::string_view kNoTask = "default";
constexpr std::string_view kAwaited = "the object of its group does not exist yet";

// Made for the pods of an owner, of which several kinds may have one name.
bool is_of_owner(GroupSystem system) {
  return system == GroupSystem::kKaiOwner || system == GroupSystem::kKueue || system == GroupSystem::kVolcanoOwner;
}

std::string key_of(const KubernetesGroup& group) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(group.identity.system)));
  key.append(group.identity.full_name());
  if (is_of_owner(group.identity.system)) key.append("@").append(group.identity.group);
  return key;
}

KubernetesGroup group_of(const KubernetesPod& pod) {
  KubernetesGroup group;
  group.identity.system = pod.membership.reference.system;
  group.identity.namespace_name = pod.namespace_name;
  group.identity.name = pod.membership.reference.name;
  group.identity.group = pod.membership.reference.group;
  group.identity.replica = pod.membership.reference.replica;
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

// Whether an object tells of how many pods the group is, and the pods do not.
bool will_have_object(const KubernetesPod& pod) {
  switch (pod.membership.reference.system) {
    case GroupSystem::kCoschedulingSigs:
      return !pod.membership.labels.min_available;
    case GroupSystem::kKueue:
    case GroupSystem::kKoordinator:
    case GroupSystem::kYunikorn:
    case GroupSystem::kKaiPod:
    case GroupSystem::kVolcanoOwner:
    case GroupSystem::kNone:
      return false;
    default:
      return true;
  }
}

// What tells a gang from another one of the same name.
std::string_view distinction(const GroupIdentity& identity) {
  switch (identity.system) {
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
      return identity.group.empty() ? "kueue.x-k8s.io" : identity.group;
    case GroupSystem::kKoordinator:
      return "koordinator.sh";
    case GroupSystem::kYunikorn:
      return "yunikorn.apache.org";
    case GroupSystem::kKaiOwner:
    case GroupSystem::kVolcanoOwner:
      return identity.group;
    case GroupSystem::kKaiPod:
    case GroupSystem::kNone:
      break;
  }
  return "pod";
}

// A PriorityClass of YuniKorn protects its pods, unless a pod says otherwise.
void protect(const KubernetesPriorities& priorities, KubernetesPod& pod) {
  std::optional<bool>& allows = pod.membership.dialect.allows_preemption;
  if (!allows && pod.constraints.scheduler == "yunikorn" && priorities.forbids_preemption(pod.priority.class_name))
    allows = false;
}

std::string_view add_empty_subgroup(KubernetesGroup& group, SubgroupNames& names, std::string_view name) {
  if (names.add(name)) {
    SnapshotSubgroup& subgroup = group.subgroups.emplace_back();
    subgroup.name = name;
    subgroup.min_member = 0;
    if (group.minimum.subgroups) ++*group.minimum.subgroups;  // it is always there
  }
  return name;
}

// Names of quotas that Volcano writes in addition to the resources themselves.
bool is_quota_name(std::string_view resource) {
  return resource.starts_with("requests.") || resource.starts_with("limits.") || resource.starts_with("count/");
}

bool read_min_resources(SnapshotInput& out, json::JsonValue resources, SnapshotGang& entry) {
  if (!resources) return true;
  entry.has_min_resources = true;
  for (const json::JsonMember member : resources.members()) {
    if (member.value.is(json::JsonKind::kNull) || is_quota_name(member.key)) continue;
    if (member.key == "nvidia.com/gpu" || member.key == "gpu") {
      if (entry.min_resources_gpu > 0) return out.fail_duplicate(member.value, member.key);
      if (!out.read_amount(member.value, {QuantityUnit::kMillionth, Rounding::kUp}, entry.min_resources_gpu))
        return false;
      continue;
    }
    ResourceAmount amount;
    if (!out.read_resource(member, Rounding::kUp, amount)) return false;
    if (amount.amount > 0) entry.min_resources.push_back(amount);
  }
  std::ranges::sort(entry.min_resources, {}, &ResourceAmount::resource);
  return out.check_duplicates(resources);
}

// `gpu` counts devices.
bool set_min_resources(SnapshotInput& out, const KubernetesGroup& group, SnapshotGang& entry) {
  constexpr std::int64_t kMillion = 1'000'000;
  if (group.minimum.amounts.empty()) return true;
  entry.has_min_resources = true;
  for (const RequestedAmount& requested : group.minimum.amounts) {
    ResourceAmount amount;
    amount.amount = whole_units(requested);
    const bool is_gpu = requested.resource == "gpu";
    if (amount.amount < 0 || (is_gpu && amount.amount > std::numeric_limits<std::int64_t>::max() / kMillion))
      return out.fail(group.object, ErrorCode::kTooLarge, "it requests more than 64 bits can hold");
    if (amount.amount == 0) continue;
    if (is_gpu) {
      entry.min_resources_gpu = amount.amount * kMillion;
    } else if (out.find_resource(requested.resource, group.object, amount.resource)) {
      entry.min_resources.push_back(amount);
    } else {
      return false;
    }
  }
  return out.sort_resources(entry.min_resources, group.object);
}

TopologyRequest kept(SnapshotInput& out, const TopologyRequest& request) {
  if (request.required.empty() && request.preferred.empty()) return {};
  return {out.keep(request.required), out.keep(request.preferred), out.keep(request.topology)};
}

void set_subgroups(SnapshotInput& out, const KubernetesGroup& group, SnapshotGang& entry) {
  for (SnapshotSubgroup subgroup : group.subgroups) {
    subgroup.name = out.keep(subgroup.name);
    subgroup.parent = out.keep(subgroup.parent);
    subgroup.topology = kept(out, subgroup.topology);
    entry.subgroups.push_back(subgroup);
  }
}

// `otherwise`: for KAI's groups that set none.
bool set_grace_period(SnapshotInput& out, const KubernetesGroup& group, std::optional<Nanoseconds> otherwise,
                      SnapshotGang& entry) {
  Nanoseconds& period = entry.staleness_grace_period;
  if (group.times.grace_period) {
    period = kNever;
    return group.times.grace_period.string().starts_with('-') || out.read_duration(group.times.grace_period, period);
  }
  if (is_of_kai(group.identity.system) && otherwise) period = *otherwise;
  if (group.identity.system == GroupSystem::kKueue) period = kNever;  // Kueue evicts no gang for that
  return true;
}

// The topology of its pods' queue: Kueue asks for a level of whichever flavor it assigns.
void settle_topology(const KubernetesTopologies& topologies, KubernetesGroup& group) {
  if (group.identity.system != GroupSystem::kKueue) return;
  TopologyRequest& request = group.topology;
  const std::string_view level = request.required.empty() ? request.preferred : request.required;
  if (!level.empty()) request.topology = topologies.of_kueue(level, {});
}

}  // namespace

std::size_t KubernetesGangs::append(const KubernetesGroup& group) {
  has_dialects_ = has_dialects_ || group.identity.system == GroupSystem::kKoordinator ||
                  group.identity.system == GroupSystem::kYunikorn || group.dialect.is_koordinator;
  gangs_.emplace_back().group = group;
  return gangs_.size() - 1;
}

bool KubernetesGangs::add(KubernetesReading& in, const KubernetesGroup& group) {
  MUSTER_REQUIRE(!has_joined_);
  const bool is_new = positions_.emplace(key_of(group), gangs_.size()).second;
  if (!is_new)
    return in.fail(group.object, ErrorCode::kDuplicateName, "duplicate pod group " + group.identity.full_name());
  Gang& gang = gangs_[append(group)];
  gang.is_written = !group.is_basic;
  return true;
}

void KubernetesGangs::add_made(const KubernetesGroup& group) {
  if (!positions_.emplace(key_of(group), gangs_.size()).second) return;
  Gang& gang = gangs_[append(group)];
  gang.is_written = false;
  if (awaits_groups_ && group.identity.system == GroupSystem::kKaiOwner && group.held.empty())
    gang.group.held = kAwaited;
}

std::size_t KubernetesGangs::find_or_add(const KubernetesPod& pod) {
  KubernetesGroup group = group_of(pod);
  const auto known = positions_.find(key_of(group));
  if (known != positions_.end()) return known->second;
  if (group.identity.system == GroupSystem::kWorkload && !group.identity.replica.empty()) {  // each key is a gang
    KubernetesGroup whole = group;
    whole.identity.replica = {};
    if (const auto base = positions_.find(key_of(whole)); base != positions_.end()) {
      Gang& source = gangs_[base->second];
      if (source.group.is_basic) return base->second;
      source.is_written = source.pods.count > 0;
      whole = source.group;
      whole.identity.replica = group.identity.replica;
      const std::size_t position = append(whole);
      positions_.emplace(key_of(whole), position);
      return position;
    }
  }
  const bool is_awaited = awaits_groups_ && will_have_object(pod);
  if (group.identity.system == GroupSystem::kCoscheduling && !is_awaited) return kNoGang;
  if (group.identity.system == GroupSystem::kVolcano) group.queue = "default";
  const bool is_told_by_pods =
      group.identity.system == GroupSystem::kCoschedulingSigs || group.identity.system == GroupSystem::kKueue ||
      group.identity.system == GroupSystem::kKoordinator || group.identity.system == GroupSystem::kYunikorn ||
      is_expected_of_kai(group.identity.system) || group.identity.system == GroupSystem::kVolcanoOwner;
  if (is_awaited)
    group.held = kAwaited;
  else if (!is_told_by_pods)
    group.held = missing_group(group.identity.system);
  const std::size_t position = append(group);
  positions_.emplace(key_of(group), position);
  return position;
}

void KubernetesGangs::join(KubernetesPod& pod) {
  has_joined_ = true;
  protect(priorities_, pod);
  if (pod.membership.reference.system == GroupSystem::kNone || pod.state.is_left_out) return;
  if (!(pod.membership.reference == last_reference_) || pod.namespace_name != last_namespace_) {
    last_ = find_or_add(pod);
    last_reference_ = pod.membership.reference;
    last_namespace_ = pod.namespace_name;
  }
  if (last_ == kNoGang) return;
  Gang& gang = gangs_[last_];
  if (gang.group.is_basic) {
    if (pod.held.empty()) pod.held = gang.group.held;
    return;
  }
  pod.membership.gang = static_cast<std::int32_t>(last_);
  gang.is_written = true;
  count(pod, gang);
  set_subgroup(pod, gang);
}

void KubernetesGangs::count(const KubernetesPod& pod, Gang& gang) {
  gang.pods.add(pod, priority_of(pod));
  has_dialects_ = has_dialects_ || pod.membership.dialect.is_koordinator;
  if (gang.group.held.empty()) gang.group.held = pod.held;
}

void KubernetesGangs::set_subgroup(KubernetesPod& pod, Gang& gang) {
  KubernetesGroup& group = gang.group;
  if (gang.pods.count == 1) gang.subgroups = SubgroupNames(group.subgroups);
  if (group.identity.system == GroupSystem::kYunikorn) {
    const std::string_view task_group = pod.membership.dialect.task_group;
    pod.membership.subgroup = add_empty_subgroup(group, gang.subgroups, task_group.empty() ? kNoSubgroup : task_group);
    return;
  }
  if (group.identity.system == GroupSystem::kKueue) pod.membership.subgroup = gang.sets.add(pod);
  if (group.subgroups.empty()) return;
  if (group.identity.system == GroupSystem::kVolcano) {
    pod.membership.subgroup =
        add_empty_subgroup(group, gang.subgroups,
                           pod.membership.labels.volcano.task.empty() ? kNoTask : pod.membership.labels.volcano.task);
  } else if (const std::string_view leaf = pod.membership.labels.kai_subgroup; gang.subgroups.has_leaf(leaf)) {
    pod.membership.subgroup = leaf;
  } else {
    pod.membership.subgroup = add_empty_subgroup(group, gang.subgroups, kNoSubgroup);
    if (group.held.empty()) group.held = "a pod of the gang names no subgroup of its PodGroup";
  }
}

std::int32_t KubernetesGangs::priority_of(const KubernetesPod& pod) const {
  if (is_expected_of_kai(pod.membership.reference.system)) {
    const std::string_view of_kai = pod.membership.labels.kai_class;
    const bool is_own = of_kai == pod.priority.class_name && pod.priority.value;
    return is_own ? *pod.priority.value : priorities_.value_of(of_kai, kKaiPriority);
  }
  return pod.priority.value ? *pod.priority.value : priorities_.value_of(pod.priority.class_name, 0);
}

void KubernetesGangs::hold(const KubernetesPod& pod) {
  if (pod.membership.gang < 0 || pod.held.empty()) return;
  std::string_view& held = gangs_[static_cast<std::size_t>(pod.membership.gang)].group.held;
  if (held.empty()) held = pod.held;
}

void KubernetesGangs::forbid_evictions(KubernetesPod& pod) {
  if (pod.membership.gang < 0) {
    pod.priority.never_preempts = true;
  } else {
    gangs_[static_cast<std::size_t>(pod.membership.gang)].pods.evicts_nothing = true;
  }
}

std::string_view KubernetesGangs::held(const KubernetesPod& pod) const {
  return pod.membership.gang < 0 ? pod.held : gangs_[static_cast<std::size_t>(pod.membership.gang)].group.held;
}

// Of groups of several systems with one name, the first system's keeps it.
void KubernetesGangs::settle_names() {
  std::map<std::string, GroupSystem> first;
  for (Gang& gang : gangs_) {
    if (!gang.is_written) continue;
    gang.name = gang.group.identity.full_name();
    const auto [known, is_new] = first.emplace(gang.name, gang.group.identity.system);
    if (!is_new) known->second = std::min(known->second, gang.group.identity.system);
  }
  std::unordered_set<std::string_view> owners;  // names of gangs of owners, of which several kinds may have one name
  for (Gang& gang : gangs_) {
    if (!gang.is_written) continue;
    const GroupIdentity& identity = gang.group.identity;
    const bool has_name =
        first.at(gang.name) == identity.system && (!is_of_owner(identity.system) || owners.insert(gang.name).second);
    if (!has_name) gang.name.append("@").append(distinction(identity));
  }
}

std::int32_t KubernetesGangs::settled_priority(const Gang& gang) const {
  const KubernetesGroup& group = gang.group;
  if (group.priority.value) return *group.priority.value;
  const bool is_kai = group.identity.system == GroupSystem::kKai;
  if ((is_kai && group.object) || !group.priority.class_name.empty() || gang.pods.count == 0) {
    return priorities_.value_of(group.priority.class_name, is_kai ? kKaiPriority : 0);
  }
  return gang.pods.highest_priority;
}

void KubernetesGangs::settle(Gang& gang) {
  KubernetesGroup& group = gang.group;
  gang.settled.priority = settled_priority(gang);
  if (!group.minimum.members && group.subgroups.empty()) group.minimum.members = gang.pods.min_available;
  if (group.identity.system == GroupSystem::kKueue) gang.sets.settle(group);
  if (group.times.created.empty()) group.times.created = gang.pods.created;
  const std::string objection = settle_terms(group, gang.pods, {queues_, pools_, now_}, gang.settled);
  if (!objection.empty() && group.held.empty()) group.held = keep(objection);
}

// A pod without a gang is one by itself, named after the pod; if a gang has that name, the pod's gang gets another.
void KubernetesGangs::give_own_gangs(std::vector<KubernetesPod>& pods) {
  std::unordered_set<std::string> names;
  for (const Gang& gang : gangs_) names.insert(gang.name);
  if (names.empty()) return;
  for (KubernetesPod& pod : pods) {
    if (pod.membership.gang >= 0 || pod.state.is_left_out || !names.contains(pod.full_name())) continue;
    Gang& gang = gangs_.emplace_back();
    gang.group.identity.namespace_name = pod.namespace_name;
    gang.group.identity.name = pod.name;
    gang.name = pod.full_name().append("@").append(distinction({}));
    count(pod, gang);
    settle(gang);
    pod.membership.gang = static_cast<std::int32_t>(gangs_.size() - 1);
  }
}

void KubernetesGangs::finish(std::vector<KubernetesPod>& pods, const KubernetesTopologies& topologies,
                             KubernetesRemarks& remarks) {
  if (has_dialects_) settle_dialects(pods);
  settle_names();
  for (Gang& gang : gangs_) {
    if (gang.is_written) settle(gang);
    settle_topology(topologies, gang.group);
  }
  give_own_gangs(pods);
  for (KubernetesPod& pod : pods) {  // sets that need no subgroups
    if (pod.membership.gang >= 0 && gangs_[static_cast<std::size_t>(pod.membership.gang)].group.subgroups.empty())
      pod.membership.subgroup = {};
  }
  for (const Gang& gang : gangs_) {
    if (gang.is_written) remark_on_preemption(gang.group, gang.pods, now_, gang.name, remarks);
    if (!gang.is_written || gang.group.held.empty()) continue;
    remarks.add("a gang is held and its pods are not planned: " + std::string(gang.group.held), gang.name);
  }
  for (const KubernetesPod& pod : pods) {
    if (pod.membership.gang < 0 && !pod.state.is_left_out &&
        pod.membership.reference.system == GroupSystem::kCoscheduling)
      remarks.add("a pod is planned without its gang: " + std::string(missing_group(pod.membership.reference.system)),
                  pod.full_name());
    if (pod.membership.gang >= 0 || pod.held.empty() || pod.state.is_left_out) continue;
    remarks.add("a pod is held and not planned: " + std::string(pod.held), pod.full_name());
  }
}

bool KubernetesGangs::read_gang(SnapshotInput& out, const Gang& gang, SnapshotGang& entry) const {
  const KubernetesGroup& group = gang.group;
  entry.name = out.keep(gang.name);
  entry.terms.queue = out.keep(gang.settled.queue, out.last.queue);
  entry.terms.priority = gang.settled.priority;
  entry.terms.preemptible = gang.settled.preemptible;
  if (group.priority.never_preempts) entry.terms.preemption_policy = PreemptionPolicy::kNever;
  entry.min_member = group.minimum.members;
  entry.min_subgroups = group.minimum.subgroups;
  entry.topology = kept(out, group.topology);
  entry.disruption = group.disruption;
  entry.terms.created = instant_of(group.times.created);
  entry.terms.expected_duration = gang.pods.expected_duration;
  entry.stale_since = instant_of(group.times.stale_since);
  set_subgroups(out, group, entry);
  return read_min_resources(out, group.minimum.resources, entry) && set_min_resources(out, group, entry) &&
         (!group.times.timeout || out.read_duration(group.times.timeout, entry.terms.timeout.emplace())) &&
         set_grace_period(out, group, default_grace_period_, entry) && muster_v1::check_gang(out, group.object, entry);
}

bool KubernetesGangs::add_to(SnapshotInput& out) const {
  Anomalies& anomalies = out.snapshot.anomalies;
  for (const Gang& gang : gangs_) {
    if (!gang.is_written) continue;
    SnapshotGang& entry = out.snapshot.gangs.emplace_back();
    if (read_gang(out, gang, entry)) continue;
    if (anomalies.strict) {
      out.error.message = "PodGroup " + gang.name + ": " + out.error.message;
      return false;
    }
    const InputError error = std::exchange(out.error, {});
    entry = {};
    entry.name = out.keep(gang.name);
    entry.terms.queue = out.keep(gang.settled.queue, out.last.queue);
    anomalies.tell({ErrorCode::kUnclear, "gang", gang.name, reason_in(gang.group.object, error) + "; it is held"});
    anomalies.held_gangs.push_back(entry.name);
  }
  return true;
}

}  // namespace muster::kubernetes
