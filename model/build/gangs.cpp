// Gangs: their terms, their trees of subgroups, and what follows from their pods.
#include <algorithm>
#include <functional>
#include <limits>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/build/stages.h"
#include "model/problem/gang_tree.h"

namespace muster {
namespace {

Failure build_priority_classes(ProblemDraft& draft) {
  const std::vector<SnapshotPriorityClass>& classes = draft.snapshot.definitions.priority_classes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!draft.priority_classes.insert(classes[i].name, static_cast<std::uint32_t>(i)).second) {
      return name_error(ErrorCode::kDuplicateName, path_to("priorityClasses", i, "name"), "duplicate priority class",
                        classes[i].name);
    }
  }
  return {};
}

std::int32_t aged(std::int32_t priority, Nanoseconds waited, Nanoseconds interval) {
  if (interval <= 0) return priority;
  const std::int64_t sum = saturating_add(priority, waited / interval);
  return static_cast<std::int32_t>(std::min<std::int64_t>(sum, std::numeric_limits<std::int32_t>::max()));
}

struct GangSource {
  const GangTerms& terms;
  std::string_view name;
  std::optional<Nanoseconds> created;
  std::string_view list;  // "gangs" or "pods": the first part of its path
  std::size_t position = 0;
};

Failure set_terms(const ProblemDraft& draft, const GangSource& source, Gang& gang) {
  const GangTerms& terms = source.terms;
  const SnapshotPriorityClass* priority_class = nullptr;
  if (terms.priority_class) {
    const std::uint32_t found = draft.priority_classes.find(*terms.priority_class);
    if (found == NameTable::kAbsent) {
      return name_error(ErrorCode::kUnknownPriorityClass, path_to(source.list, source.position, "priorityClass"),
                        "unknown priority class", *terms.priority_class);
    }
    priority_class = &draft.snapshot.definitions.priority_classes[found];
  }
  gang.name = source.name;
  gang.weight = terms.weight;
  const std::uint32_t queue = draft.queues.find(terms.queue);
  if (queue != NameTable::kAbsent) {
    gang.queue = QueueIndex(queue);
    gang.queue_is_leaf = draft.problem.queues[gang.queue].is_leaf();
  }
  const std::int32_t priority = terms.priority.value_or(priority_class ? priority_class->value : 0);
  gang.preemptible = terms.preemptible.value_or(priority_class && priority_class->preemptible
                                                    ? *priority_class->preemptible
                                                    : priority < kFirstNonPreemptiblePriority);
  gang.preemption_policy = terms.preemption_policy.value_or(priority_class && priority_class->preemption_policy
                                                                ? *priority_class->preemption_policy
                                                                : PreemptionPolicy::kPreemptLowerPriority);
  const Nanoseconds now = draft.snapshot.time;
  const Nanoseconds waited = std::max<Nanoseconds>(0, saturating_subtract(now, source.created.value_or(now)));
  gang.priority = aged(priority, waited, draft.snapshot.policy.aging_interval);
  gang.times.waited_seconds = waited / kNanosecondsPerSecond;
  gang.times.seniority = gang.times.waited_seconds;  // unless durations are known
  if (terms.checkpointed)
    gang.times.unsaved_seconds = saturating_subtract(now, *terms.checkpointed) / kNanosecondsPerSecond;
  gang.times.timed_out = terms.timeout && waited >= *terms.timeout;
  return {};
}

// The level of that name of the topology; of all that have it, if none is named. False: there is none.
bool find_level(const ProblemDraft& draft, std::string_view label, std::string_view topology, TopologyLevelIndex& out) {
  if (label.empty()) return true;
  const auto& topologies = draft.snapshot.definitions.topologies;
  for (const TopologyLevelIndex index : draft.problem.topology.levels.indices()) {
    const TopologyLevel& level = draft.problem.topology.levels[index];
    const bool is_asked_for =
        topology.empty() || (!level.is_joint() && topologies[level.places.front().topology].name == topology);
    if (level.label == label && is_asked_for) out = index;  // the last one: a joint level comes after those it joins
  }
  return !out.is_none();
}

