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
      leading_levels_(parts.problem, parts.shares),
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
  // Between claims the state's log only grows, so a log of the same length is the same state.
  if (levels_at_ != before) levels_ = leading_levels_.of(state_);
  levels_at_ = before;
  placer_.exchange_clear([this](PodIndex pod, std::span<const NodeIndex> nodes) { return clear_for(pod, nodes); });
  const bool placed = place();
  placer_.exchange_clear(nullptr);
  if (placed) {
    settle();
    if (rules_hold() && leading_levels_.of(state_) > levels_) return true;
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

// --- Clearing a node
// -------------------------------------------------------------------------------------------------------

bool RoomSearch::clear_for(PodIndex pod, std::span<const NodeIndex> nodes) {
  const auto before = state_.checkpoint();
  const PodClass& pod_class = problem_.class_of(pod);
  added_ = {pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]};
  if (!free_queue()) {
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
  if (clearings.size() > kMostClearings) clearings.resize(kMostClearings);
  if (reason_ != EvictionReason::kConsolidate && problem_.snapshot->policy.actions.consolidate) {
    for (Clearing& clearing : clearings) clearing.cost = cost_with_moves(pod, clearing);
    std::ranges::stable_sort(clearings, {}, &Clearing::cost);
  }
  if (std::ranges::any_of(clearings, [&](const Clearing& clearing) { return commit_clearing(pod, clearing); }))
    return true;
  state_.rollback(before);
  return false;
}

bool RoomSearch::commit_clearing(PodIndex pod, const Clearing& clearing) {
  const auto before = state_.checkpoint();
  for (const Unit& unit : clearing.victims) take(unit.pods);
  state_.put(pod, clearing.node, chooser_.devices_for(pod, clearing.node));
  const bool moved =
      std::ranges::all_of(clearing.victims, [&](const Unit& unit) { return !unit.must_move || relocate(unit.pods); });
  if (!moved) state_.rollback(before);
  return moved;
}

// What the clearing costs if victims that find room elsewhere are moved there.
RoomSearch::Cost RoomSearch::cost_with_moves(PodIndex pod, const Clearing& clearing) {
  const auto before = state_.checkpoint();
  const auto reasons_before = reasons_;
  for (const Unit& unit : clearing.victims) take(unit.pods);
  state_.put(pod, clearing.node, chooser_.devices_for(pod, clearing.node));
  Cost cost;
  for (const Unit& unit : clearing.victims) {
    if (!relocate(unit.pods)) {
      cost.add(unit.cost);
    } else {
      for (const PodIndex p : unit.pods) cost.moved += problem_.pods[p].weighted_work;
    }
  }
  state_.rollback(before);
  reasons_ = reasons_before;
  return cost;
}

// Where the claimant's queue (or one above it) is at its limit, some of what runs there has to go first, wherever it
// is.
bool RoomSearch::free_queue() {
  const Gang& gang = problem_.gangs[claimant_];
  if (reason_ == EvictionReason::kConsolidate) return true;
  while (!fit::limit(state_, bounds_, gang, added_)) {
    QueueIndex full = QueueIndex::none();
    for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
      for (std::size_t r = 0; r < kQueueResources; ++r) {
        const bool binds = added_[r] > 0 && bounds_.usage[queue][r] != kNoBound;
        if (full.is_none() && binds && state_.usage()[queue][r] + added_[r] > bounds_.usage[queue][r]) full = queue;
      }
    }
    const auto unit = cheapest_unit_below(full);
    if (!unit) return false;
    take(unit->pods);
  }
  return fit::quota(state_, bounds_, gang, added_);
}

bool RoomSearch::free_min_resources() {
  added_ = {};
  while (!fit::min_resources(state_, claimant_)) {
    const auto unit = reason_ == EvictionReason::kConsolidate ? std::nullopt : cheapest_unit_below(QueueIndex::none());
    if (!unit) return false;
    take(unit->pods);
  }
  return true;
}

