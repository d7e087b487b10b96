// Once a claim is placed: who does not stand in its way comes back, others move on, those that gave way are placed
// again.
#include <algorithm>
#include <map>

#include "heuristics/groups.h"
#include "heuristics/make_room.h"

namespace muster {

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
    for (const GangIndex gang : evicted_gangs()) {
      if (!bring_back(gang)) bring_back_completed(gang);
    }
    again = bring_moved_back();
    if (again || !may_move) continue;
    for (const GangIndex gang : evicted_gangs()) again = move_elsewhere(gang) || again;
  }
}

bool RoomSearch::rules_hold() const {
  if (has_evicted_ && !rules_.hold(state_, evictions())) return false;
  return std::ranges::all_of(with_min_resources_, [&](GangIndex gang) {
    return !is_anything_present(state_, gang) || fit::min_resources(state_, gang);
  });
}

// Those that gave way may find room elsewhere.
void RoomSearch::place_again() {
  for (const GangIndex gang : std::vector<GangIndex>(gave_way_)) {
    const auto before = state_.checkpoint();
    const bool placed = is_satisfied(state_, gang) ? placer_.place_one_more(gang) : placer_.place_minimum(gang);
    if (placed && !rules_hold()) state_.rollback(before);
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
  if (any && (all || is_satisfied(state_, gang)) && fit::min_resources(state_, claimant_)) return true;
  state_.rollback(before);
  return false;
}

// Puts back of the gang's evicted pods what its minimum needs and lets pods that wait complete it, then puts back the
// others that still fit; or nothing.
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
  if (any && is_satisfied(state_, gang) && fit::min_resources(state_, claimant_)) {
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

bool RoomSearch::bring_moved_back() {
  bool any = false;
  for (const auto& [pod, eviction] : reasons_) {
    if (!state_.is_present(pod) || state_.place_of(pod) == snapshot_place(problem_, pod)) continue;
    const auto before = state_.checkpoint();
    state_.take(pod);
    if (put_back(pod) && fit::min_resources(state_, claimant_)) {
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
