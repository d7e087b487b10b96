#include "heuristics/preemption/candidate_builder.h"

#include <algorithm>
#include <utility>

#include "heuristics/preemption/put_back.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/require.h"

namespace muster::preemption {

bool budgets_allow(const ClusterState& state, const NodeCandidate& candidate) {
  if (state.budgets().empty()) return true;
  std::vector<PodIndex> pods;
  for (const VictimUnit& unit : candidate.victims) pods.insert(pods.end(), unit.pods.begin(), unit.pods.end());
  return state.budgets_allow(pods);
}

bool has_budgets(const ClusterState& state, NodeIndex node) {
  const auto& budgets = state.problem().disruption_budgets;
  return std::ranges::any_of(state.pods_on(node),
                             [&](PodIndex pod) { return !budgets.of(pod).empty() && !budgets.is_pinned(pod); });
}

namespace {

// What a node has free while victims leave it, without a change of the state.
class FreeOnNode {
 public:
  FreeOnNode(const ClusterState& state, NodeIndex node)
      : state_(state),
        problem_(state.problem()),
        node_(node),
        free_(state.free(node).begin(), state.free(node).end()),
        devices_(state.free_devices(node).begin(), state.free_devices(node).end()) {}

  bool fits(const PodClass& pod_class) const {
    const Room room{free_, devices_};
    return fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node_);
  }
  // A pod that is present there leaves, with sign 1, or comes back, with sign -1.
  void let_go(PodIndex pod, int sign) {
    const PodClass& pod_class = problem_.class_of(pod);
    for (std::size_t r = 0; r < free_.size(); ++r) free_[r] += sign * pod_class.request[r];
    const DeviceList& held = state_.place_of(pod).devices;
    const DeviceUnits units = held.empty() ? 0 : share_units(pod_class, problem_.class_of(node_));
    for (const std::int32_t device : held) devices_[static_cast<std::size_t>(device)] += sign * units;
  }

 private:
  const ClusterState& state_;
  const Problem& problem_;
  NodeIndex node_;
  std::vector<Amount> free_;
  std::vector<DeviceUnits> devices_;
};

// The units that may be moved from a node, in an order, as long as their pods are still there.
class MovesInOrder {
 public:
  MovesInOrder(const ClusterState& state, std::vector<VictimUnit> moves) : state_(state), moves_(std::move(moves)) {}

  // Each at most once; none: there are no more.
  std::optional<VictimUnit> next() {
    while (next_ < moves_.size() && !may_go(moves_[next_])) ++next_;
    return next_ < moves_.size() ? std::optional(std::move(moves_[next_++])) : std::nullopt;
  }

 private:
  bool may_go(const VictimUnit& unit) const {
    return state_.is_present(unit.pods.front()) && state_.budgets_allow(unit.pods);
  }

  const ClusterState& state_;
  std::vector<VictimUnit> moves_;
  std::size_t next_ = 0;
};

}  // namespace

CandidateBuilder::CandidateBuilder(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks,
                                   const VictimEligibility& eligibility, VictimFinder& finder,
                                   ClearableCapacity& capacity)
    : problem_(inputs.problem),
      state_(inputs.state),
      bounds_(inputs.bounds),
      claim_(claim),
      ranks_(ranks),
      eligibility_(eligibility),
      finder_(finder),
      capacity_(capacity) {}

std::optional<NodeCandidate> CandidateBuilder::candidate(PodIndex pod, NodeIndex node) {
  MUSTER_REQUIRE_SLOW(!state_.is_present(pod));
  auto candidate = this->candidate(pod, node, VictimOrder::kCheapestFirst);
  if (candidate || state_.budgets().empty() || !has_budgets(state_, node)) return candidate;
  return this->candidate(pod, node, VictimOrder::kLargestFirst);
}

std::optional<NodeCandidate> CandidateBuilder::candidate(PodIndex pod, NodeIndex node, VictimOrder order) {
  const ClearableCapacity::Answer answer = capacity_.could_take(pod, node);
  if (answer == ClearableCapacity::Answer::kTooSmall) return std::nullopt;
  if (claim_.mode == PreemptionMode::kConsolidate && !problem_.class_of(pod).has_inter_pod_rules() &&
      !capacity_.may_any_give_way(node))
    return candidate_by_moves(pod, node, order);
  if (claim_.stage == ClaimStage::kDisplacing) finder_.unprotect_all();
  const bool fits = can_place(state_, bounds_, pod, node);  // it may be its queue that was in the way
  if (!fits && answer == ClearableCapacity::Answer::kNoVictims) return std::nullopt;
  const auto before = state_.checkpoint();
  Taken taken;
  std::optional<NodeCandidate> candidate;
  if (fits || take_until_fits(pod, node, order, taken)) candidate = reprieved(pod, node, std::move(taken));
  state_.rollback(before);
  return candidate;
}

