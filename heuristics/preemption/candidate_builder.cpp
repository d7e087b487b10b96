#include "heuristics/preemption/candidate_builder.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::preemption {

namespace {

constexpr auto kOfAll = std::numeric_limits<std::uint64_t>::max();  // key of what is valid for all scans of the table

}  // namespace

ClearableCapacity::ClearableCapacity(const PreemptionContext& context)
    : context_(context),
      problem_(context.problem),
      state_(context.state),
      relocation_(problem_.pod_classes.size()),
      recently_touched_(problem_.nodes.size()) {}

void ClearableCapacity::begin_scan(const Claim& claim) {
  if (claim.mode == PreemptionMode::kSwap) return;
  if (claim.mode == PreemptionMode::kReclaim && !claim.exchange) {
    may_reclaim_.assign(problem_.queues.size(), false);
    for (const auto& [queue, gang] : context_.rules.survey().runs_in)
      may_reclaim_[queue.value()] = may_reclaim(context_, claim, gang);
  }
  ++scans_;
  Eligible eligible = eligible_in_scan(claim);
  of_scan_ = &of_one_scan_;
  if (eligible.empty()) return;
  if (kept_.size() == kTuning.heuristics.kept && !kept_.contains(eligible)) kept_.clear();
  of_scan_ = &kept_[std::move(eligible)];
  of_scan_->keep();
}

bool ClearableCapacity::may_evict_at_first(const Claim& claim, PodIndex pod) const {
  return may_evict_if_reclaimed(context_, claim, pod) &&
         (claim.exchange || claim.mode != PreemptionMode::kReclaim ||
          may_reclaim_at_first(problem_.gangs[problem_.pods[pod].gang].queue));
}

bool ClearableCapacity::may_move_victims(const Claim& claim) const {
  return claim.stage != ClaimStage::kPlacingDisplaced && problem_.snapshot->policy.actions.consolidate;
}

// All that decides which pods may be evicted or moved on a node in this scan, except what is on that node. Empty if it
// depends on more, or takes longer to find than what it saves.
ClearableCapacity::Eligible ClearableCapacity::eligible_in_scan(const Claim& claim) {
  const auto& classes = context_.rules.survey().running_classes;
  if (claim.exchange || claim.stage == ClaimStage::kDisplacing || classes.size() > problem_.nodes.size()) return {};
  const Gang& claimant = problem_.gangs[claim.claimant];
  const bool is_new = is_claimant_new(context_, claim), evicts = claim.evicts();
  const bool is_anyone = is_new && !(evicts && context_.rules.price().is_set());
  Eligible eligible{static_cast<std::int64_t>(claim.mode), static_cast<std::int64_t>(claim.stage),
                    is_anyone ? -1 : static_cast<std::int64_t>(claim.claimant.value())};
  if (evicts) {  // of moved pods, all claimants may move the same
    eligible.insert(eligible.end(), {static_cast<std::int64_t>(claimant.queue.value()), claimant.priority,
                                     static_cast<std::int64_t>(claimant.preemption_policy)});
    for (const auto& [queue, gang] : context_.rules.survey().runs_in)
      eligible.push_back(claim.mode == PreemptionMode::kReclaim && may_reclaim_at_first(queue) ? 1 : 0);
  }
  if (!may_move_victims(claim)) return eligible;
  for (const PodClassIndex pod_class : classes) eligible.push_back(could_relocate(claim, pod_class) ? 1 : 0);
  return eligible;
}

ClearableCapacity::Answer ClearableCapacity::could_take(const Claim& claim, PodIndex pod, NodeIndex node) {
  MUSTER_REQUIRE_SLOW(scans_ > 0 || claim.mode == PreemptionMode::kSwap);
  const PodClass& pod_class = problem_.class_of(pod);
  const bool swaps = claim.mode == PreemptionMode::kSwap;
  const CapacityTable::Entry& cleared = swaps ? after_swap(claim, node) : after_victims(claim, node);
  CapacityTable& table = swaps ? of_swap_ : *of_scan_;
  const Room room = table.room(node);
  if (!fit::capacity(room, pod_class) || !fit::devices(room, problem_, pod_class, node)) return Answer::kTooSmall;
  if (!cleared.any_leaves) return Answer::kNoVictims;
  if (swaps) return Answer::kFits;
  const DeviceUnits units =
      pod_class.gpu.devices > 0 ? pod_class.gpu.devices * share_units(pod_class, problem_.class_of(node)) : 0;
  const bool is_enough =
      fit::capacity({table.left(node), {}}, pod_class) && (units == 0 || units <= cleared.devices_left);
  return is_enough ? Answer::kFits : Answer::kTooSmall;
}

