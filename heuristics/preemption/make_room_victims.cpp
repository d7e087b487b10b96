// The eligible victims of a claim, the victims that must leave together, and the cost by the levels.
#include <algorithm>
#include <utility>

#include "heuristics/preemption/make_room.h"
#include "model/problem/gang_tree.h"

namespace muster {

namespace {

constexpr std::size_t kMostKeptRooms = 4;       // of all nodes
constexpr std::size_t kMostKnownClasses = 128;  // that each scan checks for whether they could be moved

}  // namespace

// Which pods may be reclaimed, and which fit elsewhere, is determined anew for each scan of the nodes.
void RoomSearch::begin_look() {
  may_take_from_.assign(problem_.queues.size(), -1);
  if (means_ == Means::kSwap) return;
  ++looks_;
  relocation_.resize(problem_.pod_classes.size());
  const std::vector<std::int64_t> who = who_may_go();
  rooms_of_look_ = &cleared_[1];
  if (who.empty()) return;
  if (kept_rooms_.size() == kMostKeptRooms && !kept_rooms_.contains(who)) kept_rooms_.clear();
  rooms_of_look_ = &kept_rooms_[who];
  rooms_of_look_->is_kept = true;
}

// All that decides which pods may be evicted or moved on a node in this scan, except what is on that node. Empty if it
// depends on more.
std::vector<std::int64_t> RoomSearch::who_may_go() {
  const auto& classes = survey().running_classes;
  if (latest_rank_ > rank_ || exchange_ || stage_ == Stage::kDisplacing || classes.size() > kMostKnownClasses)
    return {};
  const Gang& claimant = problem_.gangs[claimant_];
  std::vector<std::int64_t> who{static_cast<std::int64_t>(means_),
                                static_cast<std::int64_t>(stage_),
                                static_cast<std::int64_t>(claimant.queue.value()),
                                claimant.priority,
                                static_cast<std::int64_t>(claimant.preemption_policy),
                                is_claimant_new() ? -1 : static_cast<std::int64_t>(claimant_.value())};
  for (const auto& [queue, gang] : survey().runs_in) {
    std::int8_t& known = may_take_from_[queue];
    known = means_ == Means::kReclaim && rules_.may_reclaim(state_, claimant_, gang) &&
                    rules_.claims_within_share(state_, claimant_, gang, added_)
                ? 1
                : 0;
    who.push_back(known);
  }
  const bool may_move = stage_ != Stage::kPlacingDisplaced && problem_.snapshot->policy.actions.consolidate;
  for (std::size_t i = 0; i < classes.size() && may_move; ++i) who.push_back(could_relocate(classes[i]));
  return who;
}

// Whether the pod would fit if all eligible victims of the node left: a quick check before the search.
RoomSearch::Cleared RoomSearch::could_clear(PodIndex pod, NodeIndex node) {
  const PodClass& pod_class = problem_.class_of(pod);
  const ClearedRooms::Of& cleared = cleared_room(node);
  const ClearedRooms& rooms = means_ == Means::kSwap ? cleared_[0] : *rooms_of_look_;
  const Room room = cleared_of(rooms, node);
  if (!fit::capacity(room, pod_class) || !fit::devices(room, problem_, pod_class, node)) return Cleared::kTooSmall;
  if (!cleared.any_goes) return Cleared::kNobodyGoes;
  if (means_ == Means::kSwap) return Cleared::kFits;
  const DeviceUnits units =
      pod_class.gpu.devices > 0 ? pod_class.gpu.devices * share_units(pod_class, problem_.class_of(node)) : 0;
  const std::span left(rooms.left.data() + node.value() * problem_.resource_count, problem_.resource_count);
  return fit::capacity({left, {}}, pod_class) && (units == 0 || units <= cleared.devices_left) ? Cleared::kFits
                                                                                               : Cleared::kTooSmall;
}

Room RoomSearch::cleared_of(const ClearedRooms& rooms, NodeIndex node) const {
  return {{rooms.free.data() + node.value() * problem_.resource_count, problem_.resource_count},
          {rooms.devices.data() + device_begin_[node.value()], state_.free_devices(node).size()}};
}

const RoomSearch::ClearedRooms::Of& RoomSearch::cleared_room(NodeIndex node) {
  ClearedRooms& rooms = means_ == Means::kSwap ? cleared_[0] : *rooms_of_look_;
  if (rooms.of_node.empty()) {
    rooms.of_node.resize(problem_.nodes.size());
    rooms.free = room_seen_;
    rooms.devices = devices_seen_;
    if (means_ != Means::kSwap) rooms.left = room_seen_;
  }
  ClearedRooms::Of& known = rooms.of_node[node];
  const std::uint64_t key = rooms.is_kept ? 1 : means_ == Means::kSwap ? attempts_ : looks_;
  if (known.key == key && known.node_version == state_.version(node)) return known;
  known.key = key;
  known.node_version = state_.version(node);
  clear_all(node, rooms);
  return known;
}

// What is free on the node once all eligible victims have left. Also, in total, what is free once all have left except
// those that may only be moved and currently fit on no node.
void RoomSearch::clear_all(NodeIndex node, ClearedRooms& rooms) {
  ClearedRooms::Of& cleared = rooms.of_node[node];
  const std::size_t resources = problem_.resource_count;
  Amount* const free = rooms.free.data() + node.value() * resources;
  DeviceUnits* const devices = rooms.devices.data() + device_begin_[node.value()];
  std::ranges::copy(state_.free(node), free);
  std::ranges::copy(state_.free_devices(node), devices);
  Amount* const left = means_ == Means::kSwap ? nullptr : rooms.left.data() + node.value() * resources;
  if (left != nullptr) std::ranges::copy(state_.free(node), left);
  cleared.any_goes = false;
  cleared.devices_left = 0;
  for (const DeviceUnits units : state_.free_devices(node)) cleared.devices_left += units;
  const bool may_move =
      means_ != Means::kSwap && stage_ != Stage::kPlacingDisplaced && problem_.snapshot->policy.actions.consolidate;
  for (const PodIndex other : state_.pods_on(node)) {
    const GangIndex gang = problem_.pods[other].gang;
    if (gang == claimant_) continue;
    const bool moves =
        may_move && (is_fresh(other) ? exchange_.has_value() : problem_.gangs[gang].preemptible && !is_pinned(other));
    const bool goes = (stage_ == Stage::kDisplacing && may_be_displaced(other)) ||
                      (is_fresh(other) ? may_give_way(other) : is_legal_at_first(other));
    if (!goes && !moves) continue;
    cleared.any_goes = true;
    const PodClass& other_class = problem_.class_of(other);
    const auto& held = state_.place_of(other).devices;
    const DeviceUnits units = held.empty() ? 0 : share_units(other_class, problem_.class_of(node));
    for (std::size_t r = 0; r < resources; ++r) free[r] += other_class.request[r];
    for (const std::int32_t device : held) devices[device] += units;
    if (left == nullptr || !(goes || could_relocate(problem_.pods[other].pod_class))) continue;
    for (std::size_t r = 0; r < resources; ++r) left[r] += other_class.request[r];
    cleared.devices_left += units * static_cast<DeviceUnits>(held.size());
  }
}

// Whether some node has room for a pod of the class, in the current state or once the pods that may give way have left.
bool RoomSearch::could_relocate(PodClassIndex index) {
  Relocation& known = relocation_[index];
  if (known.look == looks_) return known.is_possible;
  known.look = looks_;
  const PodClass& pod_class = problem_.pod_classes[index];
  const bool may_swap = latest_rank_ > rank_;
  const std::int32_t whole_devices = pod_class.gpu.kind == GpuRequestKind::kWhole ? pod_class.gpu.devices : 0;
  const Means means = std::exchange(means_, Means::kSwap);
  const auto holds = [&](NodeIndex node) {
    if (!may_swap && state_.idle_devices(node) < whole_devices) return false;
    if (!fit::node(problem_, pod_class, node)) return false;
    if (may_swap) cleared_room(node);
    const Room room = may_swap ? cleared_of(cleared_[0], node) : room_of(state_, node);
    return fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node);
  };
  const auto try_witness = [&](NodeIndex node) {
    known.witness = node;
    known.is_possible = holds(node);
    return known.is_possible;
  };
  known.is_possible = !known.witness.is_none() && holds(known.witness);
  const std::int32_t rank = may_swap ? rank_ : -1;
  if (!known.is_possible && known.none_until > 0 && known.none_of_rank == rank) {
    // If there was none, only a node that has changed since can be one. (Overlooked: a node where a pod may give way
    // now because the victims of its gang have come back.)
    recently_touched_.read(state_);
    recently_touched_.any_since(known.none_until - 1, try_witness);
  } else if (!known.is_possible) {
    for (std::size_t node = 0; node < problem_.nodes.size() && !try_witness(NodeIndex(node)); ++node) {
    }
  }
  known.none_until = known.is_possible ? 0 : state_.touched().size() + 1;
  known.none_of_rank = rank;
  means_ = means;
  return known.is_possible;
}

