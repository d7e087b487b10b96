// Remedies that concern gangs: this one's minimum and priority, and others that run.
#include <algorithm>
#include <limits>
#include <set>

#include "model/explain/reasons_plain.h"
#include "solver/remedies/remedy_search.h"

namespace muster::answers {
namespace {

constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max();

bool is_running(const WaitingGang& gang, PodIndex pod) {
  return gang.problem().pods[pod].status == PodStatus::kRunning;
}

std::int64_t running_pods(const WaitingGang& gang, GangIndex other) {
  return std::ranges::count_if(gang.problem().gangs[other].pods, [&](PodIndex pod) { return is_running(gang, pod); });
}

// The cluster as if nothing protected running pods from the gang: it comes first, and all others may be evicted.
Snapshot without_protection(const Snapshot& original, const std::string& name, std::string_view common) {
  Snapshot snapshot(original);
  for (SnapshotPod& pod : snapshot.pods) {
    if (!pod.gang.empty()) continue;
    if (pod.own_gang < 0) {
      snapshot.own_gang_terms.emplace_back();
      pod.own_gang = static_cast<std::int32_t>(snapshot.own_gang_terms.size() - 1);
    }
  }
  const auto open = [&](GangTerms& terms, std::int32_t priority) {
    terms.preemptible = true;
    terms.priority = priority;
    terms.queue = common;  // within one queue, only priorities count
  };
  for (SnapshotGang& gang : snapshot.gangs) {
    open(gang.terms, gang.name == name ? kHighest : 0);
    gang.disruption = Disruption::kPods;
  }
  for (SnapshotPod& pod : snapshot.pods) {
    if (pod.gang.empty())
      open(snapshot.own_gang_terms[static_cast<std::size_t>(pod.own_gang)], pod.name == name ? kHighest : 0);
  }
  for (SnapshotQueue& queue : snapshot.queues) {
    queue.gpu.limit = queue.cpu.limit = queue.memory.limit = kUnlimited;
    queue.gpu.quota = queue.cpu.quota = queue.memory.quota = kUnlimited;
    queue.other_resources.clear();
    queue.preempt_min_runtime = queue.reclaim_min_runtime = 0;
    queue.reclaimable = true;
  }
  snapshot.disruption_budgets.clear();
  Policy& policy = snapshot.policy;
  policy.actions = {
      .place = true, .consolidate = false, .reclaim = true, .preempt = true, .stale = policy.actions.stale};
  policy.protect.clear();
  policy.over_time.eviction_price.reset();
  policy.aging_interval = 0;
  return snapshot;
}

// Gangs with running pods: those that the plan without protection evicts first, then all others, the smaller ones
// first.
struct StopCandidates {
  std::vector<GangIndex> gangs;
  std::size_t promising = 0;  // of them, at the beginning
  auto promising_end() const { return gangs.begin() + static_cast<std::ptrdiff_t>(promising); }
};

StopCandidates stop_candidates(const WaitingGang& gang, Experiment& experiment) {
  std::vector<GangIndex> evicted, others;
  std::set<GangIndex> chosen;
  const std::string_view queue = gang.problem().queues[gang.gang().queue].name;
  const auto open = experiment.solve(without_protection(experiment.original(), gang.name(), queue), {});
  if (open) {
    for (const Eviction& eviction : (*open)->solution.plan.evictions) {
      const GangIndex other = (*open)->problem.pods[eviction.pod].gang;
      const auto known = gang.run().find_gang((*open)->problem.gangs[other].name);
      if (known && *known != gang.index() && chosen.insert(*known).second) evicted.push_back(*known);
    }
  }
  for (const GangIndex other : gang.problem().gangs.indices()) {
    if (other != gang.index() && !chosen.contains(other) && running_pods(gang, other) > 0) others.push_back(other);
  }
  const auto size = [&](GangIndex other) { return running_pods(gang, other); };
  std::ranges::stable_sort(others, {}, size);
  std::ranges::stable_sort(evicted, {}, size);
  const std::size_t promising = evicted.size();
  evicted.insert(evicted.end(), others.begin(), others.end());
  return {std::move(evicted), promising};
}

}  // namespace

// A gang of which fewer pods exist than it needs waits for them, whatever room there is.
namespace {

std::int64_t existing_pods(const WaitingGang& gang, const Group& group) {
  return std::ranges::count_if(group.pods, [&](PodIndex pod) {
    const PodStatus status = gang.problem().pods[pod].status;
    return status != PodStatus::kFailed && status != PodStatus::kReleasing;
  });
}

// Of each subgroup that has fewer pods, or fewer subgroups, than its minimum: to what there is. The smallest where each
// group needs all of its subgroups.
Remedies lower_minimum_of_subgroups(const WaitingGang& gang, Admission& admission) {
  Remedy remedy{RemedyKind::kLowerMinimum, {}, 0, admission.refusal_proven(), {}};
  for (const GroupIndex index : gang.gang().groups) {
    const Group& group = gang.problem().groups[index];
    const std::int64_t there = group.is_leaf() ? existing_pods(gang, group) : std::ssize(group.children);
    if (!group.is_leaf() && group.minimum < there) remedy.is_smallest = false;
    if (there >= group.minimum || group.parent.is_none()) continue;
    remedy.size += group.minimum - there;
    remedy.changes.emplace_back(change::SetMinimum{gang.name(), static_cast<std::int32_t>(there),
                                                   std::string(explain::subgroup_name(gang.problem(), index))});
  }
  if (remedy.changes.empty()) return {};
  const std::optional<Admitted> found = admission.test(remedy.changes);
  if (!found || !found->admits) return {};
  remedy.with = *found;
  return {std::move(remedy)};
}

}  // namespace

Remedies lower_minimum(const WaitingGang& gang, Admission& admission) {
  const SnapshotGang* entry = gang.entry();
  if (!entry) return {};
  if (!entry->subgroups.empty()) return lower_minimum_of_subgroups(gang, admission);
  const Group& root = gang.problem().groups[gang.gang().root];
  const std::int64_t minimum = root.minimum, missing = std::max<std::int64_t>(0, minimum - existing_pods(gang, root));
  if (minimum <= 1 || missing >= minimum) return {};
  const std::int64_t least_less = std::max<std::int64_t>(1, missing);
  const std::int64_t guess = missing > 0 ? missing : std::min(gang.pods_without_room(), minimum - 1);
  const auto least =
      least_count(RemedyKind::kLowerMinimum, {least_less, guess, minimum - 1}, admission, [&](std::int64_t less) {
        return Changes{change::SetMinimum{gang.name(), static_cast<std::int32_t>(minimum - less)}};
      });
  return least ? Remedies{*least} : Remedies();
}

// Only priorities that pass, or draw level with, that of some gang make a difference.
Remedies raise_priority(const WaitingGang& gang, Admission& admission) {
  std::set<std::int32_t> steps;
  const std::int32_t own = gang.gang().priority;
  for (const Gang& other : gang.problem().gangs) {
    if (other.priority > own) steps.insert(other.priority);
    if (other.priority >= own && other.priority < kHighest) steps.insert(other.priority + 1);
  }
  if (steps.empty()) return {};
  // A priority that rises with the time waited is set so that it is right at this time.
  const auto aged = static_cast<std::int64_t>(own) - gang.priority_as_set();
  const std::vector<std::int32_t> priorities(steps.begin(), steps.end());
  const auto least =
      least_count(RemedyKind::kRaisePriority, {1, 1, std::ssize(priorities)}, admission, [&](std::int64_t passed) {
        const std::int64_t priority = priorities[static_cast<std::size_t>(passed - 1)] - aged;
        return Changes{change::SetPriority{gang.name(), static_cast<std::int32_t>(priority)}};
      });
  return least ? Remedies{*least} : Remedies();
}

Remedies stop_gangs(const WaitingGang& gang, const Rivals& rivals, Admission& admission, Experiment& experiment) {
  if (admission.is_over()) {  // the candidates take a plan
    admission.note_asked();
    return {};
  }
  const StopCandidates candidates = stop_candidates(gang, experiment);
  std::vector<std::int64_t> weights;
  for (const GangIndex other : candidates.gangs) weights.push_back(running_pods(gang, other));
  const Snapshot sketched = rivals.on_open_nodes({candidates.gangs.begin(), candidates.promising_end()});
  admission.sketch_on(sketched);
  const auto least = least_set(RemedyKind::kStopGangs, weights, candidates.promising, admission,
                               [&](const std::vector<std::size_t>& chosen) {
                                 Changes changes;
                                 for (const std::size_t item : chosen) {
                                   const Gang& stopped = gang.problem().gangs[candidates.gangs[item]];
                                   changes.emplace_back(change::RemoveGang{std::string(stopped.name)});
                                 }
                                 return changes;
                               });
  return least ? Remedies{*least} : Remedies();
}

}  // namespace muster::answers