Failure set_topology(const ProblemDraft& draft, const TopologyRequest& request, const std::string& path, Group& group) {
  const auto unknown = [&](std::string_view key, std::string_view level) {
    const std::string of = request.topology.empty() ? "" : " of topology \"" + std::string(request.topology) + "\"";
    return name_error(ErrorCode::kUnknownTopologyLevel, path + ".topology." + std::string(key),
                      "unknown topology level" + of, level);
  };
  if (!find_level(draft, request.required, request.topology, group.required_level))
    return unknown("required", request.required);
  if (!find_level(draft, request.preferred, request.topology, group.preferred_level))
    return unknown("preferred", request.preferred);
  return {};
}

// Requires that no other gang's group has been added since the gang's first.
Group& add_group(ProblemDraft& draft, GangIndex gang, GroupIndex parent) {
  const GroupIndex index = draft.problem.groups.push_back({});
  if (parent.is_none()) draft.problem.gangs[gang].root = index;
  draft.problem.gangs[gang].groups = {draft.problem.gangs[gang].root.value(), draft.problem.groups.size()};
  Group& group = draft.problem.groups[index];
  group.gang = gang;
  group.parent = parent;
  if (!parent.is_none()) draft.problem.groups[parent].children.push_back(index);
  return group;
}

std::string subgroup_path(GangIndex gang, std::size_t subgroup) {
  return path_to("gangs", gang.value(), "subgroups[" + std::to_string(subgroup) + "]");
}

// Children of each subgroup, and at the last place those of the gang itself; in the snapshot's order.
struct SubgroupForest {
  std::vector<std::vector<std::size_t>> children;
  Failure failure;
};

SubgroupForest forest_of(const SnapshotGang& gang, GangIndex index) {
  SubgroupForest forest{std::vector<std::vector<std::size_t>>(gang.subgroups.size() + 1), {}};
  NameTable positions;
  for (std::size_t i = 0; i < gang.subgroups.size(); ++i) {
    if (positions.insert(gang.subgroups[i].name, static_cast<std::uint32_t>(i)).second) continue;
    forest.failure = name_error(ErrorCode::kDuplicateName, subgroup_path(index, i) + ".name", "duplicate subgroup",
                                gang.subgroups[i].name);
    return forest;
  }
  for (std::size_t i = 0; i < gang.subgroups.size(); ++i) {
    const std::string_view parent = gang.subgroups[i].parent;
    const std::uint32_t found =
        parent.empty() ? static_cast<std::uint32_t>(gang.subgroups.size()) : positions.find(parent);
    if (found == NameTable::kAbsent) {
      forest.failure =
          name_error(ErrorCode::kUnknownSubgroup, subgroup_path(index, i) + ".parent", "unknown subgroup", parent);
      return forest;
    }
    forest.children[found].push_back(i);
  }
  return forest;
}

Failure set_subgroup(ProblemDraft& draft, GangIndex gang, std::size_t position, bool is_leaf, Group& group) {
  const SnapshotSubgroup& source = draft.snapshot.gangs[gang.value()].subgroups[position];
  if (is_leaf ? source.min_subgroups.has_value() : source.min_member.has_value()) {
    return name_error(ErrorCode::kInvalidValue, subgroup_path(gang, position),
                      is_leaf ? "minSubgroups is set, but the subgroup has no subgroups; set minMember:"
                              : "minMember is set, but the subgroup has subgroups; set minSubgroups:",
                      source.name);
  }
  group.minimum = (is_leaf ? source.min_member : source.min_subgroups).value_or(kUnresolvedMinimum);
  return set_topology(draft, source.topology, subgroup_path(gang, position), group);
}

