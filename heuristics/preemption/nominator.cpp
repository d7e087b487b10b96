#include "heuristics/preemption/nominator.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "heuristics/preemption/inputs.h"
#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster::preemption {

bool QueuePreemption::free_queue(const PodClass& pod_class) {
  const Gang& gang = problem_.gangs[claim_.claimant];
  for (FullQueue full = full_queue(pod_class); !full.queue.is_none(); full = full_queue(pod_class)) {
    const auto unit = finder_.cheapest_below(full.queue, full.resource);
    if (!unit) return false;
    ledger_.take(unit->pods);
  }
  return fit::quota(state_, bounds_, gang, claim_.added);
}

// The first queue above the claimant that has no room for what the claim adds; none: all have.
QueuePreemption::FullQueue QueuePreemption::full_queue(const PodClass& pod_class) const {
  const Gang& gang = problem_.gangs[claim_.claimant];
  for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount bound = bounds_.usage[queue][r], added = claim_.added[r];
      if (added > 0 && bound != kNoBound && state_.queues().usage()[queue][r] + added > bound) return {queue, {}};
    }
  }
  const OtherLimitIndex limit = fit::exceeded_limit(state_, bounds_, gang, pod_class);
  if (limit.is_none()) return {};
  const OtherLimit& exceeded = problem_.lists.other_limits[limit];
  return {exceeded.queue, exceeded.resource};
}

bool QueuePreemption::free_min_resources() {
  claim_.added = {};
  while (!check_.min_resources_hold(claim_.claimant)) {
    const auto unit = finder_.cheapest_below(QueueIndex::none(), ResourceIndex::none());
    if (!unit) return false;
    ledger_.take(unit->pods);
  }
  return true;
}

NodeNominator::NodeNominator(const PreemptionInputs& inputs, Claim& claim, const PlacementRanks& ranks,
                             VictimEligibility& eligibility, EvictionLedger& ledger, const PlanCheck& check,
                             StopFlag& stop)
    : in_(inputs),
      state_(inputs.state),
      claim_(claim),
      ranks_(ranks),
      ledger_(ledger),
      stop_(stop),
      losses_(inputs, claim, eligibility),
      finder_(inputs, claim, eligibility, losses_),
      capacity_(inputs, claim, ranks, eligibility),
      ranking_(inputs, claim, eligibility, losses_),
      builder_(inputs, claim, ranks, eligibility, finder_, capacity_),
      index_(inputs, claim, ranks, eligibility, builder_, capacity_, ranking_, stop),
      queue_(inputs, claim, finder_, ledger, check) {}

void NodeNominator::begin_attempt() {
  finder_.unprotect_all();
  lost_ = {};
}

// Puts the pod on a node that is cleared for it, or changes nothing.
bool NodeNominator::clear_for(PodIndex pod, std::span<const NodeIndex> nodes) {
  const auto before = state_.checkpoint();
  const PodClass& pod_class = in_.problem.class_of(pod);
  claim_.added = {pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]};
  // Moves cannot help if not even the total of what is free is enough.
  if (claim_.mode == PreemptionMode::kConsolidate && !ranks_.any_after(claim_.rank) && !fits_total(state_, pod_class))
    return false;
  if (!claim_.exchange && !queue_.free_queue(pod_class)) {
    state_.rollback(before);
    return false;
  }
  const bool has_cleared = claim_.stage == ClaimStage::kDisplacing ? clear_displacing(pod, nodes)
                           : claim_.evicts() && !can_any_move()    ? clear_cheapest(pod, nodes)
                                                                   : clear_any(pod, nodes);
  if (!has_cleared) state_.rollback(before);
  return has_cleared;
}

// Whether any victim could fit on a node other than its own. What its own node has left next to the claimant's pod does
// not help: a victim that fits there stays.
bool NodeNominator::can_any_move() const {
  return in_.problem.snapshot->policy.actions.consolidate &&
         std::ranges::any_of(in_.rules.survey().running_classes,
                             [&](PodClassIndex index) { return fits_total(state_, in_.problem.pod_classes[index]); });
}

