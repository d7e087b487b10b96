#include "heuristics/preemption/victim_rechoice.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/level_values.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

namespace {

constexpr std::size_t kGpuWork = 0;  // of WorkByKind

}  // namespace

void VictimRechoice::run(int most_rounds) {
  MUSTER_REQUIRE(problem_.snapshot->policy.actions.consolidate);
  std::set<std::int32_t> priorities;
  for (const PlannedEviction& eviction : ledger_.records()) {
    if (!state_.is_present(eviction.pod)) priorities.insert(problem_.gangs[problem_.pods[eviction.pod].gang].priority);
  }
  for (const std::int32_t priority : priorities) {
    for (int round = 0; round < most_rounds && choose_anew(priority);) ++round;
  }
  claim_.exchange.reset();
}

// Whether that improved the levels; otherwise nothing has changed. Tries the amounts that the shares allow, then as
// much of each queue as has been evicted from it.
bool VictimRechoice::choose_anew(std::int32_t priority) {
  return choose_anew(priority, false) || choose_anew(priority, true);
}

bool VictimRechoice::choose_anew(std::int32_t priority, bool each_its_own) {
  if (stop_.is_due()) return false;
  const Examples examples = examples_of(priority);
  if (examples.empty()) return false;
  std::vector<VictimGroup> groups = groups_of(priority, examples);
  choose_victims(groups, room_of_queues(priority, groups, each_its_own));
  spare_for_budgets(groups);
  if (std::ranges::all_of(groups, [](const VictimGroup& group) { return group.leaves == group.is_gone; })) return false;
  const ExchangeAttempt::Before before = attempt_.begin({QueueIndex::none(), priority, -1});
  for (const VictimGroup& group : groups) {
    if (!group.leaves || group.is_gone) continue;
    attempt_.evict_like(examples.at(group.queue));
    ledger_.take(group.pods);
  }
  attempt_.evict_like(examples.begin()->second);
  claim_.mode = PreemptionMode::kConsolidate;
  std::ranges::stable_sort(groups, [](const VictimGroup& a, const VictimGroup& b) {
    return a.largest != b.largest ? a.largest > b.largest : b.costs_less_than(a);
  });
  bring_back(groups);
  return attempt_.end(before);
}

// Of the chosen ones, as many as disruption budgets allow, those first whose eviction costs least. All groups together
// are counted anew, since evicted ones may come back.
void VictimRechoice::spare_for_budgets(std::vector<VictimGroup>& groups) const {
  if (state_.budgets().empty()) return;
  auto left = state_.budgets().left();
  const auto count = [&](const VictimGroup& group, std::int64_t sign) {
    for (const PodIndex pod : group.pods) {
      for (const DisruptionBudgetIndex budget : problem_.disruption_budgets.of(pod)) left[budget] += sign;
    }
  };
  for (const VictimGroup& group : groups) {
    if (group.is_gone) count(group, 1);
  }
  for (VictimGroup& group : groups) {
    group.leaves = group.leaves && problem_.disruption_budgets.allow(group.pods, left);
    if (group.leaves) count(group, -1);
  }
}

// First those that are to stay, then, while there is room, those that were to leave. Free capacity only shrinks, so a
// group equivalent to one that found none is not tried.
void VictimRechoice::bring_back(const std::vector<VictimGroup>& groups) {
  std::map<PodClassIndex, std::size_t> too_many;  // equivalent pods of one group that did not fit together
  for (const bool of_leaving : {false, true}) {
    for (const VictimGroup& group : groups) {
      if (group.leaves != of_leaving || stop_.is_due()) continue;
      const auto known = too_many.find(problem_.pods[group.pods.front()].pod_class);
      if (known != too_many.end() && group.pods.size() >= known->second) continue;
      if (attempt_.bring(group.pods)) continue;
      const auto is_alike = [&](PodIndex pod) {
        return problem_.pods[pod].pod_class == problem_.pods[group.pods.front()].pod_class;
      };
      if (std::ranges::all_of(group.pods, is_alike))
        too_many[problem_.pods[group.pods.front()].pod_class] = group.pods.size();
    }
  }
}