// Breadth first from the gang, so that parents come before children; groups that are not reached are part of a cycle.
Failure add_subgroups(ProblemDraft& draft, GangIndex gang) {
  const SnapshotGang& source = draft.snapshot.gangs[gang.value()];
  const SubgroupForest forest = forest_of(source, gang);
  if (forest.failure) return forest.failure;
  struct Reached {
    std::size_t position;
    GroupIndex group;
    std::size_t depth;
  };
  std::vector<Reached> reached{{source.subgroups.size(), draft.problem.gangs[gang].root, 0}};
  for (std::size_t at = 0; at < reached.size(); ++at) {
    if (reached[at].depth > kMostSubgroupDepth) {
      return name_error(
          ErrorCode::kTooDeep, subgroup_path(gang, reached[at].position) + ".parent",
          "subgroups may be nested at most " + std::to_string(kMostSubgroupDepth) + " deep; too many are above",
          source.subgroups[reached[at].position].name);
    }
    for (const std::size_t child : forest.children[reached[at].position]) {
      Group& group = add_group(draft, gang, reached[at].group);
      const GroupIndex index(draft.problem.groups.size() - 1);
      if (Failure failure = set_subgroup(draft, gang, child, forest.children[child].empty(), group)) return failure;
      draft.subgroups.insert(source.subgroups[child].name, index.value(), gang.value());
      reached.push_back({child, index, reached[at].depth + 1});
    }
  }
  if (reached.size() == source.subgroups.size() + 1) return {};
  std::vector<bool> is_reached(source.subgroups.size() + 1, false);
  for (const Reached& one : reached) is_reached[one.position] = true;
  const auto lost = static_cast<std::size_t>(std::ranges::find(is_reached, false) - is_reached.begin());
  return name_error(ErrorCode::kSubgroupCycle, subgroup_path(gang, lost) + ".parent",
                    "the subgroup is part of a cycle or below one:", source.subgroups[lost].name);
}

void set_min_resources(const ProblemDraft& draft, const SnapshotGang& source, Gang& gang) {
  if (!source.has_min_resources) return;
  gang.min_resources.amounts.assign(draft.problem.resource_count, 0);
  for (const auto& [resource, amount] : source.min_resources) gang.min_resources.amounts[resource.value()] = amount;
  gang.min_resources.gpu = source.min_resources_gpu;
}

Failure add_gang(ProblemDraft& draft, std::size_t position) {
  const SnapshotGang& source = draft.snapshot.gangs[position];
  const GangIndex index = draft.problem.gangs.push_back({});
  if (!draft.gangs.insert(source.name, index.value()).second) {
    return name_error(ErrorCode::kDuplicateName, path_to("gangs", position, "name"), "duplicate gang", source.name);
  }
  Gang& gang = draft.problem.gangs[index];
  if (Failure failure = set_terms(draft, {source.terms, source.name, source.terms.created, "gangs", position}, gang))
    return failure;
  set_min_resources(draft, source, gang);
  const bool is_leaf = source.subgroups.empty();
  if (!is_leaf && source.disruption == Disruption::kWhole) {
    return name_error(ErrorCode::kInvalidValue, path_to("gangs", position, "disruption"),
                      "a gang with subgroups cannot leave as a whole only:", source.name);
  }
  if (!is_leaf && source.min_member) {
    return name_error(ErrorCode::kInvalidValue, path_to("gangs", position, "minMember"),
                      "both minMember and subgroups are set; keep one:", source.name);
  }
  Group& root = add_group(draft, index, GroupIndex());
  root.minimum = (is_leaf ? source.min_member : source.min_subgroups).value_or(kUnresolvedMinimum);
  if (Failure failure = set_topology(draft, source.topology, path_to("gangs", position, ""), root)) return failure;
  return is_leaf ? Failure{} : add_subgroups(draft, index);
}

