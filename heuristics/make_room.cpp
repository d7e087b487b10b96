#include "heuristics/make_room.h"

#include <algorithm>
#include <set>
#include <utility>

#include "heuristics/groups.h"
#include "model/gang_tree.h"

namespace muster {

namespace {

constexpr std::size_t kMostClearings = 24;  // nodes tried for one pod, cheapest first, where victims have to be moved

}  // namespace

RoomSearch::RoomSearch(const Parts& parts, std::vector<PlannedEviction> stale)
    : problem_(parts.problem),
      shares_(parts.shares),
      bounds_(parts.bounds),
      rules_(parts.rules),
      state_(parts.state),
      chooser_(parts.chooser),
      placer_(parts.placer),
      stop_(parts.stop),
      level_ids_(level_ids(parts.problem)),
      stale_(std::move(stale)),
      runners_(problem_.nodes.size()) {
  std::set<PodIndex> gone;
  for (const PlannedEviction& eviction : stale_) gone.insert(eviction.pod);
  for (const PodIndex pod : problem_.pods.indices()) {
    const bool runs = problem_.pods[pod].status == PodStatus::kRunning;
    if (runs && !gone.contains(pod)) runners_[problem_.pods[pod].node].push_back(pod);
  }
}

bool RoomSearch::is_allowed() const {
  const Actions& actions = problem_.snapshot->policy.actions;
  return actions.place && (actions.consolidate || actions.preempt || actions.reclaim);
}

bool RoomSearch::claim_minimum(GangIndex gang) {
  return claim(gang, [&] {
    if (!fit::min_resources(state_, gang) && !free_min_resources()) return false;
    return placer_.place_minimum(gang);
  });
}

bool RoomSearch::claim_pod(PodIndex pod) {
  return claim(problem_.pods[pod].gang, [&] { return placer_.place_pod(pod); });
}

template <class Place>
bool RoomSearch::claim(GangIndex gang, const Place& place) {
  const Actions& actions = problem_.snapshot->policy.actions;
  if (!actions.place || !fit::queue_exists(problem_.gangs[gang]) || !fit::timeout(problem_.gangs[gang])) return false;
  claimant_ = gang;
  const bool may_evict = problem_.gangs[gang].preemption_policy != PreemptionPolicy::kNever;
  if (actions.consolidate && attempt(EvictionReason::kConsolidate, place)) return true;
  if (actions.preempt && may_evict && attempt(EvictionReason::kPreempt, place)) return true;
  return actions.reclaim && may_evict && attempt(EvictionReason::kReclaim, place);
}

template <class Place>
bool RoomSearch::attempt(EvictionReason reason, const Place& place) {
  if (stop_ && stop_()) return false;
  reason_ = reason;
  if (is_hopeless(reason)) return false;
  const auto before = state_.checkpoint();
  const auto reasons_before = reasons_;
  const bool had_evicted = std::exchange(has_evicted_, true);
  const Levels levels_before = levels();
  placer_.exchange_clear([this](PodIndex pod, std::span<const NodeIndex> nodes) { return clear_for(pod, nodes); });
  const bool placed = place();
  placer_.exchange_clear(nullptr);
  if (placed) {
    settle();
    if (rules_hold() && compare(levels(), levels_before, level_ids_) > 0) return true;
  }
  state_.rollback(before);
  reasons_ = reasons_before;
  has_evicted_ = had_evicted;
  return false;
}

// Whether no pod anywhere may go, or be moved, for the claimant.
bool RoomSearch::is_hopeless(EvictionReason reason) const {
  const Gang& claimant = problem_.gangs[claimant_];
  for (const GangIndex gang : problem_.gangs.indices()) {
    const Gang& victim = problem_.gangs[gang];
    if (!victim.preemptible || gang == claimant_) continue;
    if (reason == EvictionReason::kPreempt && !rules_.may_preempt(claimant_, gang)) continue;
    if (reason == EvictionReason::kReclaim) {
      if (claimant.queue == victim.queue || !rules_.may_reclaim(state_, claimant_, gang)) continue;
      if (!rules_.claims_within_share(state_, claimant_, gang, {})) continue;
    }
    for (const PodIndex pod : victim.pods) {
      if (problem_.pods[pod].status == PodStatus::kRunning && state_.is_present(pod)) return false;
    }
  }
  return true;
}

// --- Clearing a node -------------------------------------------------------------------------------------------------------

bool RoomSearch::clear_for(PodIndex pod, std::span<const NodeIndex> nodes) {
  const auto before = state_.checkpoint();
  if (!free_queue_for(pod)) {
    state_.rollback(before);
    return false;
  }
  std::vector<Clearing> clearings;
  const auto look = [&](NodeIndex node) {
    if (!fit::node(problem_, problem_.class_of(pod), node)) return;
    if (auto clearing = clearing_of(pod, node)) clearings.push_back(*std::move(clearing));
  };
  if (nodes.empty()) {
    for (const NodeIndex node : problem_.nodes.indices()) look(node);
  } else {
    for (const NodeIndex node : nodes) look(node);
  }
  std::ranges::stable_sort(clearings, {}, &Clearing::cost);
  const std::size_t tries = reason_ == EvictionReason::kConsolidate ? kMostClearings : 1;
  for (std::size_t i = 0; i < std::min(tries, clearings.size()); ++i) {
    if (commit_clearing(pod, clearings[i])) return true;
  }
  state_.rollback(before);
  return false;
}

bool RoomSearch::commit_clearing(PodIndex pod, const Clearing& clearing) {
  const auto before = state_.checkpoint();
  take(clearing.victims);
  state_.put(pod, clearing.node, chooser_.devices_for(pod, clearing.node));
  if (reason_ != EvictionReason::kConsolidate || relocate(clearing.victims)) return true;
  state_.rollback(before);
  return false;
}

// Where the claimant's queue (or one above it) is at its limit, some of what runs there has to go first, wherever it is.
bool RoomSearch::free_queue_for(PodIndex pod) {
  const Gang& gang = problem_.gangs[claimant_];
  if (reason_ == EvictionReason::kConsolidate) return true;
  const PodClass& pod_class = problem_.class_of(pod);
  QueueAmounts added{pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]};
  while (!fit::limit(state_, bounds_, gang, added)) {
    QueueIndex full = QueueIndex::none();
    for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
      for (std::size_t r = 0; r < kQueueResources; ++r) {
        const bool binds = added[r] > 0 && bounds_.usage[queue][r] != kNoBound;
        if (full.is_none() && binds && state_.usage()[queue][r] + added[r] > bounds_.usage[queue][r]) full = queue;
      }
    }
    const auto unit = cheapest_unit_below(full);
    if (!unit) return false;
    take(unit->pods);
  }
  return fit::quota(state_, bounds_, gang, added);
}

