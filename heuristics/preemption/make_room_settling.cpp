// Once a claim is placed: victims that are not in its way come back, others move on, and those that gave way are placed
// again.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "heuristics/preemption/make_room.h"
#include "heuristics/state/binding_order.h"
#include "heuristics/state/groups.h"

namespace muster {

std::vector<PlannedEviction> RoomSearch::evictions() const {
  std::vector<PlannedEviction> result = stale_;
  for (const PlannedEviction& eviction : reasons_.entries()) {
    if (!state_.is_present(eviction.pod) || !is_home(state_, eviction.pod)) result.push_back(eviction);
  }
  return result;
}

std::int64_t RoomSearch::moves() const {
  return std::ranges::count_if(reasons_.entries(), [&](const PlannedEviction& eviction) {
    return state_.is_present(eviction.pod) && !is_home(state_, eviction.pod);
  });
}

bool RoomSearch::may_move_more(std::size_t pods) const {
  const auto& most = problem_.snapshot->policy.max_moves;
  return !most || moves() + static_cast<std::int64_t>(pods) <= *most;
}

// A victim of earlier claims that could not come back or move then cannot do so now unless some node has more free
// capacity than it had.
void RoomSearch::settle() {
  const bool all = has_room_grown() || !is_local();
  std::vector<PodIndex> pods = reasons_.since(all ? EvictionLog::Checkpoint{} : attempt_reasons_);
  // A victim that comes back leaves the node to which it was moved, so others may follow.
  const bool may_move = problem_.snapshot->policy.actions.consolidate;
  for (bool again = true; again;) {
    for (const GangIndex gang : evicted_gangs(pods)) {
      if (!bring_back(gang)) bring_back_completed(gang);
    }
    again = bring_moved_back(pods);
    if (again) pods = reasons_.since({});
    if (again || !may_move) continue;
    for (const GangIndex gang : evicted_gangs(pods)) again = move_elsewhere(gang) || again;
  }
  has_room_grown();
}

// Placements since the pod was evicted may have removed the obstacle to its return.
void RoomSearch::reprieve() {
  stopped_ = false;  // claims may have had to stop sooner
  if (!std::exchange(has_chosen_anew_, true)) choose_victims_anew(1);
  const std::vector<PodIndex> pods = reasons_.since({});
  const auto keep = [this](const auto& bring) {
    const auto before = state_.checkpoint();
    if (bring() && rules_hold()) return true;
    state_.rollback(before);
    return false;
  };
  for (bool again = !pods.empty(); again;) {
    again = keep([&] { return bring_moved_back(pods); });
    for (const GangIndex gang : evicted_gangs(pods)) again = keep([&] { return bring_back(gang); }) || again;
    // If not all pods of a gang may come back, each may do so by itself as long as the gang keeps its minimum.
    for (const PodIndex pod : pods) {
      const GangIndex gang = problem_.pods[pod].gang;
      if (state_.is_present(pod) || problem_.gangs[gang].pods.size() == 1 || !is_satisfied(state_, gang)) continue;
      again = keep([&] { return put_back(pod); }) || again;
    }
  }
}

// Whether any node has more free, of any resource, than at the last call. Cost: O(nodes touched since).
bool RoomSearch::has_room_grown() {
  if (room_seen_.empty()) {
    for (const NodeIndex node : problem_.nodes.indices()) {
      const auto free = state_.free(node);
      const auto devices = state_.free_devices(node);
      device_begin_.push_back(devices_seen_.size());
      versions_seen_.push_back(state_.version(node));
      room_seen_.insert(room_seen_.end(), free.begin(), free.end());
      devices_seen_.insert(devices_seen_.end(), devices.begin(), devices.end());
    }
    touched_read_ = state_.touched().size();
    return true;
  }
  bool has_grown = false;
  const auto look = [&](const auto& now, auto seen) {
    for (const auto amount : now) {
      has_grown = has_grown || amount > *seen;
      *seen++ = amount;
    }
  };
  for (; touched_read_ < state_.touched().size(); ++touched_read_) {
    const std::size_t node = state_.touched()[touched_read_].value();
    if (std::exchange(versions_seen_[NodeIndex(node)], state_.version(NodeIndex(node))) ==
        state_.version(NodeIndex(node)))
      continue;
    look(state_.free(NodeIndex(node)),
         room_seen_.begin() + static_cast<std::ptrdiff_t>(node * problem_.resource_count));
    look(state_.free_devices(NodeIndex(node)),
         devices_seen_.begin() + static_cast<std::ptrdiff_t>(device_begin_[node]));
  }
  return has_grown;
}

bool RoomSearch::rules_hold() const {
  if (!has_binding_order(state_)) return false;
  if (has_evicted_ && !rules_.surely_hold(state_, taken_) && !rules_.hold(state_, evictions())) return false;
  // Only changes of running pods change what gangs need, so each gang is queried once in between.
  const std::vector<GangIndex>& asking = survey().with_min_resources;
  held_at_.resize(asking.size(), kNever);
  for (std::size_t i = 0; i < asking.size(); ++i) {
    if (held_at_[i] == state_.standing_version()) continue;
    if (min_resources_hold(asking[i])) {
      held_at_[i] = state_.standing_version();
    } else if (is_anything_present(state_, asking[i])) {
      return false;
    }
  }
  return true;
}

bool RoomSearch::min_resources_hold(GangIndex gang) const { return min_resources_.hold(state_, gang); }

// Those that gave way may find room elsewhere.
void RoomSearch::place_again() {
  for (const GangIndex gang : std::vector<GangIndex>(gave_way_)) {
    const auto before = state_.checkpoint();
    const bool placed = is_satisfied(state_, gang) ? placer_.place_one_more(gang) : placer_.place_minimum(gang);
    if (placed && !rules_hold()) state_.rollback(before);
  }
}

// Gangs with an evicted pod that is not placed again, the greatest loss first.
std::vector<GangIndex> RoomSearch::evicted_gangs(const std::vector<PodIndex>& pods) const {
  std::map<GangIndex, Work> lost;
  for (const PodIndex pod : pods) {
    if (!state_.is_present(pod))
      lost[problem_.pods[pod].gang] += problem_.pods[pod].weighted_work * problem_.pods[pod].run_seconds;
  }
  std::vector<std::tuple<std::int32_t, Work, GangIndex>> ranked;
  for (const auto& [gang, work] : lost) ranked.emplace_back(problem_.gangs[gang].priority, work, gang);
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) > std::pair(std::get<0>(b), std::get<1>(b));
  });
  std::vector<GangIndex> gangs;
  for (const auto& entry : ranked) gangs.push_back(std::get<GangIndex>(entry));
  return gangs;
}