// A gang that leaves as a whole is listed once for each of its groups without surplus there; other groups may have
// some.
std::vector<RoomSearch::Unit> RoomSearch::units_on(NodeIndex node) const {
  std::vector<Unit> units;
  std::vector<GroupIndex> whole;
  for (const PodIndex pod : state_.pods_on(node)) {
    if (std::ranges::find(whole, problem_.pods[pod].group) != whole.end()) continue;
    auto unit = unit_of(pod);
    if (!unit) continue;
    if (unit->pods.size() > 1) whole.push_back(problem_.pods[pod].group);
    units.push_back(*std::move(unit));
  }
  return units;
}

std::vector<RoomSearch::Unit> RoomSearch::moves_on(NodeIndex node) const {
  std::vector<Unit> units;
  for (const PodIndex pod : state_.pods_on(node)) {
    if (auto unit = move_of(pod)) units.push_back(*std::move(unit));
  }
  return units;
}

// Whether a running pod may be evicted for the claimant.
bool RoomSearch::is_legal(PodIndex pod) const {
  if (is_pinned(pod)) return false;
  if (exchange_) return may_go_in_exchange(pod);
  const GangIndex gang = problem_.pods[pod].gang;
  if (problem_.pods[pod].status != PodStatus::kRunning || gang == claimant_ || !rules_.may_evict(gang)) return false;
  if (means_ == Means::kPreempt) return rules_.may_preempt(claimant_, gang);
  return means_ == Means::kReclaim && rules_.may_reclaim(state_, claimant_, gang) &&
         rules_.claims_within_share(state_, claimant_, gang, added_);
}