// The cheapest victims on the node whose going makes it fit.
std::optional<RoomSearch::Clearing> RoomSearch::clearing_of(PodIndex pod, NodeIndex node) {
  bool fits = can_place(state_, bounds_, pod, node);  // it may be its queue that was in the way
  if (!fits && !could_clear(pod, node)) return std::nullopt;
  const auto before = state_.checkpoint();
  std::vector<Unit> taken;
  std::vector<std::vector<Place>> places;  // from which they were taken
  // A unit may shrink or grow as others go (surplus becomes core), so it is asked for again each time.
  while (!fits) {
    std::vector<Unit> units = units_on(node);
    // Who may not be evicted may still be moved.
    if (units.empty() && problem_.snapshot->policy.actions.consolidate) units = moves_on(node);
    if (units.empty()) break;
    const auto cheapest = std::ranges::min_element(units, {}, &Unit::cost);
    std::vector<Place> from;
    for (const PodIndex p : cheapest->pods) from.push_back(state_.place_of(p));
    for (const PodIndex p : cheapest->pods) state_.take(p);
    taken.push_back(std::move(*cheapest));
    places.push_back(std::move(from));
    fits = can_place(state_, bounds_, pod, node);
  }
  Clearing clearing;
  clearing.node = node;
  // Who turns out not to stand in the way stays, the dearest first.
  for (std::size_t i = taken.size(); fits && i-- > 0;) {
    const auto here = state_.checkpoint();
    bool back = true;
    for (std::size_t k = 0; back && k < taken[i].pods.size(); ++k) back = put_back(taken[i].pods[k], places[i][k]);
    if (back && can_place(state_, bounds_, pod, node)) continue;
    state_.rollback(here);
    clearing.cost.add(taken[i].cost);
    clearing.victims.push_back(std::move(taken[i]));
  }
  state_.rollback(before);
  return fits ? std::optional(clearing) : std::nullopt;
}

// Whether the pod would fit if all that may go (or be moved) of the node went: a quick look before the search.
bool RoomSearch::could_clear(PodIndex pod, NodeIndex node) {
  const PodClass& pod_class = problem_.class_of(pod);
  const auto free = state_.free(node);
  const auto devices = state_.free_devices(node);
  clear_free_.assign(free.begin(), free.end());
  clear_devices_.assign(devices.begin(), devices.end());
  const bool may_move = reason_ == EvictionReason::kConsolidate || problem_.snapshot->policy.actions.consolidate;
  bool any = false;
  for (const PodIndex runner : runners_[node]) {
    const GangIndex gang = problem_.pods[runner].gang;
    if (gang == claimant_ || !problem_.gangs[gang].preemptible) continue;
    if (!state_.is_present(runner) || state_.place_of(runner).node != node) continue;
    const bool is_victim = reason_ != EvictionReason::kConsolidate && is_legal(runner);
    if (!is_victim && !may_move) continue;
    any = true;
    const PodClass& runner_class = problem_.class_of(runner);
    for (std::size_t r = 0; r < clear_free_.size(); ++r) clear_free_[r] += runner_class.request[r];
    const auto& held = state_.place_of(runner).devices;
    const DeviceUnits units = held.empty() ? 0 : share_units(runner_class, problem_.class_of(node));
    for (const std::int32_t device : held) clear_devices_[static_cast<std::size_t>(device)] += units;
  }
  const Room room{clear_free_, clear_devices_};
  return any && fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node);
}

std::vector<RoomSearch::Unit> RoomSearch::units_on(NodeIndex node) const {
  std::vector<Unit> units;
  std::vector<GangIndex> whole;
  for (const PodIndex pod : runners_[node]) {
    if (!state_.is_present(pod) || state_.place_of(pod).node != node) continue;
    if (std::ranges::find(whole, problem_.pods[pod].gang) != whole.end()) continue;
    auto unit = unit_of(pod);
    if (!unit) continue;
    if (unit->pods.size() > 1) whole.push_back(problem_.pods[pod].gang);
    units.push_back(*std::move(unit));
  }
  return units;
}

std::vector<RoomSearch::Unit> RoomSearch::moves_on(NodeIndex node) const {
  std::vector<Unit> units;
  for (const PodIndex pod : runners_[node]) {
    if (!state_.is_present(pod) || state_.place_of(pod).node != node) continue;
    if (auto unit = move_of(pod)) units.push_back(*std::move(unit));
  }
  return units;
}

bool RoomSearch::is_legal(PodIndex pod) const {
  const GangIndex gang = problem_.pods[pod].gang;
  if (gang == claimant_) return false;
  if (!rules_.may_evict(gang)) return false;
  if (reason_ == EvictionReason::kPreempt) return rules_.may_preempt(claimant_, gang);
  return rules_.may_reclaim(state_, claimant_, gang) && rules_.claims_within_share(state_, claimant_, gang, added_);
}

std::optional<RoomSearch::Unit> RoomSearch::move_of(PodIndex pod) const {
  if (problem_.pods[pod].gang == claimant_ || !rules_.may_move(state_, pod)) return std::nullopt;
  Unit unit{{pod}, {}, true};
  unit.cost.moved = problem_.pods[pod].weighted_work;
  return unit;
}