// Of each queue an eviction of that priority: any further victim there leaves for the same claim, in the same way.
// Preemption is preferred, since it has no condition on the shares.
VictimRechoice::Examples VictimRechoice::examples_of(std::int32_t priority) const {
  Examples examples;
  for (const PlannedEviction& eviction : ledger_.records()) {
    const Gang& gang = problem_.gangs[problem_.pods[eviction.pod].gang];
    if (gang.priority != priority || state_.is_present(eviction.pod) || eviction.for_gang.is_none()) continue;
    PlannedEviction& example = examples.try_emplace(gang.queue, eviction).first->second;
    if (eviction.reason == EvictionReason::kPreempt && example.reason != EvictionReason::kPreempt) example = eviction;
  }
  return examples;
}

// The groups of the priority that have left or may leave: gangs as a whole, and the evicted part of others.
std::vector<VictimGroup> VictimRechoice::groups_of(std::int32_t priority, const Examples& examples) const {
  std::set<GangIndex> claimants;
  std::vector<bool> is_reclaimed(problem_.gangs.size(), false);
  for (const PlannedEviction& eviction : ledger_.records()) {
    claimants.insert(eviction.for_gang);
    if (eviction.reason == EvictionReason::kReclaim) is_reclaimed[problem_.pods[eviction.pod].gang.value()] = true;
  }
  std::vector<VictimGroup> groups;
  for (const GangIndex index : problem_.gangs.indices()) {
    const Gang& gang = problem_.gangs[index];
    if (gang.priority != priority || !rules_.may_evict(index) || !fit::may_start(gang) || !fit::queue_exists(gang))
      continue;
    const auto example = examples.find(gang.queue);
    if (example == examples.end()) continue;
    VictimGroup here, gone;
    bool any_fresh = false;
    for (const PodIndex pod : gang.pods) {
      if (state_.is_present(pod)) {
        any_fresh = any_fresh || fit::is_pending(problem_.pods[pod]);
        here.pods.push_back(pod);
      } else if (ledger_.was_taken(pod)) {
        gone.pods.push_back(pod);
      }
    }
    const PlannedEviction& like = example->second;
    const bool may_go = gone.pods.empty() && !here.pods.empty() && !any_fresh && !claimants.contains(index) &&
                        rules_.has_run_enough(state_, like.for_gang, index, like.reason);
    here.is_reclaimed = like.reason == EvictionReason::kReclaim;
    if (may_go) groups.push_back(described(std::move(here), gang));
    gone.is_gone = true;
    gone.is_reclaimed = is_reclaimed[index.value()];
    if (!gone.pods.empty()) groups.push_back(described(std::move(gone), gang));
  }
  return groups;
}

VictimGroup VictimRechoice::described(VictimGroup group, const Gang& gang) const {
  group.queue = gang.queue;
  group.kind = kind_of(problem_.class_of(group.pods.front()));
  for (const PodIndex pod : group.pods) {
    const Work work = problem_.class_of(pod).work;
    group.work = saturating_add(group.work, work);
    group.largest = std::max(group.largest, work);
    group.loss = saturating_add(group.loss, evicted_value(problem_.pods[pod]));
  }
  return group;
}

// The amount of each queue beyond its share, over running and evicted work of the priority or higher ones.
QueueRoom VictimRechoice::room_of_queues(std::int32_t priority, const std::vector<VictimGroup>& groups,
                                         bool each_its_own) const {
  Indexed<QueueIndex, Work> gone(problem_.queues.size(), 0);
  for (const VictimGroup& group : groups) {
    if (!group.is_gone || group.kind != kGpuWork) continue;
    for (const QueueIndex queue : problem_.queues[group.queue].ancestors) gone[queue] += group.work;
  }
  const auto beyond = [&](QueueIndex queue) -> Work {
    const Amount share = shares_.share[queue][kQueueGpu];
    return share == kUnlimited ? 0
                               : (state_.queues().usage_from(queue, priority)[kQueueGpu] - share) / 1'000 + gone[queue];
  };
  QueueRoom room{Indexed<QueueIndex, Work>(problem_.queues.size(), 0), gone, each_its_own};
  for (const QueueIndex leaf : problem_.queues.indices()) {
    room.beyond_share[leaf] = beyond(leaf);
    for (const QueueIndex queue : problem_.queues[leaf].ancestors) room.spare[leaf] += std::max<Work>(0, beyond(queue));
  }
  if (each_its_own) room.spare = std::move(gone);
  return room;
}