bool RoomSearch::free_min_resources() {
  while (!fit::min_resources(state_, claimant_)) {
    const auto unit = reason_ == EvictionReason::kConsolidate ? std::nullopt : cheapest_unit_below(QueueIndex::none());
    if (!unit) return false;
    take(unit->pods);
  }
  return true;
}

// The cheapest victims on the node whose going makes it fit.
std::optional<RoomSearch::Clearing> RoomSearch::clearing_of(PodIndex pod, NodeIndex node) {
  if (runners_[node].empty()) return std::nullopt;
  const auto before = state_.checkpoint();
  std::vector<Unit> taken;
  bool fits = can_place(state_, bounds_, pod, node);
  // A unit may shrink or grow as others go (surplus becomes core), so it is asked for again each time.
  while (!fits) {
    std::vector<Unit> units = units_on(node);
    if (units.empty()) break;
    const auto cheapest = std::ranges::min_element(units, {}, [](const Unit& unit) { return Cost{unit.priority, unit.cost, unit.work}; });
    take(cheapest->pods);
    taken.push_back(std::move(*cheapest));
    fits = can_place(state_, bounds_, pod, node);
  }
  Clearing clearing;
  clearing.node = node;
  // Who turns out not to stand in the way stays, the dearest first.
  for (std::size_t i = taken.size(); fits && i-- > 0;) {
    const auto here = state_.checkpoint();
    const bool back = std::ranges::all_of(taken[i].pods, [&](PodIndex p) { return put_back(p); });
    if (back && can_place(state_, bounds_, pod, node)) continue;
    state_.rollback(here);
    clearing.cost.priority = std::max(clearing.cost.priority, taken[i].priority);
    clearing.cost.cost += taken[i].cost;
    clearing.cost.work += taken[i].work;
    clearing.victims.insert(clearing.victims.end(), taken[i].pods.begin(), taken[i].pods.end());
  }
  state_.rollback(before);
  return fits ? std::optional(clearing) : std::nullopt;
}

