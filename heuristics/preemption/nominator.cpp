#include "heuristics/preemption/nominator.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster::preemption {

namespace {

struct FullQueue {
  QueueIndex queue;        // none: all have room
  ResourceIndex resource;  // whose limit it is at; none: gpu, cpu or memory
};

// The first queue above the claimant that has no room for what the claim adds.
FullQueue full_queue(const PreemptionContext& context, const Claim& claim, const PodClass& pod_class) {
  const Gang& gang = context.problem.gangs[claim.claimant];
  for (const QueueIndex queue : context.problem.queues[gang.queue].ancestors) {
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount bound = context.bounds.usage[queue][r], added = claim.added[r];
      if (added > 0 && bound != kNoBound && context.state.queues().usage()[queue][r] + added > bound)
        return {queue, {}};
    }
  }
  const OtherLimitIndex limit = fit::exceeded_limit(context.state, context.bounds, gang, pod_class);
  if (limit.is_none()) return {};
  const OtherLimit& exceeded = context.problem.lists.other_limits[limit];
  return {exceeded.queue, exceeded.resource};
}

}  // namespace

bool free_queue(PreemptionContext& context, const Claim& claim, const PodClass& pod_class) {
  const auto full = [&] { return full_queue(context, claim, pod_class); };
  for (FullQueue at = full(); !at.queue.is_none(); at = full()) {
    const auto unit = cheapest_below(context, claim, at.queue, at.resource);
    if (!unit) return false;
    context.ledger.take(unit->pods, claim);
  }
  return fit::quota(context.state, context.bounds, context.problem.gangs[claim.claimant], claim.added);
}

bool free_min_resources(PreemptionContext& context, const Claim& claim) {
  while (!context.min_resources_hold(claim.claimant)) {
    const auto unit = cheapest_below(context, claim, QueueIndex::none(), ResourceIndex::none());
    if (!unit) return false;
    context.ledger.take(unit->pods, claim);
  }
  return true;
}

// Puts the pod on a node that is cleared for it, or changes nothing.
bool NodeNominator::clear_for(Claim claim, PodIndex pod, Nodes nodes) {
  const PodClass& pod_class = context_.problem.class_of(pod);
  claim.added = {pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]};
  // Moves cannot help if not even the total of what is free is enough.
  if (claim.mode == PreemptionMode::kConsolidate && !context_.ranks.any_after(claim.rank) &&
      !fits_total(state_, pod_class))
    return false;
  const auto before = state_.checkpoint();
  if (claim.exchange || free_queue(context_, claim, pod_class)) {
    const bool is_cheapest_exact = claim.stage != ClaimStage::kDisplacing && claim.evicts() && !can_any_move();
    if (is_cheapest_exact ? clear_cheapest(claim, pod, nodes) : clear_any(claim, pod, nodes)) return true;
  }
  state_.rollback(before);
  return false;
}

// Whether any victim could fit on a node other than its own. What its own node has left next to the claimant's pod does
// not help: a victim that fits there stays.
bool NodeNominator::can_any_move() const {
  return context_.problem.snapshot->policy.actions.consolidate &&
         std::ranges::any_of(context_.rules.survey().running_classes, [&](PodClassIndex index) {
           return fits_total(state_, context_.problem.pod_classes[index]);
         });
}

// No pod can be moved, so the cheapest candidate is exact.
bool NodeNominator::clear_cheapest(const Claim& claim, PodIndex pod, Nodes nodes) {
  CandidateShortlist cheapest(1);
  index_.scan_cheapest(claim, pod, nodes, cheapest);
  if (context_.stop.is_raised() || cheapest.is_empty()) return false;
  return clear_first(claim, pod, cheapest) || clear_any(claim, pod, nodes);
}

// The cheapest few, in the order of their cost once all movable victims are moved.
bool NodeNominator::clear_any(Claim claim, PodIndex pod, Nodes nodes) {
  // Moves cost less than whatever else there is.
  if (claim.mode == PreemptionMode::kConsolidate && !context_.problem.class_of(pod).has_inter_pod_rules()) {
    CandidateShortlist by_moves(kTuning.heuristics.tried);
    index_.scan_by_moves(claim, pod, nodes, by_moves);
    if (context_.stop.is_raised()) return false;
    if (clear_first(claim, pod, by_moves)) return true;
    if (!context_.ranks.any_after(claim.rank)) return false;
    CandidateShortlist by_moves_and_swaps(kTuning.heuristics.tried);
    index_.scan_by_moves_and_swaps(claim, pod, nodes, by_moves_and_swaps);
    return clear_first(claim, pod, by_moves_and_swaps);
  }
  CandidateShortlist few(kTuning.heuristics.tried);
  if (!claim.evicts()) {
    index_.scan(claim, pod, nodes, few);
    return clear_first(claim, pod, few);
  }
  claim.least_losses = least_losses(context_, claim);
  if (claim.stage == ClaimStage::kDisplacing) return !claim.least_losses.empty() && clear_promising(claim, pod, nodes);
  index_.scan_promising(claim, pod, nodes, few);
  if (context_.stop.is_raised() || !can_any_move()) return clear_first(claim, pod, few);
  return std::ranges::any_of(in_order_with_moves(claim, pod, few.in_order()),
                             [&](const NodeCandidate* candidate) { return commit(claim, pod, *candidate); });
}