bool ClearableCapacity::may_any_give_way(const Claim& claim, NodeIndex node) {
  MUSTER_REQUIRE(claim.stage != ClaimStage::kDisplacing);
  return context_.ranks.any_after(claim.rank) && after_swap(claim, node).any_leaves;
}

// What is free on the node once the pods that may give way have left.
const CapacityTable::Entry& ClearableCapacity::after_swap(const Claim& claim, NodeIndex node) {
  if (!of_swap_.is_begun()) of_swap_.begin(state_);
  CapacityTable::Entry& known = of_swap_.entry(node);
  const bool displaces = claim.stage == ClaimStage::kDisplacing;
  // Without placed pods, only running ones that are displaced could leave.
  if (known.node_version == state_.version(node) && (known.key == claim.attempt || (known.key == kOfAll && !displaces)))
    return known;
  const auto leaves = [&](PodIndex pod) {
    return (displaces && may_be_displaced(context_, claim, pod)) ||
           (fit::is_pending(problem_.pods[pod]) && context_.ranks.may_give_way(pod, claim));
  };
  fill(node, of_swap_, leaves, [](PodIndex) { return true; });
  known.key = displaces || known.any_placed ? claim.attempt : kOfAll;
  return known;
}

// What is free on the node once all eligible victims have left. Also, in total, what is free once all have left except
// those that may only be moved and currently fit on no node.
const CapacityTable::Entry& ClearableCapacity::after_victims(const Claim& claim, NodeIndex node) {
  CapacityTable& table = *of_scan_;
  if (!table.is_begun()) table.begin(state_);
  CapacityTable::Entry& known = table.entry(node);
  // Which placed pods give way depends on more than the table does.
  if (known.node_version == state_.version(node) && (known.key == scans_ || known.key == kOfAll)) return known;
  const bool may_move = may_move_victims(claim), displaces = claim.stage == ClaimStage::kDisplacing;
  const bool may_evict = claim.evicts() || claim.exchange.has_value();
  bool goes = false;
  const auto leaves = [&](PodIndex pod) {
    if (problem_.pods[pod].gang == claim.claimant) return false;
    const bool is_new = fit::is_pending(problem_.pods[pod]);
    goes = (displaces && may_be_displaced(context_, claim, pod)) ||
           (is_new ? context_.ranks.may_give_way(pod, claim) : may_evict && may_evict_at_first(claim, pod));
    if (goes || !may_move) return goes;
    return is_new ? claim.exchange.has_value()
                  : problem_.gangs[problem_.pods[pod].gang].preemptible && !problem_.disruption_budgets.is_pinned(pod);
  };
  fill(node, table, leaves, [&](PodIndex pod) { return goes || could_relocate(claim, problem_.pods[pod].pod_class); });
  known.key = table.is_kept() && !known.any_placed ? kOfAll : scans_;
  return known;
}

// Of the pods on the node, adds what those hold that leave; of these, those that `counts` are also added to what is
// left.
template <class Leaves, class Counts>
void ClearableCapacity::fill(NodeIndex node, CapacityTable& table, const Leaves& leaves, const Counts& counts) {
  CapacityTable::Entry& entry = table.entry(node);
  entry.node_version = state_.version(node);
  entry.any_leaves = entry.any_placed = false;
  entry.devices_left = 0;
  const std::span free = table.free(node), left = table.left(node);
  const std::span devices = table.devices(node);
  std::ranges::copy(state_.free(node), free.begin());
  std::ranges::copy(state_.free(node), left.begin());
  std::ranges::copy(state_.free_devices(node), devices.begin());
  for (const DeviceUnits units : state_.free_devices(node)) entry.devices_left += units;
  for (const PodIndex other : state_.pods_on(node)) {
    entry.any_placed = entry.any_placed || fit::is_pending(problem_.pods[other]);
    if (!leaves(other)) continue;
    entry.any_leaves = true;
    const PodClass& other_class = problem_.class_of(other);
    const auto& held = state_.place_of(other).devices;
    const DeviceUnits units = held.empty() ? 0 : share_units(other_class, problem_.class_of(node));
    for (std::size_t r = 0; r < free.size(); ++r) free[r] += other_class.request[r];
    for (const std::int32_t device : held) devices[static_cast<std::size_t>(device)] += units;
    if (!counts(other)) continue;
    for (std::size_t r = 0; r < left.size(); ++r) left[r] += other_class.request[r];
    entry.devices_left += units * static_cast<DeviceUnits>(held.size());
  }
}

