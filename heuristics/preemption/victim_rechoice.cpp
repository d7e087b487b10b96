#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/settling.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/level_values.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

namespace {

// One attempt, in which those that are pinned leave whatever they cost.
class GroupChoice {
 public:
  GroupChoice(std::vector<VictimGroup>& groups, const QueueRoom& room, const std::vector<bool>& pinned)
      : groups_(groups), pinned_(pinned), is_hard_(room.is_hard), spare_(room.spare) {}

  void choose() {
    for (const VictimGroup& group : groups_) must_leave_[group.kind] += group.is_gone ? group.work : 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].leaves = false;
      if (pinned_[i]) mark(groups_[i]);
    }
    choose_cheapest(true);
    if (is_hard_) return;
    choose_last(true);
    choose_cheapest(false);
    choose_last(false);
  }

 private:
  void mark(VictimGroup& group) {
    group.leaves = true;
    must_leave_[group.kind] -= group.work;
    if (group.kind == kGpuWork) spare_[group.queue] -= group.work;
  }
  bool is_spared(const VictimGroup& group) const { return group.kind != kGpuWork || group.work <= spare_[group.queue]; }

  void choose_cheapest(bool only_spared) {
    for (VictimGroup& group : groups_) {
      if (!group.leaves && group.work <= must_leave_[group.kind] && (!only_spared || is_spared(group))) mark(group);
    }
  }
  // Of each kind one that is large enough for all that still has to leave.
  void choose_last(bool only_spared) {
    for (std::size_t kind = 0; kind < must_leave_.size(); ++kind) {
      VictimGroup* last = nullptr;
      for (VictimGroup& group : groups_) {
        if (group.leaves || group.kind != kind || must_leave_[kind] <= 0 || group.work < must_leave_[kind]) continue;
        if (!only_spared || is_spared(group)) last = last == nullptr || group.loss < last->loss ? &group : last;
      }
      if (last != nullptr) mark(*last);
    }
  }

  std::vector<VictimGroup>& groups_;
  const std::vector<bool>& pinned_;
  bool is_hard_;
  Indexed<QueueIndex, Work> spare_;
  WorkByKind must_leave_{};
};

// For a queue that falls below its share by the loss of small groups alone, an evicted group that is large enough.
bool pin_large_ones(const std::vector<VictimGroup>& groups, const QueueRoom& room, std::vector<bool>& pinned) {
  Indexed<QueueIndex, Work> rest = room.beyond_share, largest(rest.size(), 0);
  for (const VictimGroup& group : groups) {
    if (!group.leaves || group.kind != kGpuWork) continue;
    rest[group.queue] -= group.work;
    if (group.is_reclaimed) largest[group.queue] = std::max(largest[group.queue], group.work);
  }
  bool any = false;
  for (const QueueIndex queue : rest.indices()) {
    if (largest[queue] == 0 || rest[queue] + largest[queue] > 0) continue;
    std::size_t best = groups.size();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const VictimGroup& group = groups[i];
      const bool helps = group.queue == queue && group.is_gone && group.is_reclaimed && group.kind == kGpuWork &&
                         rest[queue] + group.work > 0 && !pinned[i];
      if (helps && (best == groups.size() || group.loss < groups[best].loss)) best = i;
    }
    if (best == groups.size()) continue;
    pinned[best] = any = true;
  }
  return any;
}

}  // namespace

bool VictimGroup::costs_less_than(const VictimGroup& other) const {
  return Wide{loss} * other.work < Wide{other.loss} * work;
}

void choose_victims(std::vector<VictimGroup>& groups, const QueueRoom& room) {
  std::ranges::stable_sort(groups, [](const VictimGroup& a, const VictimGroup& b) { return a.costs_less_than(b); });
  std::vector<bool> pinned(groups.size(), false);
  GroupChoice(groups, room, pinned).choose();
  for (int i = 0; i < kTuning.heuristics.passes && pin_large_ones(groups, room, pinned); ++i)
    GroupChoice(groups, room, pinned).choose();
}