// No pod can be moved, so the cheapest candidate is exact.
bool NodeNominator::clear_cheapest(PodIndex pod, std::span<const NodeIndex> nodes) {
  CandidateShortlist cheapest(1);
  index_.scan_cheapest(pod, nodes, cheapest);
  if (stop_.is_raised() || cheapest.is_empty()) return false;
  return commit(pod, *cheapest.in_order().front()) || clear_any(pod, nodes);
}

// The cheapest few, in the order of their cost once all movable victims are moved.
bool NodeNominator::clear_any(PodIndex pod, std::span<const NodeIndex> nodes) {
  const PodClass& pod_class = in_.problem.class_of(pod);
  // Moves cost less than whatever else there is.
  if (claim_.mode == PreemptionMode::kConsolidate && !pod_class.has_inter_pod_rules()) {
    CandidateShortlist by_moves(kTuning.heuristics.tried);
    index_.scan_by_moves(pod, nodes, by_moves);
    if (stop_.is_raised()) return false;
    if (clear_first(pod, by_moves.in_order())) return true;
    if (!ranks_.any_after(claim_.rank)) return false;
    CandidateShortlist by_moves_and_swaps(kTuning.heuristics.tried);
    index_.scan_by_moves_and_swaps(pod, nodes, by_moves_and_swaps);
    return !stop_.is_raised() && clear_first(pod, by_moves_and_swaps.in_order());
  }
  CandidateShortlist few(kTuning.heuristics.tried);
  if (!claim_.evicts()) {
    index_.scan(pod, nodes, few);
    return !stop_.is_raised() && clear_first(pod, few.in_order());
  }
  losses_.find();
  index_.scan_promising(pod, nodes, few);
  if (stop_.is_raised()) return false;
  return clear_first(pod, can_any_move() ? in_order_with_moves(pod, few.in_order()) : few.in_order());
}

bool NodeNominator::clear_first(PodIndex pod, const std::vector<const NodeCandidate*>& candidates) {
  return std::ranges::any_of(candidates, [&](const NodeCandidate* candidate) { return commit(pod, *candidate); });
}

std::vector<const NodeCandidate*> NodeNominator::in_order_with_moves(PodIndex pod,
                                                                     std::vector<const NodeCandidate*> candidates) {
  std::vector<std::pair<VictimCost, const NodeCandidate*>> ranked;
  for (const NodeCandidate* candidate : candidates) ranked.emplace_back(cost_with_moves(pod, *candidate), candidate);
  std::ranges::stable_sort(ranked, {}, &std::pair<VictimCost, const NodeCandidate*>::first);
  for (std::size_t i = 0; i < ranked.size(); ++i) candidates[i] = ranked[i].second;
  return candidates;
}

// The cost of the candidate if victims that fit elsewhere are moved there.
VictimCost NodeNominator::cost_with_moves(PodIndex pod, const NodeCandidate& candidate) {
  const auto before = ledger_.checkpoint();
  for (const VictimUnit& unit : candidate.victims) ledger_.take(unit.pods);
  state_.put(pod, candidate.node, in_.chooser.devices_for(pod, candidate.node));
  VictimCost cost;
  for (const VictimUnit& unit : candidate.victims) {
    if (!relocate(unit)) {
      cost.add(unit.cost);
    } else {
      for (const PodIndex p : unit.pods) cost.moved += in_.problem.pods[p].weighted_work;
    }
  }
  ledger_.rollback(before);
  index_.refresh(candidate.node);
  return cost;
}

