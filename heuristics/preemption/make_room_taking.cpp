// Takes pods off, puts them back, and relocates them.
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "heuristics/preemption/make_room.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/staying.h"

namespace muster {

void RoomSearch::adopt(const std::vector<PlannedEviction>& evictions) {
  for (const PlannedEviction& eviction : evictions) {
    reasons_.set(eviction);
    rules_.note(eviction, taken_);
    has_evicted_ = true;
  }
  is_local_ = false;
  for (const GangIndex gang : problem_.gangs.indices()) note_placed(gang, 0);
  has_room_grown();
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
      const PlannedEviction eviction{pod, kReasons[static_cast<std::size_t>(means_)], claimant_};
      reasons_.set(eviction);
      rules_.note(eviction, taken_);
      is_local_ = is_local_ &&
                  (problem_.gangs[problem_.pods[pod].gang].pods.size() == 1 || !any_waits(problem_.pods[pod].gang));
    }
  }
}

bool RoomSearch::put_back(PodIndex pod) { return put_back(pod, snapshot_place(problem_, pod)); }

bool RoomSearch::put_back(PodIndex pod, const Place& place) {
  const PodClass& pod_class = problem_.class_of(pod);
  const bool is_home = problem_.pods[pod].status == PodStatus::kRunning && place == snapshot_place(problem_, pod);
  const Room room = room_of(state_, place.node);
  if (!(is_home
            ? has_room_at_home(state_, pod)
            : fit::capacity(room, pod_class) && fit::devices_at(room, problem_, pod_class, place.node, place.devices)))
    return false;
  if (!fit::anti_affinity(state_, pod_class, place.node) && is_kept_out(pod, place.node)) return false;
  if (!keeps_topology(pod, place)) return false;
  const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
  const QueueAmounts added = queue_usage(pod_class, problem_.class_of(place.node));
  if (!gang.queue.is_none() && (!fit::limit(state_, bounds_, gang, added) || !fit::quota(state_, bounds_, gang, added)))
    return false;
  state_.put(pod, place.node, place.devices);
  return true;
}

// Whether an anti-affinity with a placed pod keeps the pod from coming back to its node. Pods that ran next to each
// other, whatever their terms, may continue.
bool RoomSearch::is_kept_out(PodIndex pod, NodeIndex node) const {
  if (problem_.pods[pod].node != node) return true;
  const auto forbids = [&](const std::vector<AntiAffinityIndex>& mine, const std::vector<AntiAffinityIndex>& theirs,
                           NodeIndex there) {
    return std::ranges::any_of(mine, [&](AntiAffinityIndex term) {
      const auto& domain_of = problem_.anti_affinities[term].domain_of;
      return std::ranges::find(theirs, term) != theirs.end() && !domain_of[node].is_none() &&
             domain_of[node] == domain_of[there];
    });
  };
  const PodClass& pod_class = problem_.class_of(pod);
  for (const PodIndex other : problem_.pods.indices()) {
    if (other == pod || !state_.is_present(other) || (!is_fresh(other) && is_home(state_, other))) continue;
    const PodClass& other_class = problem_.class_of(other);
    const NodeIndex there = state_.node_of(other);
    if (forbids(pod_class.anti_affinity_owned, other_class.anti_affinity_matched, there) ||
        forbids(pod_class.anti_affinity_matched, other_class.anti_affinity_owned, there))
      return true;
  }
  return false;
}

// Whether the pod, at the place, shares one domain with the placed pods of its groups that require a level; with all
// present pods of them if it is placed itself. A pod counts as placed also if it is on other devices of its node.
bool RoomSearch::keeps_topology(PodIndex pod, const Place& place) const {
  const Node& node = problem_.nodes[place.node];
  const bool is_placed = place != snapshot_place(problem_, pod);
  for (GroupIndex group = problem_.pods[pod].group; !group.is_none(); group = problem_.groups[group].parent) {
    const TopologyLevelIndex level = problem_.groups[group].required_level;
    if (level.is_none()) continue;
    bool keeps = true;
    for_each_pod(problem_, group, [&](PodIndex other) {
      if (other == pod || !state_.is_present(other) || (!is_placed && is_home(state_, other))) return;
      const DomainIndex domain = problem_.nodes[state_.node_of(other)].domains[level.value()];
      keeps = keeps && domain == node.domains[level.value()];
    });
    if (!keeps) return false;
  }
  return true;
}

// Relocates victims: all of them or none. Large ones first. If only moves are allowed, pods that have been placed for
// later levels give way.
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
  const auto displace = [this](PodIndex pod, std::span<const NodeIndex> nodes) {
    return clear_for_displaced(pod, nodes);
  };
  auto clear = placer_.exchange_clear(stage_ == Stage::kDisplacing ? GangPlacer::Clear(displace)
                                      : unit.must_move             ? GangPlacer::Clear(swap)
                                                                   : nullptr);
  const bool moved =
      std::ranges::all_of(pods, [&](PodIndex pod) { return state_.is_present(pod) || placer_.place_pod(pod); });
  placer_.exchange_clear(std::move(clear));
  if (!moved) state_.rollback(before);
  return moved;
}

}  // namespace muster