// A moved pod leaves by itself, whichever others are moved. Other units may shrink or grow as others leave (surplus
// becomes core), so they are queried again each time.
bool CandidateBuilder::take_until_fits(PodIndex pod, NodeIndex node, VictimOrder order, Taken& taken) {
  std::vector<VictimUnit> movable;
  if (claim_.mode != PreemptionMode::kSwap && claim_.stage == ClaimStage::kPlain &&
      problem_.snapshot->policy.actions.consolidate)
    movable = finder_.moves_on(node);
  std::ranges::stable_sort(movable, {}, &VictimUnit::cost);
  if (order == VictimOrder::kLargestFirst) std::ranges::reverse(movable);
  MovesInOrder moves(state_, std::move(movable));
  // Otherwise pods that may not be evicted may still be moved.
  const bool moves_first = claim_.mode == PreemptionMode::kConsolidate;
  do {
    std::optional<VictimUnit> unit = moves_first ? moves.next() : next_unit(node, order);
    if (!unit) unit = moves_first ? next_unit(node, order) : moves.next();
    if (!unit) return false;
    std::vector<Place> from;
    for (const PodIndex p : unit->pods) from.push_back(state_.place_of(p));
    for (const PodIndex p : unit->pods) state_.take(p);
    if (claim_.stage == ClaimStage::kDisplacing && unit->must_move)
      finder_.protect(problem_.pods[unit->pods.front()].gang);
    taken.units.push_back(*std::move(unit));
    taken.places.push_back(std::move(from));
  } while (!can_place(state_, bounds_, pod, node));
  return true;
}

std::optional<VictimUnit> CandidateBuilder::next_unit(NodeIndex node, VictimOrder order) const {
  const auto work_here = [&](const VictimUnit& unit) {
    Work sum = 0;
    for (const PodIndex p : unit.pods) sum += state_.node_of(p) == node ? problem_.class_of(p).work : 0;
    return sum;
  };
  std::vector<VictimUnit> units = finder_.units_on(node);
  const auto next = order == VictimOrder::kLargestFirst ? std::ranges::max_element(units, {}, work_here)
                                                        : std::ranges::min_element(units, {}, &VictimUnit::cost);
  return next != units.end() ? std::optional(std::move(*next)) : std::nullopt;
}

// Of the units that were taken, those that are needed: the most expensive of the others are put back first. Before the
// last one left, the pod did not fit.
NodeCandidate CandidateBuilder::reprieved(PodIndex pod, NodeIndex node, Taken taken) {
  NodeCandidate candidate;
  candidate.node = node;
  // If the rest of a gang leaves, its surplus has to leave, too.
  const auto is_torn = [&](GangIndex gang) {
    return !is_satisfied(state_, gang) && std::ranges::any_of(candidate.victims, [&](const VictimUnit& victim) {
      return !victim.must_move && problem_.pods[victim.pods.front()].gang == gang;
    });
  };
  for (std::size_t i = taken.units.size(); i-- > 0;) {
    VictimUnit& unit = taken.units[i];
    const auto here = state_.checkpoint();
    bool back = i + 1 < taken.units.size();
    for (std::size_t k = 0; back && k < unit.pods.size(); ++k)
      back = put_back(state_, bounds_, unit.pods[k], taken.places[i][k]);
    if (back && can_place(state_, bounds_, pod, node) && !is_torn(problem_.pods[unit.pods.front()].gang)) continue;
    state_.rollback(here);
    candidate.cost.add(unit.cost);
    candidate.victims.push_back(std::move(unit));
  }
  return candidate;
}

std::optional<NodeCandidate> CandidateBuilder::candidate_by_moves(PodIndex pod, NodeIndex node) const {
  MUSTER_REQUIRE_SLOW(!problem_.class_of(pod).has_inter_pod_rules());
  auto candidate = candidate_by_moves(pod, node, VictimOrder::kCheapestFirst);
  if (candidate || state_.budgets().empty() || !has_budgets(state_, node)) return candidate;
  return candidate_by_moves(pod, node, VictimOrder::kLargestFirst);
}

std::optional<NodeCandidate> CandidateBuilder::candidate_by_moves(PodIndex pod, NodeIndex node,
                                                                  VictimOrder order) const {
  const PodClass& pod_class = problem_.class_of(pod);
  const Gang& gang = problem_.gangs[claim_.claimant];
  if (!has_queue_room(state_, bounds_, gang, pod_class, node)) return std::nullopt;
  FreeOnNode free(state_, node);
  std::vector<PodIndex> gone;
  bool fits = free.fits(pod_class);
  for (const PodIndex other : movable_on(node, order)) {
    if (fits) break;
    gone.push_back(other);
    if (!state_.budgets_allow(gone)) {
      gone.pop_back();
      continue;
    }
    free.let_go(other, 1);
    fits = free.fits(pod_class);
  }
  if (!fits) return std::nullopt;
  NodeCandidate candidate;
  candidate.node = node;
  // Victims that turn out not to be needed stay, the last one first. Before the last one left, the pod did not fit.
  for (std::size_t i = gone.size(); i-- > 0;) {
    if (i + 1 < gone.size()) {
      free.let_go(gone[i], -1);
      if (free.fits(pod_class)) continue;
      free.let_go(gone[i], 1);
    }
    VictimUnit unit{{gone[i]}, {}, true};
    unit.cost.moved = problem_.pods[gone[i]].weighted_work;
    candidate.cost.add(unit.cost);
    candidate.victims.push_back(std::move(unit));
  }
  return candidate;
}

// The least work first.
std::vector<PodIndex> CandidateBuilder::movable_on(NodeIndex node, VictimOrder order) const {
  std::vector<PodIndex> movable;
  for (const PodIndex other : state_.pods_on(node)) {
    const bool is_exchanged =
        claim_.exchange && problem_.pods[other].gang != claim_.claimant && fit::is_pending(problem_.pods[other]);
    if (eligibility_.may_move(other) || is_exchanged) movable.push_back(other);
  }
  std::ranges::stable_sort(movable, {}, [&](PodIndex other) { return problem_.pods[other].weighted_work; });
  if (order == VictimOrder::kLargestFirst) std::ranges::reverse(movable);
  return movable;
}

}  // namespace muster::preemption