// What has to go if this pod goes: itself where it is surplus or moved, else all of its gang that runs.
std::optional<RoomSearch::Unit> RoomSearch::unit_of(PodIndex pod) const {
  if (reason_ == EvictionReason::kConsolidate) return move_of(pod);
  if (!is_legal(pod)) return std::nullopt;
  const GangIndex gang_index = problem_.pods[pod].gang;
  const Gang& gang = problem_.gangs[gang_index];
  std::vector<PodIndex> running;
  for (const PodIndex p : gang.pods) {
    if (problem_.pods[p].status == PodStatus::kPending && state_.is_present(p))
      return std::nullopt;  // it has just been given a place
    if (problem_.pods[p].status != PodStatus::kRunning || !state_.is_present(p)) continue;
    running.push_back(p);
  }
  const auto stays = [&](PodIndex p) {
    const PodStatus status = problem_.pods[p].status;
    return status == PodStatus::kSucceeded || (status == PodStatus::kRunning && p != pod && state_.is_present(p));
  };
  if (meets_minimum(problem_, gang, stays)) return Unit{{pod}, cost_of(gang_index, {pod}), false};
  if (!rules_.has_run_enough(state_, claimant_, gang_index, reason_)) return std::nullopt;
  return Unit{running, cost_of(gang_index, running), false};
}

// Of usage within its share (or quota) a queue loses what goes beyond what it has too much, and so does each queue
// above it: of what has the victim's priority or more, which is what the first level that loses counts, else of all.
RoomSearch::Cost RoomSearch::cost_of(GangIndex gang_index, const std::vector<PodIndex>& pods) const {
  const Gang& gang = problem_.gangs[gang_index];
  Cost cost;
  cost.work.priority = gang.priority;
  QueueAmounts goes{};
  for (const PodIndex pod : pods) {
    const Pod& p = problem_.pods[pod];
    cost.evicted += p.weighted_work * p.run_seconds;
    cost.work.amount += p.weighted_work;
    const QueueAmounts used = queue_usage(problem_.class_of(pod), problem_.class_of(state_.place_of(pod).node));
    for (std::size_t r = 0; r < kQueueResources; ++r) goes[r] += used[r];
  }
  // GPUs where there are any, else cpu: the resource in which such work is counted.
  const std::size_t r = goes[kQueueGpu] > 0 ? kQueueGpu : kQueueCpu;
  const auto lost = [&](const auto& bound_of, std::int32_t from) {
    Amount rest = goes[r];
    for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
      const Amount bound = bound_of(queue);
      if (bound != kUnlimited) rest -= std::clamp<Amount>(state_.usage_from(queue, from)[r] - bound, 0, rest);
    }
    const auto total = static_cast<double>(std::max<Amount>(1, problem_.total[r]));
    return static_cast<Amount>(static_cast<double>(rest) * 1e6 / total);
  };
  const auto loss = [&](const auto& bound_of) {
    for (const std::int32_t level : {gang.priority, problem_.priorities.back()}) {
      if (const Amount amount = lost(bound_of, level); amount > 0) return Loss{level, amount};
    }
    return Loss{};
  };
  cost.share = loss([&](QueueIndex queue) { return shares_.share[queue][r]; });
  cost.quota = loss([&](QueueIndex queue) { return problem_.queues[queue].quota[r]; });
  cost.excess = -excess_of(gang_index);
  cost.age = gang.waited_seconds;
  return cost;
}