namespace {

bool are_alike(const Problem& problem, const std::vector<PodIndex>& pods) {
  return std::ranges::all_of(
      pods, [&](PodIndex pod) { return problem.pods[pod].pod_class == problem.pods[pods.front()].pod_class; });
}

// Begins an attempt to exchange victims: some leave, others come back, and all of it is kept or undone. From now on
// only victims within the limit leave, and no newly placed gang gives way. The loss by what is evicted before.
std::int64_t begin_exchange(PreemptionContext& context, const ExchangeLimit& limit) {
  context.claim.stage = ClaimStage::kPlain;
  context.claim.rank = context.ranks.latest();
  context.claim.exchange = limit;
  context.begin_attempt();
  return context.ledger.evicted_loss();
}

// Any new victim leaves for the same claim, and in the same way, as the evicted one.
void evict_like(const PlannedEviction& eviction, Claim& claim) {
  claim.claimant = eviction.for_gang;
  claim.mode = eviction.reason == EvictionReason::kPreempt ? PreemptionMode::kPreempt : PreemptionMode::kReclaim;
}

// Puts the pods that are not present back, or elsewhere, with room made by the claim's victims: all or none.
bool bring_back(PreemptionContext& context, NodeNominator& nominator, const std::vector<PodIndex>& pods) {
  const auto before = context.ledger.checkpoint();
  const bool placed = nominator.with_room(context.claim, [&] {
    return std::ranges::all_of(pods, [&](PodIndex pod) {
      return context.state.is_present(pod) || put_back(context.state, context.bounds, pod) ||
             context.placer.place_pod(pod);
    });
  });
  if (!placed) context.ledger.rollback(before);
  return placed;
}

// Victims that are no longer needed come back. Whether the leading levels are better, or are the same and less is
// evicted; otherwise nothing has changed.
bool end_exchange(PreemptionContext& context, std::int64_t loss_before) {
  settle_victims(context);
  if (context.rules_hold()) {
    std::vector<Work> levels = context.levels_now();
    if (levels > context.levels_before() ||
        (levels == context.levels_before() && context.ledger.evicted_loss() < loss_before)) {
      context.keep_attempt(std::move(levels));
      return true;
    }
  }
  context.undo_attempt();
  return false;
}

// Of each queue an eviction of that priority: any further victim there leaves for the same claim, in the same way.
// Preemption is preferred, since it has no condition on the shares.
using Examples = std::map<QueueIndex, PlannedEviction>;
Examples examples_of(const PreemptionContext& context, std::int32_t priority) {
  Examples examples;
  for (const PlannedEviction& eviction : context.ledger.records()) {
    const Gang& gang = context.problem.gangs[context.problem.pods[eviction.pod].gang];
    if (gang.priority != priority || context.state.is_present(eviction.pod) || eviction.for_gang.is_none()) continue;
    PlannedEviction& example = examples.try_emplace(gang.queue, eviction).first->second;
    if (eviction.reason == EvictionReason::kPreempt && example.reason != EvictionReason::kPreempt) example = eviction;
  }
  return examples;
}

VictimGroup described(const Problem& problem, VictimGroup group, const Gang& gang) {
  group.queue = gang.queue;
  group.kind = kind_of(problem.class_of(group.pods.front()));
  for (const PodIndex pod : group.pods) {
    const Work work = problem.class_of(pod).work;
    group.work = saturating_add(group.work, work);
    group.largest = std::max(group.largest, work);
    group.loss = saturating_add(group.loss, evicted_value(problem.pods[pod]));
  }
  return group;
}

// The groups of the priority that have left or may leave: gangs as a whole, and the evicted part of others.
std::vector<VictimGroup> groups_of(const PreemptionContext& context, std::int32_t priority, const Examples& examples) {
  const Problem& problem = context.problem;
  std::set<GangIndex> claimants;
  std::vector<bool> is_reclaimed(problem.gangs.size(), false);
  for (const PlannedEviction& eviction : context.ledger.records()) {
    claimants.insert(eviction.for_gang);
    if (eviction.reason == EvictionReason::kReclaim) is_reclaimed[problem.pods[eviction.pod].gang.value()] = true;
  }
  std::vector<VictimGroup> groups;
  for (const GangIndex index : problem.gangs.indices()) {
    const Gang& gang = problem.gangs[index];
    if (gang.priority != priority || !context.rules.may_evict(index) || !fit::may_start(gang) ||
        !fit::queue_exists(gang))
      continue;
    const auto example = examples.find(gang.queue);
    if (example == examples.end()) continue;
    VictimGroup here, gone;
    bool any_fresh = false;
    for (const PodIndex pod : gang.pods) {
      if (context.state.is_present(pod)) {
        any_fresh = any_fresh || fit::is_pending(problem.pods[pod]);
        here.pods.push_back(pod);
      } else if (context.ledger.was_taken(pod)) {
        gone.pods.push_back(pod);
      }
    }
    const PlannedEviction& like = example->second;
    const bool may_go = gone.pods.empty() && !here.pods.empty() && !any_fresh && !claimants.contains(index) &&
                        context.rules.has_run_enough(context.state, like.for_gang, index, like.reason);
    here.is_reclaimed = like.reason == EvictionReason::kReclaim;
    if (may_go) groups.push_back(described(problem, std::move(here), gang));
    gone.is_gone = true;
    gone.is_reclaimed = is_reclaimed[index.value()];
    if (!gone.pods.empty()) groups.push_back(described(problem, std::move(gone), gang));
  }
  return groups;
}

// The amount of each queue beyond its share, over running and evicted work of the priority or higher ones.
QueueRoom room_of_queues(const PreemptionContext& context, std::int32_t priority,
                         const std::vector<VictimGroup>& groups, bool each_its_own) {
  const Problem& problem = context.problem;
  Indexed<QueueIndex, Work> gone(problem.queues.size(), 0);
  for (const VictimGroup& group : groups) {
    if (!group.is_gone || group.kind != kGpuWork) continue;
    for (const QueueIndex queue : problem.queues[group.queue].ancestors) gone[queue] += group.work;
  }
  const auto beyond = [&](QueueIndex queue) -> Work {
    const Amount share = context.rules.shares().share[queue][kQueueGpu];
    if (share == kUnlimited) return 0;
    return (context.state.queues().usage_from(queue, priority)[kQueueGpu] - share) / 1'000 + gone[queue];
  };
  QueueRoom room{Indexed<QueueIndex, Work>(problem.queues.size(), 0), gone, each_its_own};
  for (const QueueIndex leaf : problem.queues.indices()) {
    room.beyond_share[leaf] = beyond(leaf);
    for (const QueueIndex queue : problem.queues[leaf].ancestors) room.spare[leaf] += std::max<Work>(0, beyond(queue));
  }
  if (each_its_own) room.spare = std::move(gone);
  return room;
}

// Of the chosen ones, as many as disruption budgets allow, those first whose eviction costs least. All groups together
// are counted anew, since evicted ones may come back.
void spare_for_budgets(const PreemptionContext& context, std::vector<VictimGroup>& groups) {
  if (context.state.budgets().empty()) return;
  const auto& budgets = context.problem.disruption_budgets;
  auto left = context.state.budgets().left();
  const auto count = [&](const VictimGroup& group, std::int64_t sign) {
    for (const PodIndex pod : group.pods) {
      for (const DisruptionBudgetIndex budget : budgets.of(pod)) left[budget] += sign;
    }
  };
  for (const VictimGroup& group : groups) {
    if (group.is_gone) count(group, 1);
  }
  for (VictimGroup& group : groups) {
    group.leaves = group.leaves && budgets.allow(group.pods, left);
    if (group.leaves) count(group, -1);
  }
}

// First those that are to stay, then, while there is room, those that were to leave. Free capacity only shrinks, so a
// group equivalent to one that found none is not tried.
void bring_back(PreemptionContext& context, NodeNominator& nominator, const std::vector<VictimGroup>& groups) {
  std::map<PodClassIndex, std::size_t> too_many;  // equivalent pods of one group that did not fit together
  for (const bool of_leaving : {false, true}) {
    for (const VictimGroup& group : groups) {
      if (group.leaves != of_leaving || context.stop.is_due()) continue;
      const PodClassIndex pod_class = context.problem.pods[group.pods.front()].pod_class;
      const auto known = too_many.find(pod_class);
      if (known != too_many.end() && group.pods.size() >= known->second) continue;
      if (!bring_back(context, nominator, group.pods) && are_alike(context.problem, group.pods))
        too_many[pod_class] = group.pods.size();
    }
  }
}

// Whether that improved the levels; otherwise nothing has changed. `each_its_own`: as much of each queue as has been
// evicted from it, else the amounts that the shares allow.
bool choose_anew(PreemptionContext& context, NodeNominator& nominator, std::int32_t priority, bool each_its_own) {
  if (context.stop.is_due()) return false;
  const Examples examples = examples_of(context, priority);
  if (examples.empty()) return false;
  std::vector<VictimGroup> groups = groups_of(context, priority, examples);
  choose_victims(groups, room_of_queues(context, priority, groups, each_its_own));
  spare_for_budgets(context, groups);
  if (std::ranges::all_of(groups, [](const VictimGroup& group) { return group.leaves == group.is_gone; })) return false;
  const std::int64_t loss_before = begin_exchange(context, {QueueIndex::none(), priority, -1});
  for (const VictimGroup& group : groups) {
    if (!group.leaves || group.is_gone) continue;
    evict_like(examples.at(group.queue), context.claim);
    context.ledger.take(group.pods, context.claim);
  }
  evict_like(examples.begin()->second, context.claim);
  context.claim.mode = PreemptionMode::kConsolidate;
  std::ranges::stable_sort(groups, [](const VictimGroup& a, const VictimGroup& b) {
    return a.largest != b.largest ? a.largest > b.largest : b.costs_less_than(a);
  });
  bring_back(context, nominator, groups);
  return end_exchange(context, loss_before);
}

// Pods of one gang, and why the first of them was evicted. Times in seconds.
struct Evicted {
  std::vector<PodIndex> pods;
  PlannedEviction first{};
  std::int64_t least_seconds = std::numeric_limits<std::int64_t>::max();
};

// By gang, the longest-running first: they have the most to gain.
std::vector<Evicted> evicted_longest_run_first(const PreemptionContext& context) {
  std::map<GangIndex, Evicted> by_gang;
  for (const PlannedEviction& eviction : context.ledger.records()) {
    if (context.state.is_present(eviction.pod)) continue;
    const Pod& pod = context.problem.pods[eviction.pod];
    Evicted& evicted = by_gang[pod.gang];
    if (evicted.pods.empty()) evicted.first = eviction;
    evicted.pods.push_back(eviction.pod);
    evicted.least_seconds = std::min(evicted.least_seconds, pod.run_seconds);
  }
  std::vector<Evicted> all;
  for (auto& [gang, evicted] : by_gang) all.push_back(std::move(evicted));
  std::ranges::stable_sort(all, std::ranges::greater{}, &Evicted::least_seconds);
  return all;
}

// What is known of exchanges on one state.
struct Memory {
  using Kind = std::tuple<QueueIndex, std::int32_t, PodClassIndex, GangIndex, EvictionReason>;
  ClusterState::Checkpoint state = static_cast<ClusterState::Checkpoint>(-1);
  std::map<Kind, std::size_t> failed;  // for this many equivalent pods of one gang
  // By queue and priority, the shortest run time of any present pod that may be evicted.
  std::map<std::pair<QueueIndex, std::int32_t>, std::int64_t> shortest_runs;

