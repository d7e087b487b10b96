#include "heuristics/preemption/candidate_capacity.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::preemption {

namespace {

constexpr auto kOfAll = std::numeric_limits<std::uint64_t>::max();  // key of what is valid for all scans of the table

}  // namespace

ClearableCapacity::ClearableCapacity(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks,
                                     VictimEligibility& eligibility)
    : problem_(inputs.problem),
      state_(inputs.state),
      rules_(inputs.rules),
      claim_(claim),
      ranks_(ranks),
      eligibility_(eligibility),
      relocation_(problem_.pod_classes.size()),
      recently_touched_(problem_.nodes.size()) {}

void ClearableCapacity::begin_scan() {
  eligibility_.begin_scan();
  if (claim_.mode == PreemptionMode::kSwap) return;
  ++scans_;
  Eligible eligible = eligible_in_scan();
  of_scan_ = &of_one_scan_;
  if (eligible.empty()) return;
  if (kept_.size() == kTuning.heuristics.kept && !kept_.contains(eligible)) kept_.clear();
  of_scan_ = &kept_[std::move(eligible)];
  of_scan_->keep();
}

bool ClearableCapacity::may_move_victims() const {
  return claim_.stage != ClaimStage::kPlacingDisplaced && problem_.snapshot->policy.actions.consolidate;
}

// All that decides which pods may be evicted or moved on a node in this scan, except what is on that node. Empty if it
// depends on more, or takes longer to find than what it saves.
ClearableCapacity::Eligible ClearableCapacity::eligible_in_scan() {
  const auto& classes = rules_.survey().running_classes;
  if (claim_.exchange || claim_.stage == ClaimStage::kDisplacing || classes.size() > problem_.nodes.size()) return {};
  const Gang& claimant = problem_.gangs[claim_.claimant];
  const bool is_new = eligibility_.is_claimant_new(), evicts = claim_.evicts();
  const bool is_anyone = is_new && !(evicts && rules_.price().is_set());
  Eligible eligible{static_cast<std::int64_t>(claim_.mode), static_cast<std::int64_t>(claim_.stage),
                    is_anyone ? -1 : static_cast<std::int64_t>(claim_.claimant.value())};
  if (evicts) {  // of moved pods, all claimants may move the same
    eligible.insert(eligible.end(), {static_cast<std::int64_t>(claimant.queue.value()), claimant.priority,
                                     static_cast<std::int64_t>(claimant.preemption_policy)});
    for (const auto& [queue, gang] : rules_.survey().runs_in)
      eligible.push_back(eligibility_.may_reclaim_in_scan(queue, gang) ? 1 : 0);
  }
  if (!may_move_victims()) return eligible;
  for (const PodClassIndex pod_class : classes) eligible.push_back(could_relocate(pod_class) ? 1 : 0);
  return eligible;
}

ClearableCapacity::Answer ClearableCapacity::could_take(PodIndex pod, NodeIndex node) {
  MUSTER_REQUIRE_SLOW(scans_ > 0 || claim_.mode == PreemptionMode::kSwap);
  const PodClass& pod_class = problem_.class_of(pod);
  const bool swaps = claim_.mode == PreemptionMode::kSwap;
  const CapacityTable::Entry& cleared = swaps ? after_swap(node) : after_victims(node);
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

bool ClearableCapacity::may_any_give_way(NodeIndex node) {
  MUSTER_REQUIRE(claim_.stage != ClaimStage::kDisplacing);
  return ranks_.any_after(claim_.rank) && after_swap(node).any_leaves;
}

// What is free on the node once the pods that may give way have left.
const CapacityTable::Entry& ClearableCapacity::after_swap(NodeIndex node) {
  if (!of_swap_.is_begun()) of_swap_.begin(state_);
  CapacityTable::Entry& known = of_swap_.entry(node);
  const bool displaces = claim_.stage == ClaimStage::kDisplacing;
  // Without placed pods, only running ones that are displaced could leave.
  if (known.node_version == state_.version(node) &&
      (known.key == claim_.attempt || (known.key == kOfAll && !displaces)))
    return known;
  const auto leaves = [&](PodIndex pod) {
    return (displaces && eligibility_.may_be_displaced(pod)) ||
           (fit::is_pending(problem_.pods[pod]) && eligibility_.may_give_way(pod));
  };
  fill(node, of_swap_, leaves, [](PodIndex) { return true; });
  known.key = displaces || known.any_placed ? claim_.attempt : kOfAll;
  return known;
}

// What is free on the node once all eligible victims have left. Also, in total, what is free once all have left except
// those that may only be moved and currently fit on no node.
const CapacityTable::Entry& ClearableCapacity::after_victims(NodeIndex node) {
  CapacityTable& table = *of_scan_;
  if (!table.is_begun()) table.begin(state_);
  CapacityTable::Entry& known = table.entry(node);
  // Which placed pods give way depends on more than the table does.
  if (known.node_version == state_.version(node) && (known.key == scans_ || known.key == kOfAll)) return known;
  const bool may_move = may_move_victims(), displaces = claim_.stage == ClaimStage::kDisplacing;
  const bool may_evict = claim_.evicts() || claim_.exchange.has_value();
  bool goes = false;
  const auto leaves = [&](PodIndex pod) {
    const bool is_new = fit::is_pending(problem_.pods[pod]);
    goes = (displaces && eligibility_.may_be_displaced(pod)) ||
           (is_new ? eligibility_.may_give_way(pod) : may_evict && eligibility_.may_evict_at_first(pod));
    if (goes || !may_move) return goes;
    return is_new ? claim_.exchange.has_value()
                  : problem_.gangs[problem_.pods[pod].gang].preemptible && !problem_.disruption_budgets.is_pinned(pod);
  };
  fill(node, table, leaves, [&](PodIndex pod) { return goes || could_relocate(problem_.pods[pod].pod_class); });
  known.key = table.is_kept() && !known.any_placed ? kOfAll : scans_;
  return known;
}

// Of the pods on the node, adds what those hold that leave; of these, those that `counts` are also added to what is
// left. The claimant's pods stay.
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
    if (problem_.pods[other].gang == claim_.claimant || !leaves(other)) continue;
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
bool ClearableCapacity::could_relocate(PodClassIndex index) {
  Relocation& known = relocation_[index];
  if (known.scan == scans_) return known.is_possible;
  known.scan = scans_;
  const PodClass& pod_class = problem_.pod_classes[index];
  const auto try_witness = [&](NodeIndex node) {
    known.witness = node;
    known.is_possible = is_target(node, pod_class);
    return known.is_possible;
  };
  known.is_possible = !known.witness.is_none() && is_target(known.witness, pod_class);
  const std::int32_t rank = ranks_.any_after(claim_.rank) ? claim_.rank : -1;
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

bool ClearableCapacity::is_target(NodeIndex node, const PodClass& pod_class) {
  const bool may_swap = ranks_.any_after(claim_.rank);
  const std::int32_t whole_devices = pod_class.gpu.kind == GpuRequestKind::kWhole ? pod_class.gpu.devices : 0;
  if (!may_swap && state_.idle_devices(node) < whole_devices) return false;
  if (!fit::node(problem_, pod_class, node)) return false;
  if (may_swap) after_swap(node);
  const Room room = may_swap ? of_swap_.room(node) : room_of(state_, node);
  return fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node);
}

}  // namespace muster::preemption