// Whether some node has room for a pod of the class, in the current state or once the pods that may give way have left.
bool ClearableCapacity::could_relocate(const Claim& claim, PodClassIndex index) {
  Relocation& known = relocation_[index];
  if (known.scan == scans_) return known.is_possible;
  known.scan = scans_;
  const PodClass& pod_class = problem_.pod_classes[index];
  const auto try_witness = [&](NodeIndex node) {
    known.witness = node;
    known.is_possible = is_target(claim, node, pod_class);
    return known.is_possible;
  };
  known.is_possible = !known.witness.is_none() && is_target(claim, known.witness, pod_class);
  const std::int32_t rank = context_.ranks.any_after(claim.rank) ? claim.rank : -1;
  if (!known.is_possible && known.none_until > 0 && known.none_of_rank == rank) {
    // If there was none, only a node that has changed since can be one. (Overlooked: a node where a pod may give way
    // now because the victims of its gang have come back.)
    recently_touched_.read(state_);
    recently_touched_.any_since(known.none_until - 1, try_witness);
  } else if (!known.is_possible) {
    for (std::size_t node = 0; node < problem_.nodes.size() && !try_witness(NodeIndex(node)); ++node) {
    }
  }
  known.none_until = known.is_possible ? 0 : state_.changes().touched().size() + 1;
  known.none_of_rank = rank;
  return known.is_possible;
}

bool ClearableCapacity::is_target(const Claim& claim, NodeIndex node, const PodClass& pod_class) {
  const bool may_swap = context_.ranks.any_after(claim.rank);
  const std::int32_t whole_devices = pod_class.gpu.kind == GpuRequestKind::kWhole ? pod_class.gpu.devices : 0;
  if (!may_swap && state_.idle_devices(node) < whole_devices) return false;
  if (!fit::node(problem_, pod_class, node)) return false;
  if (may_swap) after_swap(claim, node);
  const Room room = may_swap ? of_swap_.room(node) : room_of(state_, node);
  return fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node);
}

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

}  // namespace

// With the largest victims first if there is none otherwise, where budgets could be the reason.
template <class Find>
std::optional<NodeCandidate> CandidateBuilder::in_either_order(NodeIndex node, const Find& find) const {
  auto candidate = find(VictimOrder::kCheapestFirst);
  if (candidate || context_.state.budgets().empty() || !has_budgets(context_.state, node)) return candidate;
  return find(VictimOrder::kLargestFirst);
}

std::optional<NodeCandidate> CandidateBuilder::candidate(const Claim& claim, PodIndex pod, NodeIndex node) {
  MUSTER_REQUIRE_SLOW(!context_.state.is_present(pod));
  return in_either_order(node, [&](VictimOrder order) { return candidate(claim, pod, node, order); });
}

std::optional<NodeCandidate> CandidateBuilder::candidate(const Claim& claim, PodIndex pod, NodeIndex node,
                                                         VictimOrder order) {
  const ClearableCapacity::Answer answer = capacity_.could_take(claim, pod, node);
  if (answer == ClearableCapacity::Answer::kTooSmall) return std::nullopt;
  if (claim.mode == PreemptionMode::kConsolidate && !context_.problem.class_of(pod).has_inter_pod_rules() &&
      !capacity_.may_any_give_way(claim, node))
    return by_moves(claim, pod, node, order);
  const bool fits = can_place(context_.state, context_.bounds, pod, node);  // it may be its queue that was in the way
  if (!fits && answer == ClearableCapacity::Answer::kNoVictims) return std::nullopt;
  const auto before = context_.state.checkpoint();
  Taken taken;
  std::optional<NodeCandidate> candidate;
  if (fits || take_until_fits(claim, pod, node, order, taken)) candidate = reprieved(pod, node, std::move(taken));
  context_.state.rollback(before);
  return candidate;
}

// A moved pod leaves by itself, whichever others are moved. Other units may shrink or grow as others leave (surplus
// becomes core), so they are queried again each time.
bool CandidateBuilder::take_until_fits(Claim claim, PodIndex pod, NodeIndex node, VictimOrder order, Taken& taken) {
  ClusterState& state = context_.state;
  const bool displaces = claim.stage == ClaimStage::kDisplacing;
  std::vector<VictimUnit> moves;
  if (claim.mode != PreemptionMode::kSwap && claim.stage == ClaimStage::kPlain &&
      context_.problem.snapshot->policy.actions.consolidate)
    moves = moves_on(context_, claim, node);
  std::ranges::stable_sort(moves, {}, &VictimUnit::cost);
  if (order == VictimOrder::kLargestFirst) std::ranges::reverse(moves);
  auto move = moves.begin();
  const auto next_move = [&]() -> std::optional<VictimUnit> {
    move = std::find_if(move, moves.end(), [&](const VictimUnit& unit) {
      return state.is_present(unit.pods.front()) && state.budgets_allow(unit.pods);
    });
    return move != moves.end() ? std::optional(std::move(*move++)) : std::nullopt;
  };
  // Otherwise pods that may not be evicted may still be moved.
  const bool moves_first = claim.mode == PreemptionMode::kConsolidate;
  do {
    std::optional<VictimUnit> unit = moves_first ? next_move() : next_unit(claim, node, order);
    if (!unit) unit = moves_first ? next_unit(claim, node, order) : next_move();
    if (!unit) return false;
    std::vector<Place> from;
    for (const PodIndex p : unit->pods) from.push_back(state.place_of(p));
    for (const PodIndex p : unit->pods) state.take(p);
    if (displaces && unit->must_move) claim.relocating.push_back(context_.problem.pods[unit->pods.front()].gang);
    taken.units.push_back(*std::move(unit));
    taken.places.push_back(std::move(from));
  } while (!can_place(state, context_.bounds, pod, node));
  return true;
}