  // Cost: O(pods) once the state has changed.
  void follow(const PreemptionContext& context) {
    if (state == context.state.checkpoint()) return;
    *this = {context.state.checkpoint(), {}, {}};
    for (const PodIndex index : context.problem.pods.indices()) {
      const Pod& pod = context.problem.pods[index];
      if (pod.status != PodStatus::kRunning || !context.state.is_present(index) || !context.rules.may_evict(pod.gang))
        continue;
      const Gang& gang = context.problem.gangs[pod.gang];
      const auto [known, is_new] = shortest_runs.try_emplace({gang.queue, gang.priority}, pod.run_seconds);
      if (!is_new) known->second = std::min(known->second, pod.run_seconds);
    }
  }
};

// Whether the evicted pods were placed in exchange for others, at a smaller loss; otherwise nothing has changed.
bool exchange_single(PreemptionContext& context, NodeNominator& nominator, const Evicted& evicted, ClaimStage stage) {
  const Gang& gang = context.problem.gangs[context.problem.pods[evicted.pods.front()].gang];
  if (!fit::may_start(gang) || !fit::queue_exists(gang) || evicted.first.for_gang.is_none()) return false;
  const std::int64_t loss_before = begin_exchange(context, {gang.queue, gang.priority, evicted.least_seconds - 1});
  evict_like(evicted.first, context.claim);
  context.claim.stage = stage;
  if (bring_back(context, nominator, evicted.pods)) return end_exchange(context, loss_before);
  context.undo_attempt();
  return false;
}

// An exchange that failed with more candidates, or for as many equivalent pods, need not be tried again on the same
// state.
bool exchange_unless_in_vain(PreemptionContext& context, NodeNominator& nominator, const Evicted& evicted,
                             Memory& memory) {
  memory.follow(context);
  const Pod& first = context.problem.pods[evicted.pods.front()];
  const Gang& gang = context.problem.gangs[first.gang];
  const auto shortest = memory.shortest_runs.find({gang.queue, gang.priority});
  if (shortest == memory.shortest_runs.end() || shortest->second >= evicted.least_seconds) return false;
  const bool is_one_kind = are_alike(context.problem, evicted.pods);
  const Memory::Kind kind{gang.queue, gang.priority, first.pod_class, evicted.first.for_gang, evicted.first.reason};
  const auto failed = memory.failed.find(kind);
  if (is_one_kind && failed != memory.failed.end() && evicted.pods.size() >= failed->second) return false;
  if (exchange_single(context, nominator, evicted, ClaimStage::kPlain) ||
      exchange_single(context, nominator, evicted, ClaimStage::kDisplacing))
    return true;
  if (is_one_kind) memory.failed[kind] = evicted.pods.size();
  return false;
}

}  // namespace