// The same as of the start of the scan of the nodes. Eligibility for reclaim depends on the queue alone.
bool RoomSearch::is_legal_at_first(PodIndex pod) {
  const GangIndex gang = problem_.pods[pod].gang;
  if (exchange_ || means_ != Means::kReclaim) return is_legal(pod);
  if (problem_.pods[pod].status != PodStatus::kRunning || gang == claimant_ || !rules_.may_evict(gang)) return false;
  if (is_pinned(pod)) return false;
  std::int8_t& known = may_take_from_[problem_.gangs[gang].queue];
  if (known < 0) known = is_legal(pod) ? 1 : 0;
  return known > 0;
}

// Whether a newly placed pod may be taken back: it was placed for a later level, and no victims were evicted for it.
bool RoomSearch::may_give_way(PodIndex pod) const {
  const GangIndex gang = problem_.pods[pod].gang;
  return is_fresh(pod) && gang != claimant_ && placed_rank_[pod] > rank_ && !has_victims_[gang.value()];
}

std::optional<RoomSearch::Unit> RoomSearch::move_of(PodIndex pod) const {
  if (problem_.pods[pod].gang == claimant_ || !rules_.may_move(state_, pod)) return std::nullopt;
  Unit unit{{pod}, {}, true};
  unit.cost.moved = problem_.pods[pod].weighted_work;
  return unit;
}

// What is taken back with a newly placed pod: the pod itself if it is surplus, else all newly placed pods of its gang.
std::optional<RoomSearch::Unit> RoomSearch::fresh_unit_of(PodIndex pod) const {
  if (!may_give_way(pod)) return std::nullopt;
  const GangIndex gang_index = problem_.pods[pod].gang;
  const Gang& gang = problem_.gangs[gang_index];
  const auto stays = [&](PodIndex p) {
    return problem_.pods[p].status == PodStatus::kSucceeded || (p != pod && state_.is_present(p));
  };
  if (meets_minimum(problem_, gang, stays)) return Unit{{pod}, cost_of(gang_index, {&pod, 1}), false};
  std::vector<PodIndex> all;
  for (const PodIndex p : gang.pods) {
    if (!state_.is_present(p)) continue;
    if (!may_give_way(p)) return std::nullopt;  // it has run, too, or its minimum was placed for an earlier level
    all.push_back(p);
  }
  return Unit{all, cost_of(gang_index, all), false};
}

// What leaves the node with this pod: what has to leave if it leaves, or itself to be relocated, whichever costs less.
std::optional<RoomSearch::Unit> RoomSearch::unit_of(PodIndex pod) const {
  std::optional<Unit> leaving = leaving_unit_of(pod);
  if (stage_ != Stage::kDisplacing) return leaving;
  std::optional<Unit> displaced = displaced_unit_of(pod);
  return leaving && (!displaced || leaving->cost <= displaced->cost) ? leaving : displaced;
}