// How far the victim's side is above its share, in thousandths of the share: of the resource where that is most.
std::int64_t RoomSearch::excess_of(GangIndex victim) const {
  if (reason_ != EvictionReason::kReclaim) return 0;
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
    if (!best || unit->cost < best->cost) best = std::move(unit);
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

bool RoomSearch::put_back(PodIndex pod) { return put_back(pod, snapshot_place(problem_, pod)); }

bool RoomSearch::put_back(PodIndex pod, const Place& place) {
  const PodClass& pod_class = problem_.class_of(pod);
  const Room room = room_of(state_, place.node);
  if (!fit::capacity(room, pod_class) || !fit::anti_affinity(state_, pod_class, place.node)) return false;
  if (!place.devices.empty()) {
    const DeviceUnits units = share_units(pod_class, problem_.class_of(place.node));
    for (const std::int32_t device : place.devices) {
      if (room.devices[static_cast<std::size_t>(device)] < units) return false;
    }
  }
  if (!keeps_topology(pod, place.node)) return false;
  const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
  const QueueAmounts added = queue_usage(pod_class, problem_.class_of(place.node));
  if (!gang.queue.is_none() && (!fit::limit(state_, bounds_, gang, added) || !fit::quota(state_, bounds_, gang, added)))
    return false;
  state_.put(pod, place.node, place.devices);
  return true;
}

// Whether the pod, back on the node, lies in one domain with what has been placed of its groups that require a level.
bool RoomSearch::keeps_topology(PodIndex pod, NodeIndex node) const {
  const Node& home = problem_.nodes[node];
  for (GroupIndex group = problem_.pods[pod].group; !group.is_none(); group = problem_.groups[group].parent) {
    const TopologyLevelIndex level = problem_.groups[group].required_level;
    if (level.is_none()) continue;
    bool keeps = true;
    for_each_pod(problem_, group, [&](PodIndex other) {
      if (other == pod || !state_.is_present(other) || state_.place_of(other).node == problem_.pods[other].node) return;
      const DomainIndex domain = problem_.nodes[state_.place_of(other).node].domains[level.value()];
      keeps = keeps && domain == home.domains[level.value()];
    });
    if (!keeps) return false;
  }
  return true;
}

// Puts victims elsewhere: all of them or none. Big ones first.
bool RoomSearch::relocate(const std::vector<PodIndex>& victims) {
  const auto before = state_.checkpoint();
  std::vector<PodIndex> pods = victims;
  std::ranges::stable_sort(pods, std::greater<>{}, [&](PodIndex pod) { return problem_.class_of(pod).work; });
  auto clear = placer_.exchange_clear(nullptr);
  const bool moved = may_move_more(pods.size()) && std::ranges::all_of(pods, [&](PodIndex pod) {
                       return state_.is_present(pod) || placer_.place_pod(pod);
                     });
  placer_.exchange_clear(std::move(clear));
  if (!moved) state_.rollback(before);
  return moved;
}

// --- Settling
// ---------------------------------------------------------------------------------------------------------------

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

bool RoomSearch::may_move_more(std::size_t pods) const {
  const auto& most = problem_.snapshot->policy.max_moves;
  return !most || moves() + static_cast<std::int64_t>(pods) <= *most;
}

void RoomSearch::reprieve() {
  if (has_evicted_) settle();
}

void RoomSearch::settle() {
  // Whoever comes back leaves the room to which it was moved, so others may follow.
  const bool may_move = problem_.snapshot->policy.actions.consolidate;
  for (bool again = true; again;) {
    for (const GangIndex gang : evicted_gangs()) bring_back(gang);
    again = bring_moved_back();
    if (again || !may_move) continue;
    for (const GangIndex gang : evicted_gangs()) again = move_elsewhere(gang) || again;
  }
}

// Gangs with a pod that is evicted and not placed again, those whose loss is worst first.
std::vector<GangIndex> RoomSearch::evicted_gangs() const {
  std::map<GangIndex, Work> lost;
  for (const auto& [pod, eviction] : reasons_) {
    if (!state_.is_present(pod))
      lost[problem_.pods[pod].gang] += problem_.pods[pod].weighted_work * problem_.pods[pod].run_seconds;
  }
  std::vector<GangIndex> gangs;
  for (const auto& [gang, work] : lost) gangs.push_back(gang);
  std::ranges::stable_sort(gangs, [&](GangIndex a, GangIndex b) {
    return std::pair(problem_.gangs[a].priority, lost[a]) > std::pair(problem_.gangs[b].priority, lost[b]);
  });
  return gangs;
}

// Puts as many of the gang's evicted pods back as fit where they were: with its minimum, or all, or none.
bool RoomSearch::bring_back(GangIndex gang) {
  const auto before = state_.checkpoint();
  bool any = false, all = true;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (!reasons_.contains(pod) || state_.is_present(pod)) continue;
    const bool is_back = put_back(pod);
    any = any || is_back;
    all = all && is_back;
  }
  if (any && (all || is_satisfied(state_, gang))) return true;
  state_.rollback(before);
  return false;
}

bool RoomSearch::bring_moved_back() {
  bool any = false;
  for (const auto& [pod, eviction] : reasons_) {
    if (!state_.is_present(pod) || state_.place_of(pod) == snapshot_place(problem_, pod)) continue;
    const auto before = state_.checkpoint();
    state_.take(pod);
    if (put_back(pod)) {
      any = true;
    } else {
      state_.rollback(before);
    }
  }
  return any;
}

// Moves the gang's evicted pods to other nodes, but for those that fit where they were: so many that it keeps its
// minimum, or none.
bool RoomSearch::move_elsewhere(GangIndex gang) {
  if (!fit::timeout(problem_.gangs[gang]) || !fit::queue_exists(problem_.gangs[gang])) return false;
  const auto before = state_.checkpoint();
  bool any = false;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (!reasons_.contains(pod) || state_.is_present(pod)) continue;
    any = put_back(pod) || (may_move_more(1) && placer_.place_pod(pod)) || any;
  }
  if (any && is_satisfied(state_, gang)) return true;
  state_.rollback(before);
  return false;
}

}  // namespace muster
