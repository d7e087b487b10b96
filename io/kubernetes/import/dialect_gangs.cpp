#include <algorithm>
#include <map>

#include "io/kubernetes/import/gangs.h"

namespace muster::kubernetes {

// Gangs of Koordinator and YuniKorn: the part of KubernetesGangs that needs all of their pods.

namespace {

constexpr std::string_view kOnlyWaiting = "only-waiting", kWaitingAndRunning = "waiting-and-running";

constexpr std::int32_t kAll = std::numeric_limits<std::int32_t>::max();

std::int32_t at_most(std::int32_t minimum, std::int64_t pods) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(minimum, pods));
}

void hold_group(KubernetesGroup& group, std::string_view why) {
  if (group.held.empty()) group.held = why;
}

std::string_view gang_list_of(const KubernetesGroup& group, const GangPods& pods) {
  return group.dialect.gang_groups.empty() ? pods.dialect.gang_groups : group.dialect.gang_groups;
}

// While a placeholder of YuniKorn is there, a pod of its task group takes its place instead of room of its own.
void await_placeholders(std::vector<KubernetesPod*>& pods) {
  std::map<std::string_view, std::int64_t> placeholders;
  for (const KubernetesPod* pod : pods) {
    if (pod->membership.dialect.is_placeholder && (pod->state.is_on_node() || pod->state.waits()))
      ++placeholders[pod->membership.subgroup];
  }
  std::ranges::sort(pods, {}, [](const KubernetesPod* pod) { return pod->name; });
  for (KubernetesPod* pod : pods) {
    const auto group = placeholders.find(pod->membership.subgroup);
    if (pod->membership.dialect.is_placeholder || pod->state.status != PodStatus::kPending ||
        group == placeholders.end() || group->second == 0) {
      continue;
    }
    pod->state.status = PodStatus::kGated;
    --group->second;
  }
}

// A gang with one subgroup needs none.
void drop_only_subgroup(KubernetesGroup& group, const std::vector<KubernetesPod*>& pods) {
  if (group.subgroups.size() != 1) return;
  group.minimum.members = group.subgroups.front().min_member;
  group.subgroups.clear();
  for (KubernetesPod* pod : pods) pod->membership.subgroup = {};
}

void join_pods(const GangPods& more, GangPods& sum) {
  sum.count += more.count;
  sum.succeeded += more.succeeded;
  sum.running += more.running;
  sum.highest_priority = std::max(sum.highest_priority, more.highest_priority);
  sum.never_preempts = sum.never_preempts && more.never_preempts;
  sum.has_fixed = sum.has_fixed || more.has_fixed;
  sum.forbids_preemption = sum.forbids_preemption || more.forbids_preemption;
  sum.expected_duration = std::max(sum.expected_duration, more.expected_duration);
  if (!more.created.empty() && (sum.created.empty() || is_earlier(more.created, sum.created)))
    sum.created = more.created;
  if (sum.queues.kueue.empty()) sum.queues.kueue = more.queues.kueue;
}

}  // namespace

void KubernetesGangs::settle_dialects(std::vector<KubernetesPod>& pods) {
  std::map<std::int32_t, std::vector<KubernetesPod*>> applications;
  for (KubernetesPod& pod : pods) {
    if (pod.membership.gang >= 0 && pod.membership.reference.system == GroupSystem::kYunikorn)
      applications[pod.membership.gang].push_back(&pod);
  }
  for (auto& [gang, members] : applications) settle_application(gangs_[static_cast<std::size_t>(gang)], members);
  bundle(pods);
  for (Gang& gang : gangs_) {
    if (gang.is_written && gang.group.subgroups.empty()) settle_koordinator(gang, gang.pods.running);
  }
}

// An application without task groups is no gang. One of which a pod has started has had its room: YuniKorn starts its
// other pods one by one. So it does with a soft one after the timeout.
void KubernetesGangs::settle_application(Gang& gang, std::vector<KubernetesPod*>& pods) {
  const PolicyParameters parameters = read_policy_parameters(gang.pods.dialect.policy_parameters);
  const bool is_late = !parameters.is_hard && !gang.pods.created.empty() &&
                       now_ - *parse_instant(gang.pods.created) >= parameters.timeout;
  const bool has_placeholders = std::ranges::any_of(
      pods, [](const KubernetesPod* pod) { return pod->membership.dialect.is_placeholder && pod->state.waits(); });
  if (gang.pods.dialect.task_groups.empty() || (is_late && gang.pods.running == 0 && !has_placeholders)) {
    gang.is_written = false;
    for (KubernetesPod* pod : pods) {
      pod->membership.gang = -1;
      pod->membership.subgroup = {};
    }
    return;
  }
  await_placeholders(pods);
  const auto groups = read_task_groups(gang.pods.dialect.task_groups);
  if (!groups) hold_group(gang.group, "its annotation yunikorn.apache.org/task-groups is no list of task groups");
  std::map<std::string_view, std::int64_t> running;
  for (const KubernetesPod* pod : pods) running[pod->membership.subgroup] += pod->state.is_on_node() ? 1 : 0;
  for (const TaskGroup& task : groups.value_or(std::vector<TaskGroup>())) {
    auto subgroup = std::ranges::find(gang.group.subgroups, task.name, &SnapshotSubgroup::name);
    if (subgroup == gang.group.subgroups.end()) {
      gang.group.subgroups.emplace_back().name = keep(task.name);
      subgroup = std::prev(gang.group.subgroups.end());
    }
    subgroup->min_member = gang.pods.running > 0 ? at_most(task.min_member, running[subgroup->name]) : task.min_member;
  }
  drop_only_subgroup(gang.group, pods);
}