std::optional<VictimUnit> CandidateBuilder::next_unit(const Claim& claim, NodeIndex node, VictimOrder order) const {
  const auto work_here = [&](const VictimUnit& unit) {
    Work sum = 0;
    for (const PodIndex p : unit.pods) sum += context_.state.node_of(p) == node ? context_.problem.class_of(p).work : 0;
    return sum;
  };
  std::vector<VictimUnit> units = units_on(context_, claim, node);
  const auto next = order == VictimOrder::kLargestFirst ? std::ranges::max_element(units, {}, work_here)
                                                        : std::ranges::min_element(units, {}, &VictimUnit::cost);
  return next != units.end() ? std::optional(std::move(*next)) : std::nullopt;
}

// Of the units that were taken, those that are needed: the most expensive of the others are put back first. Before the
// last one left, the pod did not fit.
NodeCandidate CandidateBuilder::reprieved(PodIndex pod, NodeIndex node, Taken taken) {
  ClusterState& state = context_.state;
  const auto gang_of = [&](const VictimUnit& unit) { return context_.problem.pods[unit.pods.front()].gang; };
  NodeCandidate candidate;
  candidate.node = node;
  // If the rest of a gang leaves, its surplus has to leave, too.
  const auto is_torn = [&](GangIndex gang) {
    return !is_satisfied(state, gang) && std::ranges::any_of(candidate.victims, [&](const VictimUnit& victim) {
      return !victim.must_move && gang_of(victim) == gang;
    });
  };
  for (std::size_t i = taken.units.size(); i-- > 0;) {
    VictimUnit& unit = taken.units[i];
    const auto here = state.checkpoint();
    bool back = i + 1 < taken.units.size();
    for (std::size_t k = 0; back && k < unit.pods.size(); ++k)
      back = put_back(state, context_.bounds, unit.pods[k], taken.places[i][k]);
    if (back && can_place(state, context_.bounds, pod, node) && !is_torn(gang_of(unit))) continue;
    state.rollback(here);
    candidate.add(std::move(unit));
  }
  return candidate;
}

std::optional<NodeCandidate> CandidateBuilder::candidate_by_moves(const Claim& claim, PodIndex pod,
                                                                  NodeIndex node) const {
  MUSTER_REQUIRE_SLOW(!context_.problem.class_of(pod).has_inter_pod_rules());
  return in_either_order(node, [&](VictimOrder order) { return by_moves(claim, pod, node, order); });
}

// Those that may be moved leave in the order of their work.
std::optional<NodeCandidate> CandidateBuilder::by_moves(const Claim& claim, PodIndex pod, NodeIndex node,
                                                        VictimOrder order) const {
  const Problem& problem = context_.problem;
  const PodClass& pod_class = problem.class_of(pod);
  if (!has_queue_room(context_.state, context_.bounds, problem.gangs[claim.claimant], pod_class, node))
    return std::nullopt;
  std::vector<PodIndex> movable;
  for (const PodIndex other : context_.state.pods_on(node)) {
    const Pod& p = problem.pods[other];
    const bool is_exchanged = claim.exchange && p.gang != claim.claimant && fit::is_pending(p);
    if (may_move(context_, claim, other) || is_exchanged) movable.push_back(other);
  }
  std::ranges::stable_sort(movable, {}, [&](PodIndex other) { return problem.pods[other].weighted_work; });
  if (order == VictimOrder::kLargestFirst) std::ranges::reverse(movable);
  FreeOnNode free(context_.state, node);
  std::vector<PodIndex> gone;
  bool fits = free.fits(pod_class);
  for (const PodIndex other : movable) {
    if (fits) break;
    gone.push_back(other);
    if (!context_.state.budgets_allow(gone)) {
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
    candidate.add(move_of(context_, gone[i]));
  }
  return candidate;
}

}  // namespace muster::preemption
