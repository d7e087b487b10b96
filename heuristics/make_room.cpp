#include "heuristics/make_room.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heuristics/groups.h"

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
      placed_rank_(problem_.pods.size(), -1) {
  for (const GangIndex gang : problem_.gangs.indices()) {
    const Gang& g = problem_.gangs[gang];
    if (!g.min_resources.empty() || g.min_resources_gpu > 0) with_min_resources_.push_back(gang);
  }
}

bool RoomSearch::is_allowed() const { return problem_.snapshot->policy.actions.place; }

void RoomSearch::note_placed(GangIndex gang, std::int32_t rank) {
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (!is_fresh(pod)) continue;
    if (!state_.is_present(pod)) {
      placed_rank_[pod] = -1;
    } else if (placed_rank_[pod] < 0) {
      placed_rank_[pod] = rank;
    }
  }
  latest_rank_ = std::max(latest_rank_, rank);
}

bool RoomSearch::claim_minimum(GangIndex gang, std::int32_t rank) {
  rank_ = rank;
  return claim(gang, [&] {
    if (!fit::min_resources(state_, gang) && !free_min_resources()) return false;
    return placer_.place_minimum(gang);
  });
}

bool RoomSearch::claim_pod(PodIndex pod, std::int32_t rank) {
  rank_ = rank;
  return claim(problem_.pods[pod].gang, [&] { return placer_.place_pod(pod); });
}

template <class Place>
bool RoomSearch::claim(GangIndex gang, const Place& place) {
  const Actions& actions = problem_.snapshot->policy.actions;
  if (!actions.place || !fit::queue_exists(problem_.gangs[gang]) || !fit::timeout(problem_.gangs[gang])) return false;
  claimant_ = gang;
  const bool may_evict = problem_.gangs[gang].preemption_policy != PreemptionPolicy::kNever;
  if (attempt(Means::kSwap, place)) return true;
  if (actions.consolidate && attempt(Means::kConsolidate, place)) return true;
  if (actions.preempt && may_evict && attempt(Means::kPreempt, place)) return true;
  return actions.reclaim && may_evict && attempt(Means::kReclaim, place);
}

template <class Place>
bool RoomSearch::attempt(Means means, const Place& place) {
  if (stopped_ || (stop_ && stop_())) return false;
  means_ = means;
  if (is_hopeless()) return false;
  has_victims_.assign(problem_.gangs.size(), false);
  for (const PlannedEviction& eviction : evictions()) {
    if (!eviction.for_gang.is_none()) has_victims_[eviction.for_gang.value()] = true;
  }
  gave_way_.clear();
  const auto before = state_.checkpoint();
  const auto reasons_before = reasons_;
  const bool had_evicted = std::exchange(has_evicted_, has_evicted_ || means != Means::kSwap);
  // Between claims the state's log only grows, so a log of the same length is the same state.
  if (levels_at_ != before) levels_ = leading_levels_.of(state_);
  levels_at_ = before;
  placer_.exchange_clear([this](PodIndex pod, std::span<const NodeIndex> nodes) { return clear_for(pod, nodes); });
  const bool placed = place();
  placer_.exchange_clear(nullptr);
  if (placed) {
    settle();
    place_again();
    if (rules_hold() && leading_levels_.of(state_) > levels_) {
      for (const GangIndex gang : gave_way_) note_placed(gang, rank_ + 1);
      return true;
    }
  }
  state_.rollback(before);
  reasons_ = reasons_before;
  has_evicted_ = had_evicted;
  return false;
}

// Whether no pod anywhere may go, be moved, or give way for the claimant.
bool RoomSearch::is_hopeless() const {
  if (means_ == Means::kSwap) return latest_rank_ <= rank_;
  for (const GangIndex gang : problem_.gangs.indices()) {
    if (!may_take(means_, gang)) continue;
    const bool any_runs = std::ranges::any_of(problem_.gangs[gang].pods, [&](PodIndex pod) {
      return problem_.pods[pod].status == PodStatus::kRunning && state_.is_present(pod);
    });
    if (any_runs) return false;
  }
  return true;
}