std::vector<RoomSearch::Unit> RoomSearch::units_on(NodeIndex node) const {
  std::vector<Unit> units;
  std::set<GangIndex> whole;
  for (const PodIndex pod : runners_[node]) {
    if (!state_.is_present(pod) || state_.place_of(pod).node != node || whole.contains(problem_.pods[pod].gang)) continue;
    auto unit = unit_of(pod);
    if (!unit) continue;
    if (unit->pods.size() > 1) whole.insert(problem_.pods[pod].gang);
    units.push_back(*std::move(unit));
  }
  return units;
}

bool RoomSearch::is_legal(PodIndex pod) const {
  const GangIndex gang = problem_.pods[pod].gang;
  if (gang == claimant_) return false;
  if (reason_ == EvictionReason::kConsolidate) return rules_.may_move(state_, pod);
  if (!rules_.may_evict(gang)) return false;
  if (reason_ == EvictionReason::kPreempt) return rules_.may_preempt(claimant_, gang);
  return rules_.may_reclaim(state_, claimant_, gang);
}

// What has to go if this pod goes: itself where it is surplus or moved, else all of its gang that runs.
std::optional<RoomSearch::Unit> RoomSearch::unit_of(PodIndex pod) const {
  if (!is_legal(pod)) return std::nullopt;
  const GangIndex gang_index = problem_.pods[pod].gang;
  const Gang& gang = problem_.gangs[gang_index];
  Unit unit;
  unit.priority = gang.priority;
  const bool moves = reason_ == EvictionReason::kConsolidate;
  const auto add = [&](PodIndex p) {
    unit.pods.push_back(p);
    unit.work += problem_.pods[p].weighted_work;
    unit.cost += problem_.pods[p].weighted_work * (moves ? 1 : problem_.pods[p].run_seconds);
  };
  std::vector<PodIndex> running;
  for (const PodIndex p : gang.pods) {
    if (problem_.pods[p].status == PodStatus::kPending && state_.is_present(p)) return std::nullopt;  // it has just been given a place
    if (problem_.pods[p].status != PodStatus::kRunning || !state_.is_present(p)) continue;
    running.push_back(p);
  }
  const auto stays = [&](PodIndex p) {
    const PodStatus status = problem_.pods[p].status;
    return status == PodStatus::kSucceeded || (status == PodStatus::kRunning && p != pod && state_.is_present(p));
  };
  if (moves || meets_minimum(problem_, gang, stays)) {
    if (moves) unit.priority = 0;
    add(pod);
    return unit;
  }
  if (!rules_.has_run_enough(state_, claimant_, gang_index, reason_)) return std::nullopt;
  for (const PodIndex p : running) add(p);
  return unit;
}

std::optional<RoomSearch::Unit> RoomSearch::cheapest_unit_below(QueueIndex queue) const {
  std::optional<Unit> best;
  for (const PodIndex pod : problem_.pods.indices()) {
    if (problem_.pods[pod].status != PodStatus::kRunning || !state_.is_present(pod)) continue;
    const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
    if (gang.queue.is_none() || !gang.preemptible) continue;
    const auto& path = problem_.queues[gang.queue].ancestors;
    if (!queue.is_none() && std::ranges::find(path, queue) == path.end()) continue;
    auto unit = unit_of(pod);
    if (!unit) continue;
    if (!best || Cost{unit->priority, unit->cost, unit->work} < Cost{best->priority, best->cost, best->work}) best = std::move(unit);
  }
  return best;
}

void RoomSearch::take(const std::vector<PodIndex>& pods) {
  for (const PodIndex pod : pods) {
    if (!state_.is_present(pod)) continue;
    state_.take(pod);
    reasons_[pod] = {pod, reason_, claimant_};
  }
}

bool RoomSearch::put_back(PodIndex pod) {
  const Place place = snapshot_place(problem_, pod);
  const PodClass& pod_class = problem_.class_of(pod);
  const Room room = room_of(state_, place.node);
  if (!fit::capacity(room, pod_class) || !fit::anti_affinity(state_, pod_class, place.node)) return false;
  if (!place.devices.empty()) {
    const DeviceUnits units = share_units(pod_class, problem_.class_of(place.node));
    for (const std::int32_t device : place.devices) {
      if (room.devices[static_cast<std::size_t>(device)] < units) return false;
    }
  }
  const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
  const QueueAmounts added = queue_usage(pod_class, problem_.class_of(place.node));
  if (!gang.queue.is_none() && (!fit::limit(state_, bounds_, gang, added) || !fit::quota(state_, bounds_, gang, added))) return false;
  state_.put(pod, place.node, place.devices);
  return true;
}