void resolve_minimum(const Problem& problem, Group& group) {
  if (group.minimum != kUnresolvedMinimum) return;
  if (!group.is_leaf()) {
    group.minimum = static_cast<std::int32_t>(group.children.size());
    return;
  }
  group.minimum = static_cast<std::int32_t>(std::ranges::count_if(group.pods, [&](PodIndex pod) {
    return problem.pods[pod].status != PodStatus::kFailed && problem.pods[pod].status != PodStatus::kReleasing;
  }));
}

bool has_pod(const Problem& problem, const Gang& gang, PodStatus status) {
  return std::ranges::any_of(gang.pods, [&](PodIndex pod) { return problem.pods[pod].status == status; });
}

std::int32_t count_present(const Problem& problem, const Gang& gang) {
  return static_cast<std::int32_t>(std::ranges::count_if(gang.pods, [&](PodIndex pod) {
    return problem.pods[pod].status == PodStatus::kRunning || problem.pods[pod].status == PodStatus::kSucceeded;
  }));
}

// Whether each of its subgroups is part of its minimum, so that the minimum of each leaf is known.
bool needs_all_subgroups(const Problem& problem, const Gang& gang) {
  return std::ranges::all_of(gang.groups, [&](GroupIndex index) {
    const Group& group = problem.groups[index];
    return group.is_leaf() || group.minimum >= std::ssize(group.children);
  });
}

// A gang that leaves whole needs all that run: so it keeps them, or loses all. One that gives its surplus only is not
// preemptible if it has none, or if its minimum may consist of different subgroups; otherwise its minimum is kept like
// a disruption budget (build_disruption_budgets).
void settle_disruption(Problem& problem, Disruption disruption, Gang& gang) {
  if (disruption == Disruption::kPods) return;
  const std::int32_t present = count_present(problem, gang);
  if (disruption == Disruption::kWhole) {
    Group& root = problem.groups[gang.root];
    gang.leaves_whole = true;
    root.minimum = std::max(root.minimum, present);
    return;
  }
  const bool is_satisfied = meets_minimum(problem, gang, [&](PodIndex pod) {
    return problem.pods[pod].status == PodStatus::kRunning || problem.pods[pod].status == PodStatus::kSucceeded;
  });
  gang.preemptible = gang.preemptible && is_satisfied && needs_all_subgroups(problem, gang);
}

// Whether the gang has some running pods but has been below its minimum for at least its grace period. If the snapshot
// does not give the start of that state, it has only just begun.
bool is_stale(const ProblemDraft& draft, GangIndex index) {
  if (draft.is_own_gang[index]) return false;
  const SnapshotGang& source = draft.snapshot.gangs[index.value()];
  const Gang& gang = draft.problem.gangs[index];
  if (source.staleness_grace_period == kNever) return false;
  const Nanoseconds now = draft.snapshot.time, since = source.stale_since.value_or(now);
  if (saturating_subtract(now, since) < source.staleness_grace_period) return false;
  if (!has_pod(draft.problem, gang, PodStatus::kRunning)) return false;
  return !meets_minimum(draft.problem, gang, [&](PodIndex pod) {
    return draft.problem.pods[pod].status == PodStatus::kRunning ||
           draft.problem.pods[pod].status == PodStatus::kSucceeded;
  });
}

}  // namespace

Failure build_gangs(ProblemDraft& draft) {
  if (Failure failure = build_priority_classes(draft)) return failure;
  const std::size_t gangs = draft.snapshot.gangs.size();
  draft.gangs.reserve(gangs);
  draft.problem.gangs.reserve(gangs);
  for (std::size_t i = 0; i < gangs; ++i) {
    if (Failure failure = add_gang(draft, i)) return failure;
  }
  draft.is_own_gang.assign(gangs, false);
  return {};
}