// What has to leave if this pod leaves: itself if it is surplus or moved, else all of its gang.
std::optional<RoomSearch::Unit> RoomSearch::leaving_unit_of(PodIndex pod) const {
  if (std::ranges::find(displaced_, problem_.pods[pod].gang) != displaced_.end()) return std::nullopt;
  if (is_fresh(pod)) return fresh_unit_of(pod);
  if (means_ == Means::kConsolidate) return move_of(pod);
  if (!is_legal(pod)) return std::nullopt;
  const GangIndex gang_index = problem_.pods[pod].gang;
  const Gang& gang = problem_.gangs[gang_index];
  const auto stays = [&](PodIndex p) {
    return problem_.pods[p].status == PodStatus::kSucceeded || (p != pod && state_.is_present(p));
  };
  if (meets_minimum(problem_, gang, stays)) {
    if (!state_.budgets_allow({&pod, 1})) return std::nullopt;
    return Unit{{pod}, cost_of(gang_index, {&pod, 1}), false};
  }
  const EvictionReason reason = means_ == Means::kPreempt ? EvictionReason::kPreempt : EvictionReason::kReclaim;
  if (!rules_.has_run_enough(state_, claimant_, gang_index, reason)) return std::nullopt;
  std::vector<PodIndex> all;
  for (const PodIndex p : gang.pods) {
    if (!state_.is_present(p)) continue;
    if (is_fresh(p) && !may_give_way(p)) return std::nullopt;
    all.push_back(p);
  }
  if (!state_.budgets_allow(all)) return std::nullopt;
  return Unit{all, cost_of(gang_index, all), false};
}

RoomSearch::Cost RoomSearch::cost_of(GangIndex gang_index, std::span<const PodIndex> pods) const {
  const Gang& gang = problem_.gangs[gang_index];
  Cost cost;
  cost.work.priority = gang.priority;
  QueueAmounts goes{};
  for (const PodIndex pod : pods) {
    const Pod& p = problem_.pods[pod];
    if (!is_fresh(pod)) cost.evicted += p.weighted_work * p.run_seconds;
    cost.work.amount += p.weighted_work;
    const QueueAmounts used = queue_usage(problem_.class_of(pod), problem_.class_of(state_.node_of(pod)));
    for (std::size_t r = 0; r < kQueueResources; ++r) goes[r] += used[r];
  }
  const Cost loss = loss_of(gang.queue, gang.priority, goes);
  cost.share = loss.share;
  cost.quota = loss.quota;
  cost.excess = -excess_of(gang_index);
  cost.age = gang.waited_seconds;
  return cost;
}

// What a queue loses of its usage within its share (or quota): the leaving amount minus its excess; likewise for each
// queue above it. Counted over pods of the victim's priority or more, as the first level that loses counts, else over
// all.
RoomSearch::Cost RoomSearch::loss_of(QueueIndex leaf, std::int32_t priority, const QueueAmounts& goes) const {
  Cost cost;
  // GPUs if there are any, else cpu: the resource in which such work is counted.
  const std::size_t r = goes[kQueueGpu] > 0 ? kQueueGpu : kQueueCpu;
  const auto lost = [&](const auto& bound_of, std::int32_t from) {
    Amount rest = goes[r];
    for (const QueueIndex queue : problem_.queues[leaf].ancestors) {
      const Amount bound = bound_of(queue);
      if (bound != kUnlimited) rest -= std::clamp<Amount>(state_.usage_from(queue, from)[r] - bound, 0, rest);
    }
    const auto total = static_cast<double>(std::max<Amount>(1, problem_.total[r]));
    return static_cast<Amount>(static_cast<double>(rest) * 1e6 / total);
  };
  const auto loss = [&](const auto& bound_of) {
    for (const std::int32_t level : {priority, problem_.priorities.back()}) {
      if (const Amount amount = lost(bound_of, level); amount > 0) return Loss{level, amount};
    }
    return Loss{};
  };
  cost.share = loss([&](QueueIndex queue) { return shares_.share[queue][r]; });
  cost.quota = loss([&](QueueIndex queue) { return problem_.queues[queue].quota[r]; });
  return cost;
}

// How far the victim's side is above its share, in thousandths of the share: for the resource with the largest excess.
std::int64_t RoomSearch::excess_of(GangIndex victim) const {
  if (means_ != Means::kReclaim || problem_.gangs[claimant_].queue == problem_.gangs[victim].queue) return 0;
  const QueueIndex side = rules_.sides(problem_.gangs[claimant_].queue, problem_.gangs[victim].queue).victim;
  double excess = 0;
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (!rules_.asked_for(claimant_)[r]) continue;
    const auto share = static_cast<double>(std::max<Amount>(1, shares_.share[side][r]));
    excess = std::max(excess, static_cast<double>(state_.usage()[side][r]) / share);
  }
  return static_cast<std::int64_t>(std::min(excess, 1e6) * 1000);
}

void RoomSearch::Loss::add(const Loss& other) {
  if (other.priority > priority) {
    *this = other;
  } else if (other.priority == priority) {
    amount += other.amount;
  }
}

void RoomSearch::Cost::add(const Cost& other) {
  share.add(other.share);
  quota.add(other.quota);
  work.add(other.work);
  evicted += other.evicted;
  moved += other.moved;
  excess += other.excess;
  age += other.age;
}

}  // namespace muster