void choose_victims_anew(PreemptionContext& context, NodeNominator& nominator, int most_rounds) {
  MUSTER_REQUIRE(context.problem.snapshot->policy.actions.consolidate);
  std::set<std::int32_t> priorities;
  for (const PlannedEviction& eviction : context.ledger.records()) {
    if (!context.state.is_present(eviction.pod))
      priorities.insert(context.problem.gangs[context.problem.pods[eviction.pod].gang].priority);
  }
  const auto choose = [&](std::int32_t priority) {
    return choose_anew(context, nominator, priority, false) || choose_anew(context, nominator, priority, true);
  };
  for (const std::int32_t priority : priorities) {
    for (int round = 0; round < most_rounds && choose(priority);) ++round;
  }
  context.claim.exchange.reset();
}

void exchange_single_victims(PreemptionContext& context, NodeNominator& nominator) {
  MUSTER_REQUIRE(context.problem.snapshot->policy.actions.consolidate);
  // Another pass may find more if some victims were exchanged, and there was time for all.
  bool again = true;
  for (int pass = 0; pass < kTuning.heuristics.passes && again; ++pass) {
    again = false;
    Memory memory;
    for (const Evicted& evicted : evicted_longest_run_first(context)) {
      if (context.stop.is_due()) {
        again = false;
        break;
      }
      again = exchange_unless_in_vain(context, nominator, evicted, memory) || again;
    }
  }
  context.claim.exchange.reset();
}

}  // namespace muster::preemption