void VictimExchange::run() {
  MUSTER_REQUIRE(problem_.snapshot->policy.actions.consolidate);
  for (int pass = 0; pass < kTuning.heuristics.passes && run_once(); ++pass) {
  }
  claim_.exchange.reset();
}

// Whether another pass may find more: some victims were exchanged, and there was time for all.
bool VictimExchange::run_once() {
  bool any = false;
  Memory memory;
  for (const Evicted& evicted : evicted_longest_run_first()) {
    if (stop_.is_due()) return false;
    any = exchange_unless_in_vain(evicted, memory) || any;
  }
  return any;
}

// An exchange that failed with more candidates, or for as many equivalent pods, need not be tried again on the same
// state.
bool VictimExchange::exchange_unless_in_vain(const Evicted& evicted, Memory& memory) {
  if (memory.state != state_.checkpoint()) memory = {state_.checkpoint(), {}, shortest_runs()};
  const PodIndex first = evicted.pods.front();
  const Gang& gang = problem_.gangs[problem_.pods[first].gang];
  const auto shortest = memory.shortest_runs.find({gang.queue, gang.priority});
  if (shortest == memory.shortest_runs.end() || shortest->second > most_seconds(evicted)) return false;
  const bool are_alike = std::ranges::all_of(
      evicted.pods, [&](PodIndex pod) { return problem_.pods[pod].pod_class == problem_.pods[first].pod_class; });
  const Memory::Kind kind{gang.queue, gang.priority, problem_.pods[first].pod_class, evicted.first.for_gang,
                          evicted.first.reason};
  const auto failed = memory.failed.find(kind);
  if (are_alike && failed != memory.failed.end() && evicted.pods.size() >= failed->second) return false;
  if (exchange(evicted, ClaimStage::kPlain) || exchange(evicted, ClaimStage::kDisplacing)) return true;
  if (are_alike) memory.failed[kind] = evicted.pods.size();
  return false;
}

// Whether the evicted pods were placed in exchange for others, at a smaller loss; otherwise nothing has changed.
bool VictimExchange::exchange(const Evicted& evicted, ClaimStage stage) {
  const Gang& gang = problem_.gangs[problem_.pods[evicted.pods.front()].gang];
  if (!fit::may_start(gang) || !fit::queue_exists(gang) || evicted.first.for_gang.is_none()) return false;
  const ExchangeAttempt::Before before = attempt_.begin({gang.queue, gang.priority, most_seconds(evicted)});
  attempt_.evict_like(evicted.first);
  claim_.stage = stage;
  if (attempt_.bring(evicted.pods)) return attempt_.end(before);
  attempt_.undo(before);
  return false;
}

// By gang, the longest-running first: they have the most to gain.
std::vector<VictimExchange::Evicted> VictimExchange::evicted_longest_run_first() const {
  std::map<GangIndex, Evicted> by_gang;
  for (const PlannedEviction& eviction : ledger_.records()) {
    if (state_.is_present(eviction.pod)) continue;
    Evicted& evicted = by_gang[problem_.pods[eviction.pod].gang];
    if (evicted.pods.empty()) evicted.first = eviction;
    evicted.pods.push_back(eviction.pod);
    evicted.least_seconds = std::min(evicted.least_seconds, problem_.pods[eviction.pod].run_seconds);
  }
  std::vector<Evicted> all;
  for (auto& [gang, evicted] : by_gang) all.push_back(std::move(evicted));
  std::ranges::stable_sort(all, std::ranges::greater{}, &Evicted::least_seconds);
  return all;
}

// By queue and priority, the shortest run time of any present pod that may be evicted. Cost: O(pods).
VictimExchange::ShortestRuns VictimExchange::shortest_runs() const {
  ShortestRuns shortest;
  for (const PodIndex index : problem_.pods.indices()) {
    const Pod& pod = problem_.pods[index];
    if (pod.status != PodStatus::kRunning || !state_.is_present(index) || !rules_.may_evict(pod.gang)) continue;
    const Gang& gang = problem_.gangs[pod.gang];
    const auto [known, is_new] = shortest.try_emplace({gang.queue, gang.priority}, pod.run_seconds);
    if (!is_new) known->second = std::min(known->second, pod.run_seconds);
  }
  return shortest;
}

std::int64_t VictimExchange::most_seconds(const Evicted& evicted) { return evicted.least_seconds - 1; }

}  // namespace muster::preemption