// Whether the total of the resources that the claimant asks for is available. True if nothing has been claimed yet.
bool RoomSearch::claimant_fits() const { return claimant_.is_none() || min_resources_hold(claimant_); }

// Puts as many of the gang's evicted pods back as fit where they were: enough for its minimum, or all, or none.
bool RoomSearch::bring_back(GangIndex gang) {
  const auto before = state_.checkpoint();
  bool any = false, all = true;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (!reasons_.contains(pod) || state_.is_present(pod)) continue;
    const bool is_back = put_back(pod);
    any = any || is_back;
    all = all && is_back;
  }
  if (any && (all || is_satisfied(state_, gang)) && claimant_fits()) return true;
  state_.rollback(before);
  return false;
}

// Puts back the evicted pods of the gang that its minimum needs and lets waiting pods complete it, then puts back the
// others that still fit; or changes nothing.
bool RoomSearch::bring_back_completed(GangIndex gang) {
  if (!placer_.may_place(gang) || is_satisfied(state_, gang) || !any_waits(gang)) return false;
  const auto before = state_.checkpoint();
  bool any = false;
  for (const bool is_surplus : {false, true}) {
    for (const GroupIndex leaf : problem_.gangs[gang].groups) {
      for (const PodIndex pod : problem_.groups[leaf].pods) {
        if (!is_surplus && state_.members(leaf) >= problem_.groups[leaf].minimum) break;
        any = (reasons_.contains(pod) && !state_.is_present(pod) && put_back(pod)) || any;
      }
    }
    if (!is_surplus && !(any && placer_.place_minimum(gang))) break;
  }
  if (any && is_satisfied(state_, gang) && claimant_fits()) {
    gave_way_.push_back(gang);
    return true;
  }
  state_.rollback(before);
  return false;
}

bool RoomSearch::any_waits(GangIndex gang) const {
  return std::ranges::any_of(problem_.gangs[gang].pods, [&](PodIndex pod) {
    return fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod);
  });
}

bool RoomSearch::bring_moved_back(const std::vector<PodIndex>& pods) {
  bool any = false;
  for (const PodIndex pod : pods) {
    if (!state_.is_present(pod) || is_home(state_, pod)) continue;
    const auto before = state_.checkpoint();
    state_.take(pod);
    if (put_back(pod) && claimant_fits()) {
      any = true;
    } else {
      state_.rollback(before);
    }
  }
  return any;
}

// Moves the gang's evicted pods to other nodes, except those that fit where they were: as many as it needs to keep its
// minimum, or none.
bool RoomSearch::move_elsewhere(GangIndex gang) {
  if (!fit::timeout(problem_.gangs[gang]) || !fit::queue_exists(problem_.gangs[gang])) return false;
  const auto before = state_.checkpoint();
  bool any = false;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (!reasons_.contains(pod) || state_.is_present(pod)) continue;
    const bool may_fit = fits_in_sum(problem_.class_of(pod)) && may_move_more(1);
    any = put_back(pod) || (may_fit && placer_.place_pod(pod)) || any;
  }
  if (any && is_satisfied(state_, gang)) return true;
  state_.rollback(before);
  return false;
}

}  // namespace muster