// Puts victims elsewhere: all of them or none. Big ones first.
bool RoomSearch::relocate(const std::vector<PodIndex>& victims) {
  const auto before = state_.checkpoint();
  std::vector<PodIndex> pods = victims;
  std::ranges::stable_sort(pods, std::greater<>{}, [&](PodIndex pod) { return problem_.class_of(pod).work; });
  auto clear = placer_.exchange_clear(nullptr);
  const bool moved = std::ranges::all_of(pods, [&](PodIndex pod) { return state_.is_present(pod) || placer_.place_pod(pod); });
  placer_.exchange_clear(std::move(clear));
  if (!moved) state_.rollback(before);
  return moved;
}

// --- Settling ---------------------------------------------------------------------------------------------------------------

std::vector<PlannedEviction> RoomSearch::evictions() const {
  std::vector<PlannedEviction> result = stale_;
  for (const auto& [pod, eviction] : reasons_) {
    if (!state_.is_present(pod) || !(state_.place_of(pod) == snapshot_place(problem_, pod))) result.push_back(eviction);
  }
  return result;
}

std::int64_t RoomSearch::moves() const {
  return std::ranges::count_if(reasons_, [&](const auto& entry) {
    return state_.is_present(entry.first) && !(state_.place_of(entry.first) == snapshot_place(problem_, entry.first));
  });
}

Levels RoomSearch::levels() const { return evaluate(problem_, shares_, plan_of(problem_, state_, evictions())); }

void RoomSearch::reprieve() {
  if (has_evicted_) settle();
}

void RoomSearch::settle() {
  for (const GangIndex gang : evicted_gangs()) bring_back(gang);
  bring_moved_back();
  if (!problem_.snapshot->policy.actions.consolidate) return;
  for (const GangIndex gang : evicted_gangs()) move_elsewhere(gang);
}

// Gangs with a pod that is evicted and not placed again, those whose loss is worst first.
std::vector<GangIndex> RoomSearch::evicted_gangs() const {
  std::map<GangIndex, Work> lost;
  for (const auto& [pod, eviction] : reasons_) {
    if (!state_.is_present(pod)) lost[problem_.pods[pod].gang] += problem_.pods[pod].weighted_work * problem_.pods[pod].run_seconds;
  }
  std::vector<GangIndex> gangs;
  for (const auto& [gang, work] : lost) gangs.push_back(gang);
  std::ranges::stable_sort(gangs, [&](GangIndex a, GangIndex b) {
    return std::pair(problem_.gangs[a].priority, lost[a]) > std::pair(problem_.gangs[b].priority, lost[b]);
  });
  return gangs;
}

// Puts as many of the gang's evicted pods back as fit where they were: with its minimum, or none.
bool RoomSearch::bring_back(GangIndex gang) {
  const auto before = state_.checkpoint();
  bool any = false;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (reasons_.contains(pod) && !state_.is_present(pod)) any = put_back(pod) || any;
  }
  if (any && is_satisfied(state_, gang)) return true;
  state_.rollback(before);
  return false;
}

void RoomSearch::bring_moved_back() {
  for (const auto& [pod, eviction] : reasons_) {
    if (!state_.is_present(pod) || state_.place_of(pod) == snapshot_place(problem_, pod)) continue;
    const auto before = state_.checkpoint();
    state_.take(pod);
    if (!put_back(pod)) state_.rollback(before);
  }
}

// Moves the gang's evicted pods to other nodes: so many that it keeps its minimum, or none.
bool RoomSearch::move_elsewhere(GangIndex gang) {
  if (!fit::timeout(problem_.gangs[gang]) || !fit::queue_exists(problem_.gangs[gang])) return false;
  const auto& most = problem_.snapshot->policy.max_moves;
  const auto before = state_.checkpoint();
  bool any = false;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (!reasons_.contains(pod) || state_.is_present(pod) || (most && moves() >= *most)) continue;
    any = placer_.place_pod(pod) || any;
  }
  if (any && is_satisfied(state_, gang)) return true;
  state_.rollback(before);
  return false;
}

}  // namespace muster