// Takes the victims, puts the pod on the node, and relocates those that may only be moved; or changes nothing.
bool NodeNominator::commit(PodIndex pod, const NodeCandidate& candidate) {
  const auto before = state_.checkpoint();
  const VictimCost lost_before = lost_;
  const bool displaces = claim_.stage == ClaimStage::kDisplacing;
  if (displaces) finder_.unprotect_all();
  if (!budgets_allow(state_, candidate)) return false;
  for (const VictimUnit& unit : candidate.victims) {
    ledger_.take(unit.pods);
    if (!unit.must_move) lost_.add(unit.cost);
    if (displaces && unit.must_move) finder_.protect(in_.problem.pods[unit.pods.front()].gang);
  }
  // A cached candidate may have been invalidated by placements elsewhere: anti-affinity, a queue's bounds.
  bool moved = can_place(state_, in_.bounds, pod, candidate.node);
  if (moved) {
    state_.put(pod, candidate.node, in_.chooser.devices_for(pod, candidate.node));
    moved = std::ranges::all_of(candidate.victims,
                                [&](const VictimUnit& unit) { return !unit.must_move || relocate(unit); });
  }
  if (!moved) {
    state_.rollback(before);
    lost_ = lost_before;
  }
  return moved;
}

// Relocates victims: all of them or none. Large ones first. If only moves are allowed, pods that have been placed for
// later levels give way.
bool NodeNominator::relocate(const VictimUnit& unit) {
  if (!ledger_.may_move_more(unit.pods.size())) return false;
  const auto before = state_.checkpoint();
  std::vector<PodIndex> pods = unit.pods;
  std::ranges::stable_sort(pods, std::greater<>{}, [&](PodIndex pod) { return in_.problem.class_of(pod).work; });
  using Nodes = std::span<const NodeIndex>;
  const auto swap = [this](PodIndex pod, Nodes nodes) { return clear_by_swap(pod, nodes); };
  const auto displace = [this](PodIndex pod, Nodes nodes) { return clear_for_displaced(pod, nodes); };
  auto clear =
      in_.placer.exchange_clear(claim_.stage == ClaimStage::kDisplacing ? placement::GangPlacer::Clear(displace)
                                : unit.must_move                        ? placement::GangPlacer::Clear(swap)
                                                                        : nullptr);
  const bool moved =
      std::ranges::all_of(pods, [&](PodIndex pod) { return state_.is_present(pod) || in_.placer.place_pod(pod); });
  in_.placer.exchange_clear(std::move(clear));
  if (!moved) state_.rollback(before);
  return moved;
}

bool NodeNominator::clear_by_swap(PodIndex pod, std::span<const NodeIndex> nodes) {
  const PreemptionMode mode = std::exchange(claim_.mode, PreemptionMode::kSwap);
  const bool cleared = ranks_.any_after(claim_.rank) && clear_for(pod, nodes);
  claim_.mode = mode;
  return cleared;
}

bool NodeNominator::clear_displacing(PodIndex pod, std::span<const NodeIndex> nodes) {
  losses_.find();
  return !losses_.of_queues().empty() && clear_promising(pod, nodes);
}

// Room for a displaced pod: other victims are evicted for the claimant.
bool NodeNominator::clear_for_displaced(PodIndex pod, std::span<const NodeIndex> nodes) {
  const QueueAmounts added = std::exchange(claim_.added, {});  // the claimant's pod is placed
  claim_.stage = ClaimStage::kPlacingDisplaced;
  const bool is_cleared = clear_promising(pod, nodes);
  claim_.stage = ClaimStage::kDisplacing;
  claim_.added = added;
  return is_cleared;
}

bool NodeNominator::clear_promising(PodIndex pod, std::span<const NodeIndex> nodes) {
  capacity_.begin_scan();
  std::vector<NodeCandidate> candidates;
  for (const NodeIndex node : ranking_.by_promise(pod, nodes)) {
    if (auto candidate = builder_.candidate(pod, node)) candidates.push_back(*std::move(candidate));
    if (candidates.size() == kTuning.heuristics.enough) break;
  }
  std::ranges::stable_sort(candidates, {}, &NodeCandidate::cost);
  return std::ranges::any_of(candidates, [&](const NodeCandidate& candidate) { return commit(pod, candidate); });
}

}  // namespace muster::preemption