// By default, a gang is satisfied once a pod of it has started: its other pods start one by one.
void KubernetesGangs::settle_koordinator(Gang& gang, std::int64_t running) const {
  KubernetesGroup& group = gang.group;
  const bool is_koordinator = group.identity.system == GroupSystem::kKoordinator || group.dialect.is_koordinator ||
                              gang.pods.dialect.is_koordinator;
  if (!is_koordinator) return;
  const std::string_view policy =
      group.dialect.match_policy.empty() ? gang.pods.dialect.match_policy : group.dialect.match_policy;
  if (!group.minimum.members) group.minimum.members = gang.pods.min_available;
  if (policy == kWaitingAndRunning || running == 0 || !group.minimum.members) return;
  if (policy == kOnlyWaiting && gang.pods.count > gang.pods.running + gang.pods.succeeded) {
    hold_group(group,
               "its annotation gang.scheduling.koordinator.sh/match-policy is only-waiting and some of its pods run, "
               "which Muster does not plan");
  }
  group.minimum.members = at_most(*group.minimum.members, gang.pods.running);
}

// Gangs that start together are subgroups of one gang.
void KubernetesGangs::bundle(std::vector<KubernetesPod>& pods) {
  std::map<std::string, std::size_t> known;
  std::map<std::vector<std::string>, std::vector<std::size_t>> bundles;
  for (std::size_t i = 0; i < gangs_.size(); ++i) {
    const GroupIdentity& identity = gangs_[i].group.identity;
    if (identity.system == GroupSystem::kKoordinator || identity.system == GroupSystem::kCoschedulingSigs)
      known.emplace(identity.full_name(), i);
  }
  for (const auto& [name, position] : known) {
    Gang& gang = gangs_[position];
    const std::string_view text = gang_list_of(gang.group, gang.pods);
    if (text.empty()) continue;
    const auto names = read_gang_list(text, gang.group.identity.namespace_name);
    if (!names) {
      hold_group(gang.group, "its annotation gang.scheduling.koordinator.sh/groups is no list of gangs");
      continue;
    }
    if (names->empty() || (names->size() == 1 && names->front() == name)) continue;
    for (const std::string& other : *names) {
      if (known.contains(other)) continue;
      hold_group(gang.group, keep("its annotation gang.scheduling.koordinator.sh/groups names the gang " + other +
                                  ", which is not in the input"));
    }
    bundles[*names].push_back(position);
  }
  for (const auto& [names, members] : bundles) {
    for (const std::size_t member : members) {
      if (members.size() < names.size())
        hold_group(
            gangs_[member].group,
            "its annotation gang.scheduling.koordinator.sh/groups names gangs whose own annotation is another one");
    }
    if (members.size() > 1) merge(members, pods);
  }
}

void KubernetesGangs::merge(const std::vector<std::size_t>& members, std::vector<KubernetesPod>& pods) {
  const std::size_t first = members.front();
  std::int64_t running = 0;
  std::string name;
  for (const std::size_t member : members) running += gangs_[member].pods.running;
  std::map<std::size_t, std::string_view> names;
  std::vector<SnapshotSubgroup> subgroups;
  GangPods sum;
  for (const std::size_t member : members) {
    Gang& gang = gangs_[member];
    settle_koordinator(gang, running);
    if (!gang.group.minimum.members) gang.group.minimum.members = gang.pods.min_available;
    if (!gang.group.minimum.members) gang.group.minimum.members = at_most(kAll, gang.pods.count);
    const bool is_beside = gang.group.identity.namespace_name == gangs_[first].group.identity.namespace_name;
    const std::string_view part = is_beside ? gang.group.identity.name : keep(gang.group.identity.full_name());
    name.append(name.empty() ? "" : "+").append(part);
    names.emplace(member, part);
    subgroups.emplace_back().name = part;
    subgroups.back().min_member = gang.group.minimum.members;
    join_pods(gang.pods, sum);
    hold_group(gangs_[first].group, gang.group.held);
    gang.is_written = member == first;
  }
  KubernetesGroup& group = gangs_[first].group;
  group.identity.name = keep(std::move(name));
  group.minimum = {};
  group.subgroups = std::move(subgroups);
  gangs_[first].pods = sum;
  for (KubernetesPod& pod : pods) {
    const auto found = names.find(static_cast<std::size_t>(std::max(0, pod.membership.gang)));
    if (pod.membership.gang < 0 || found == names.end()) continue;
    pod.membership.gang = static_cast<std::int32_t>(first);
    pod.membership.subgroup = found->second;
  }
}

}  // namespace muster::kubernetes