Failure add_own_gang(ProblemDraft& draft, PodIndex pod_index) {
  static const GangTerms nothing_said;
  const SnapshotPod& source = draft.snapshot.pods[pod_index.value()];
  MUSTER_REQUIRE_SLOW(draft.gangs.find(source.name) == NameTable::kAbsent);
  const GangIndex index = draft.problem.gangs.push_back({});
  draft.is_own_gang.push_back(true);
  const GangTerms& terms =
      source.own_gang < 0 ? nothing_said : draft.snapshot.own_gang_terms[static_cast<std::size_t>(source.own_gang)];
  const std::optional<Nanoseconds> created = terms.created ? terms.created : source.created;
  Gang& gang = draft.problem.gangs[index];
  if (Failure failure = set_terms(draft, {terms, source.name, created, "pods", pod_index.value()}, gang))
    return failure;
  add_group(draft, index, GroupIndex()).minimum = kUnresolvedMinimum;
  return {};
}

namespace {

void sort_highest_first(std::vector<std::int32_t>& priorities) {
  std::ranges::sort(priorities, std::greater<>{});
  const auto repeated = std::ranges::unique(priorities);
  priorities.erase(repeated.begin(), repeated.end());
}

void set_ranks(Problem& problem) {
  const std::vector<std::int32_t>& all = problem.objective.priorities;
  for (Gang& gang : problem.gangs) {
    const auto at = std::ranges::lower_bound(all, gang.priority, std::greater<>{});
    gang.rank = static_cast<std::uint32_t>(at - all.begin());
  }
}

// At which priorities pods may be preempted, and evicted for any reason.
void find_rights(Problem& problem) {
  const Actions& actions = problem.snapshot->policy.actions;
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::min();
  Indexed<QueueIndex, std::int32_t> highest(problem.queues.size(), kNone);  // of what waits and may preempt
  std::vector<QueueIndex> claiming;
  for (const Gang& gang : problem.gangs) {
    if (gang.queue.is_none() || gang.preemption_policy == PreemptionPolicy::kNever) continue;
    if (!has_pod(problem, gang, PodStatus::kPending)) continue;
    if (highest[gang.queue] == kNone) claiming.push_back(gang.queue);
    highest[gang.queue] = std::max(highest[gang.queue], gang.priority);
  }
  ObjectiveTerms& terms = problem.objective;
  if (claiming.empty() || !actions.place) return;
  for (const Gang& gang : problem.gangs) {
    if (gang.queue.is_none() || !gang.preemptible || !has_pod(problem, gang, PodStatus::kRunning)) continue;
    const bool is_outranked = actions.preempt && gang.priority < highest[gang.queue];
    const bool others_claim =
        actions.reclaim && problem.queues[gang.queue].reclaimable && (claiming.size() > 1 || claiming[0] != gang.queue);
    if (is_outranked) terms.preemptible.push_back(gang.priority);
    if (is_outranked || others_claim) terms.evictable.push_back(gang.priority);
  }
  sort_highest_first(terms.preemptible);
  sort_highest_first(terms.evictable);
}

}  // namespace

void resolve_gangs(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  for (Group& group : problem.groups) resolve_minimum(problem, group);
  for (std::size_t i = 0; i < draft.snapshot.gangs.size(); ++i)
    settle_disruption(problem, draft.snapshot.gangs[i].disruption, problem.gangs[GangIndex(i)]);
  for (const GangIndex index : problem.gangs.indices()) {
    Gang& gang = problem.gangs[index];
    const bool is_pending = has_pod(problem, gang, PodStatus::kPending);
    // A gang that runs and has no pending pod waits for nothing.
    const bool is_all_gated = has_pod(problem, gang, PodStatus::kGated) && !has_pod(problem, gang, PodStatus::kRunning);
    gang.times.timed_out = gang.times.timed_out && (is_pending || is_all_gated);
    gang.stale = is_stale(draft, index);
    if (!is_pending && !has_pod(problem, gang, PodStatus::kRunning)) continue;
    if (problem.objective.priorities.empty() ||
        problem.objective.priorities.back() != gang.priority)  // neighbours mostly share it
      problem.objective.priorities.push_back(gang.priority);
  }
  sort_highest_first(problem.objective.priorities);
  set_ranks(problem);
  find_rights(problem);
}

}  // namespace muster