bool NodeNominator::clear_first(const Claim& claim, PodIndex pod, const CandidateShortlist& shortlist) {
  return !context_.stop.is_raised() && std::ranges::any_of(shortlist.in_order(), [&](const NodeCandidate* candidate) {
    return commit(claim, pod, *candidate);
  });
}

bool NodeNominator::clear_promising(const Claim& claim, PodIndex pod, Nodes nodes) {
  return std::ranges::any_of(index_.promising_once(claim, pod, nodes),
                             [&](const NodeCandidate& candidate) { return commit(claim, pod, candidate); });
}

std::vector<const NodeCandidate*> NodeNominator::in_order_with_moves(const Claim& claim, PodIndex pod,
                                                                     std::vector<const NodeCandidate*> candidates) {
  std::vector<std::pair<VictimCost, const NodeCandidate*>> ranked;
  for (const NodeCandidate* one : candidates) ranked.emplace_back(cost_with_moves(claim, pod, *one), one);
  std::ranges::stable_sort(ranked, {}, &std::pair<VictimCost, const NodeCandidate*>::first);
  for (std::size_t i = 0; i < ranked.size(); ++i) candidates[i] = ranked[i].second;
  return candidates;
}

// The cost of the candidate if victims that fit elsewhere are moved there.
VictimCost NodeNominator::cost_with_moves(const Claim& claim, PodIndex pod, const NodeCandidate& candidate) {
  const auto before = context_.ledger.checkpoint();
  for (const VictimUnit& unit : candidate.victims) context_.ledger.take(unit.pods, claim);
  state_.put(pod, candidate.node, context_.placer.chooser().devices_for(pod, candidate.node));
  VictimCost cost;
  for (const VictimUnit& unit : candidate.victims) {
    if (!relocate(claim, unit)) {
      cost.add(unit.cost);
    } else {
      for (const PodIndex p : unit.pods) cost.moved += context_.problem.pods[p].weighted_work;
    }
  }
  context_.ledger.rollback(before);
  index_.refresh(candidate.node);
  return cost;
}

// Takes the victims, puts the pod on the node, and relocates those that may only be moved; or changes nothing.
bool NodeNominator::commit(const Claim& claim, PodIndex pod, const NodeCandidate& candidate) {
  if (!budgets_allow(state_, candidate)) return false;
  const auto before = state_.checkpoint();
  const VictimCost lost_before = lost_;
  const bool displaces = claim.stage == ClaimStage::kDisplacing;
  Claim moving = claim;
  for (const VictimUnit& unit : candidate.victims) {
    context_.ledger.take(unit.pods, claim);
    if (!unit.must_move) lost_.add(unit.cost);
    if (displaces && unit.must_move) moving.relocating.push_back(context_.problem.pods[unit.pods.front()].gang);
  }
  // A cached candidate may have been invalidated by placements elsewhere: anti-affinity, a queue's bounds.
  bool moved = can_place(state_, context_.bounds, pod, candidate.node);
  if (moved) {
    state_.put(pod, candidate.node, context_.placer.chooser().devices_for(pod, candidate.node));
    moved = std::ranges::all_of(candidate.victims,
                                [&](const VictimUnit& unit) { return !unit.must_move || relocate(moving, unit); });
  }
  if (!moved) {
    state_.rollback(before);
    lost_ = lost_before;
  }
  return moved;
}

// Relocates victims: all of them or none. Large ones first. Room for a displaced pod is made by other victims that are
// evicted for the claimant; if only moves are allowed, pods that have been placed for later levels give way.
bool NodeNominator::relocate(const Claim& claim, const VictimUnit& unit) {
  if (!context_.ledger.may_move_more(unit.pods.size())) return false;
  const auto before = state_.checkpoint();
  std::vector<PodIndex> pods = unit.pods;
  std::ranges::stable_sort(pods, std::greater<>{}, [&](PodIndex pod) { return context_.problem.class_of(pod).work; });
  Claim making_room = claim;
  placement::GangPlacer::Clear clear;
  if (claim.stage == ClaimStage::kDisplacing) {
    making_room.stage = ClaimStage::kPlacingDisplaced;
    making_room.added = {};  // the claimant's pod is placed
    clear = [&](PodIndex pod, Nodes nodes) { return clear_promising(making_room, pod, nodes); };
  } else if (unit.must_move && context_.ranks.any_after(claim.rank)) {
    making_room.mode = PreemptionMode::kSwap;
    clear = [&](PodIndex pod, Nodes nodes) { return clear_for(making_room, pod, nodes); };
  }
  clear = context_.placer.exchange_clear(std::move(clear));
  const bool moved =
      std::ranges::all_of(pods, [&](PodIndex p) { return state_.is_present(p) || context_.placer.place_pod(p); });
  context_.placer.exchange_clear(std::move(clear));
  if (!moved) state_.rollback(before);
  return moved;
}

}  // namespace muster::preemption