// Who, of gangs that run, by the means alone.
bool RoomSearch::may_take(Means means, GangIndex victim) const {
  if (victim == claimant_ || !rules_.may_evict(victim)) return false;
  if (means == Means::kPreempt) return rules_.may_preempt(claimant_, victim);
  if (means != Means::kReclaim) return means == Means::kConsolidate;
  return problem_.gangs[claimant_].queue != problem_.gangs[victim].queue &&
         rules_.may_reclaim(state_, claimant_, victim) && rules_.claims_within_share(state_, claimant_, victim, {});
}

// --- Clearing a node

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
    if (stop_ && node.value() % 64 == 63 && stop_()) stopped_ = true;
    if (stopped_ || !fit::node(problem_, problem_.class_of(pod), node)) return;
    if (auto clearing = clearing_of(pod, node)) clearings.push_back(*std::move(clearing));
  };
  if (nodes.empty()) {
    for (const NodeIndex node : problem_.nodes.indices()) look(node);
  } else {
    for (const NodeIndex node : nodes) look(node);
  }
  if (stopped_) clearings.clear();
  std::ranges::stable_sort(clearings, {}, &Clearing::cost);
  if (clearings.size() > kMostClearings) clearings.resize(kMostClearings);
  const bool evicts = means_ == Means::kPreempt || means_ == Means::kReclaim;
  if (evicts && problem_.snapshot->policy.actions.consolidate) {
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
      std::ranges::all_of(clearing.victims, [&](const Unit& unit) { return !unit.must_move || relocate(unit); });
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
    if (!relocate(unit)) {
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
    const auto unit = cheapest_unit_below(QueueIndex::none());
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
    if (units.empty() && means_ != Means::kSwap && problem_.snapshot->policy.actions.consolidate)
      units = moves_on(node);
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

std::optional<RoomSearch::Unit> RoomSearch::cheapest_unit_below(QueueIndex queue) const {
  std::optional<Unit> best;
  for (const PodIndex pod : problem_.pods.indices()) {
    const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
    if (!state_.is_present(pod) || gang.queue.is_none()) continue;
    if (means_ == Means::kConsolidate && !is_fresh(pod)) continue;  // a move frees nothing of the queue
    const auto& path = problem_.queues[gang.queue].ancestors;
    if (!queue.is_none() && std::ranges::find(path, queue) == path.end()) continue;
    auto unit = unit_of(pod);
    if (!unit) continue;
    if (!best || unit->cost < best->cost) best = std::move(unit);
  }
  return best;
}

void RoomSearch::take(const std::vector<PodIndex>& pods) {
  constexpr std::array kReasons{EvictionReason::kConsolidate, EvictionReason::kConsolidate, EvictionReason::kPreempt,
                                EvictionReason::kReclaim};
  for (const PodIndex pod : pods) {
    if (!state_.is_present(pod)) continue;
    state_.take(pod);
    if (is_fresh(pod)) {
      gave_way_.push_back(problem_.pods[pod].gang);
    } else {
      reasons_[pod] = {pod, kReasons[static_cast<std::size_t>(means_)], claimant_};
    }
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

// Puts victims elsewhere: all of them or none. Big ones first. Where a move is all that is allowed, what has been
// placed for later levels gives way to it.
bool RoomSearch::relocate(const Unit& unit) {
  if (!may_move_more(unit.pods.size())) return false;
  const auto before = state_.checkpoint();
  std::vector<PodIndex> pods = unit.pods;
  std::ranges::stable_sort(pods, std::greater<>{}, [&](PodIndex pod) { return problem_.class_of(pod).work; });
  const auto swap = [this](PodIndex pod, std::span<const NodeIndex> nodes) {
    const Means means = std::exchange(means_, Means::kSwap);
    const bool cleared = latest_rank_ > rank_ && clear_for(pod, nodes);
    means_ = means;
    return cleared;
  };
  auto clear = placer_.exchange_clear(unit.must_move ? GangPlacer::Clear(swap) : nullptr);
  const bool moved =
      std::ranges::all_of(pods, [&](PodIndex pod) { return state_.is_present(pod) || placer_.place_pod(pod); });
  placer_.exchange_clear(std::move(clear));
  if (!moved) state_.rollback(before);
  return moved;
}

}  // namespace muster
