#include "model/explain/reasons_plain.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "model/base/saturating.h"
#include "model/base/words.h"
#include "model/explain/alike_victims.h"
#include "model/problem/gates.h"

namespace muster::explain {
namespace {

constexpr std::string_view kQueueResourceNames[] = {"gpu", "cpu", "memory"};

// Of the first group, from the gang down, of which fewer pods exist than it needs: "subgroup a has 1 of 2".
std::string lack_of_pods(const Problem& problem, const Gang& gang) {
  const auto exists = [&](PodIndex pod) {
    const PodStatus status = problem.pods[pod].status;
    return status != PodStatus::kFailed && status != PodStatus::kReleasing;
  };
  std::vector<std::int64_t> there(gang.groups.size(), 0);  // pods of a leaf, children with enough of an inner group
  const std::uint32_t first = gang.root.value();
  const auto has_enough = [&](std::size_t i) { return there[i] >= problem.groups[gang.groups[i]].minimum; };
  for (std::size_t i = gang.groups.size(); i-- > 0;) {
    const Group& group = problem.groups[gang.groups[i]];
    if (group.is_leaf()) there[i] = std::ranges::count_if(group.pods, exists);
    if (!group.parent.is_none() && has_enough(i)) ++there[group.parent.value() - first];
  }
  std::size_t at = 0;
  while (!problem.groups[gang.groups[at]].is_leaf()) {
    const std::vector<GroupIndex>& children = problem.groups[gang.groups[at]].children;
    const auto lacking =
        std::ranges::find_if(children, [&](GroupIndex child) { return !has_enough(child.value() - first); });
    if (lacking == children.end()) break;  // it needs more subgroups than there are
    at = lacking->value() - first;
  }
  const Group& group = problem.groups[gang.groups[at]];
  const std::string numbers = std::to_string(there[at]) + " of " + std::to_string(group.minimum);
  const std::string what = group.is_leaf() ? "" : " subgroups";
  const std::string_view name = subgroup_name(problem, gang.groups[at]);
  if (name.empty()) return numbers + what;
  return "subgroup " + std::string(name) + " has " + numbers + what;
}

std::string_view name_of(const Problem& problem, PodIndex pod) { return problem.snapshot->pods[pod.value()].name; }
std::string_view name_of(const Problem& problem, NodeIndex node) { return problem.snapshot->nodes[node.value()].name; }

PlainReason reason_of_gates(const Problem& problem, const Gang& gang, GateKind gate) {
  if (gate == GateKind::kHeld) return {ReasonCode::kHeld, "not planned: " + std::string(held_message(problem, gang))};
  const auto gated =
      std::ranges::count_if(gang.pods, [&](PodIndex pod) { return problem.pods[pod].status == PodStatus::kGated; });
  return {ReasonCode::kGated, counted(gated, "pod") + " of the gang " + (gated == 1 ? "is" : "are") + " gated"};
}

// `what` is kept for the gang `head`.
PlainReason reason_of_reservation(const Problem& problem, const Gang& gang, const std::string& what, GangIndex head) {
  const auto in_seconds = [](Nanoseconds span) { return std::to_string(span / kNanosecondsPerSecond) + " s"; };
  const Gang& holder = problem.gangs[head];
  const Nanoseconds wait = saturating_subtract(holder.times.expected_start, problem.snapshot->time);
  if (wait <= 0) return {ReasonCode::kReserved, what + " kept for " + std::string(holder.name) + ", whose turn it is"};
  return {ReasonCode::kReserved, what + " kept for " + std::string(holder.name) + ", which is expected to start in " +
                                     in_seconds(wait) + "; this gang is expected to run for longer, " +
                                     in_seconds(gang.times.expected_duration)};
}

// The groups that contain some pod of the need, up to the root.
std::set<GroupIndex> groups_of(const Problem& problem, const GangNeed& need) {
  std::set<GroupIndex> groups;
  for (const NeedItem& item : need.items) {
    for (const PodIndex pod : item.pods) {
      for (GroupIndex at = problem.pods[pod].group; !at.is_none() && groups.insert(at).second;)
        at = problem.groups[at].parent;
    }
  }
  return groups;
}

// The effect of a present pod on a group with a required level.
struct Anchor {
  PodIndex pod;
  DomainIndex domain;
};

std::string conflict_in(const Problem& problem, const AfterPlan& end, const Gang& gang, GroupIndex group) {
  const TopologyLevelIndex level = problem.groups[group].required_level;
  const std::string level_text = "the required level " + std::string(problem.topology.levels[level].label);
  Anchor first{PodIndex::none(), DomainIndex::none()};
  for (const PodIndex pod : gang.pods) {
    if (!end.is_present(pod)) continue;
    GroupIndex at = problem.pods[pod].group;
    while (!at.is_none() && at != group) at = problem.groups[at].parent;
    if (at.is_none()) continue;
    const NodeIndex node = end.node[pod];
    const std::string place =
        std::string(name_of(problem, pod)) + " runs on node " + std::string(name_of(problem, node));
    const DomainIndex domain = problem.nodes[node].domains[level.value()];
    if (domain.is_none()) return place + ", which is in no domain of " + level_text + ".";
    if (first.pod.is_none()) first = {pod, domain};
    if (domain != first.domain) {
      return place + " and " + std::string(name_of(problem, first.pod)) + " on node " +
             std::string(name_of(problem, end.node[first.pod])) + ", in different domains of " + level_text + ".";
    }
  }
  return "";
}

PlainReason reason_of_other_limits(const Problem& problem, const AfterPlan& end, const Gang& gang,
                                   const GangNeed& need) {
  for (const OtherLimitIndex index : problem.queues[gang.queue].other_limits) {
    const OtherLimit& limit = problem.lists.other_limits[index];
    const Amount asked = asked_of(problem, need, limit.resource);
    if (asked == 0 || saturating_add(end.limited[index], asked) <= limit.limit) continue;
    return {ReasonCode::kLimitExceeded,
            "Queue " + std::string(problem.queues[limit.queue].name) + " would exceed its limit of " +
                std::string(problem.resource_name(limit.resource)) + " (" + std::to_string(limit.limit) + ")."};
  }
  return {};
}

}  // namespace

// The groups of a gang lie breadth first, the children of each in the order of the snapshot.
std::string_view subgroup_name(const Problem& problem, GroupIndex index) {
  const Gang& gang = problem.gangs[problem.groups[index].gang];
  const std::size_t wanted = index.value() - gang.root.value();
  if (wanted == 0) return {};
  std::map<std::string_view, std::vector<std::string_view>> children;
  for (const SnapshotSubgroup& subgroup : problem.snapshot->gangs[problem.groups[index].gang.value()].subgroups) {
    children[subgroup.parent].push_back(subgroup.name);
  }
  std::vector<std::string_view> names{{}};
  for (std::size_t at = 0; at < names.size() && names.size() <= wanted; ++at) {
    const std::vector<std::string_view>& below = children[names[at]];
    names.insert(names.end(), below.begin(), below.end());
  }
  return names.size() > wanted ? names[wanted] : std::string_view();
}

std::string amount_words(ResourceIndex resource, Amount amount) {
  if (resource == kMemory) return memory_words(amount);
  if (resource != kCpu) return std::to_string(amount);
  std::string text = std::to_string(amount / 1000);
  std::string rest = std::to_string(1000 + amount % 1000).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  return rest.empty() ? text : text + "." + rest;
}

PlainReason reason_of_gang(const Problem& problem, const AfterPlan& end, GangIndex index) {
  const Gang& gang = problem.gangs[index];
  if (gang.times.timed_out) {
    return {ReasonCode::kSchedulingTimeout, "the gang has waited " + std::to_string(gang.times.waited_seconds) +
                                                " s and reached its timeout: it is no longer planned"};
  }
  const GateKind gate = gate_of(problem, gang, [&](PodIndex pod) { return end.is_present(pod); });
  if (gate != GateKind::kNone) return reason_of_gates(problem, gang, gate);
  if (!has_enough_pods(problem, gang)) {
    return {ReasonCode::kNotEnoughPods, "the gang has fewer pods than its minimum: " + lack_of_pods(problem, gang)};
  }
  if (gang.queue.is_none()) return {ReasonCode::kUnknownQueue, "its queue does not exist"};
  if (!gang.queue_is_leaf) return {ReasonCode::kUnknownQueue, "its queue is not a leaf"};
  const GangIndex head = gang.times.kept_back_for;
  return head.is_none() ? PlainReason{} : reason_of_reservation(problem, gang, "the quota is", head);
}

PlainReason reason_of_hold(const Problem& problem, GangIndex gang, GangIndex holder) {
  return reason_of_reservation(problem, problem.gangs[gang], "nodes that it needs are", holder);
}

PlainReason reason_of_queue(const Problem& problem, const AfterPlan& end, GangIndex index, const GangNeed& need) {
  const Gang& gang = problem.gangs[index];
  const QueueAmounts demand = least_usage(problem, need);
  const bool within_quota = !gang.preemptible && problem.snapshot->policy.non_preemptible_within_quota;
  for (const bool is_limit : {true, false}) {
    if (!is_limit) {
      if (PlainReason found = reason_of_other_limits(problem, end, gang, need); found.code != ReasonCode::kNone)
        return found;
      if (!within_quota) break;
    }
    const Indexed<QueueIndex, QueueAmounts>& usage = is_limit ? end.usage : end.non_preemptible_usage;
    for (const QueueIndex at : problem.queues[gang.queue].ancestors) {
      const Queue& queue = problem.queues[at];
      for (std::size_t i = 0; i < kQueueResources; ++i) {
        const Amount bound = is_limit ? queue.limit[i] : queue.quota[i];
        if (demand[i] == 0 || bound == kUnlimited || saturating_add(usage[at][i], demand[i]) <= bound) continue;
        const std::string sentence = "Queue " + std::string(queue.name) + " would exceed its " +
                                     (is_limit ? "limit" : "quota") + " of " + std::string(kQueueResourceNames[i]);
        if (is_limit) return {ReasonCode::kLimitExceeded, sentence + "."};
        return {ReasonCode::kNonPreemptibleOverQuota, sentence + " with non-preemptible pods."};
      }
    }
  }
  return {};
}

std::string topology_conflict(const Problem& problem, const AfterPlan& end, GangIndex index, const GangNeed& need) {
  const Gang& gang = problem.gangs[index];
  for (const GroupIndex group : groups_of(problem, need)) {
    if (problem.groups[group].required_level.is_none()) continue;
    if (std::string conflict = conflict_in(problem, end, gang, group); !conflict.empty()) return conflict;
  }
  return "";
}

}  // namespace muster::explain
