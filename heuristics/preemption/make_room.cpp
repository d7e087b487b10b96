#include "heuristics/preemption/make_room.h"

#include <algorithm>
#include <utility>

#include "heuristics/state/groups.h"
#include "model/base/saturating.h"

namespace muster {

namespace {

// The minimum, in millionths of a device, that a pod of the class takes, wherever it is.
MicroGpu least_devices(const PodClass& pod_class) {
  if (pod_class.gpu.kind == GpuRequestKind::kNone || pod_class.gpu.kind == GpuRequestKind::kMemory) return 0;
  return pod_class.gpu.devices * (pod_class.gpu.kind == GpuRequestKind::kFraction ? pod_class.gpu.share : 1'000'000);
}

bool has_limits(const QueueBounds& bounds) {
  return std::ranges::any_of(bounds.usage, [](const QueueAmounts& of_queue) {
    return std::ranges::any_of(of_queue, [](Amount bound) { return bound != kNoBound; });
  });
}

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
      leading_levels_(parts.levels != nullptr ? *parts.levels : LeadingLevels(parts.problem, parts.shares)),
      stale_(std::move(stale)),
      placed_rank_(problem_.pods.size(), -1),
      reasons_(problem_.pods.size()),
      is_local_(!has_limits(bounds_)),
      cache_(problem_.nodes.size()),
      cheapest_(problem_.nodes.size()),
      recently_touched_(problem_.nodes.size()) {}

bool RoomSearch::is_allowed() const { return problem_.snapshot->policy.actions.place; }

bool RoomSearch::may_claim(std::int32_t rank) const {
  const Actions& actions = problem_.snapshot->policy.actions;
  if (!actions.place) return false;
  if (latest_rank_ > rank) return true;
  return (actions.consolidate || actions.preempt || actions.reclaim) && !survey().runs_in.empty();
}

void RoomSearch::note_placed(GangIndex gang, std::int32_t rank) {
  for (const PodIndex pod : problem_.gangs[gang].pods) note_placed(pod, rank);
}

void RoomSearch::note_placed(PodIndex pod, std::int32_t rank) {
  latest_rank_ = std::max(latest_rank_, rank);
  if (!is_fresh(pod)) return;
  if (!state_.is_present(pod)) {
    placed_rank_[pod] = -1;
  } else if (placed_rank_[pod] < 0) {
    placed_rank_[pod] = rank;
  }
}

bool RoomSearch::claim_minimum(GangIndex gang, std::int32_t rank) {
  rank_ = rank;
  return claim(gang, [&] {
    if (!min_resources_hold(gang) && !free_min_resources()) return false;
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
  if (attempt({Means::kSwap}, place)) return true;
  if (actions.consolidate && attempt({Means::kConsolidate}, place)) return true;
  return may_evict && claim_by_evicting(place);
}

// Uses the first mode that loses only work of the lowest priority beyond the shares, else the one with the best levels.
// Reclaim comes first: only a claimant that stays within its share may reclaim, and what it preempts within its queue
// is lost to that share.
template <class Place>
bool RoomSearch::claim_by_evicting(const Place& place) {
  const Actions& actions = problem_.snapshot->policy.actions;
  std::vector<Way> ways;
  for (const bool displaces : {false, true}) {
    if (displaces && !actions.consolidate) continue;
    if (actions.reclaim) ways.push_back({Means::kReclaim, displaces});
    if (actions.preempt) ways.push_back({Means::kPreempt, displaces});
  }
  std::optional<Way> best;
  std::vector<Work> best_levels;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Before before;
    std::optional<std::vector<Work>> levels = try_once(ways[i], place, before);
    if (!levels) continue;
    const bool is_better = !best || *levels > best_levels;
    const bool is_least =
        lost_.share == Loss{} && lost_.quota == Loss{} && lost_.work.priority <= problem_.priorities.back();
    if (is_better && (is_least || i + 1 == ways.size())) {
      keep(*std::move(levels));
      return true;
    }
    undo(before);
    if (!is_better) continue;
    best = ways[i];
    best_levels = *std::move(levels);
  }
  return best && attempt(*best, place);
}

template <class Place>
bool RoomSearch::attempt(Way way, const Place& place) {
  Before before;
  std::optional<std::vector<Work>> levels = try_once(way, place, before);
  if (levels) keep(*std::move(levels));
  return levels.has_value();
}

// The resulting levels, if they are better than before; otherwise nothing has changed.
template <class Place>
std::optional<std::vector<Work>> RoomSearch::try_once(Way way, const Place& place, Before& before) {
  stopped_ = is_out_of_time();
  if (stopped_) return std::nullopt;
  means_ = way.means;
  stage_ = way.displaces ? Stage::kDisplacing : Stage::kPlain;
  if (is_hopeless()) return std::nullopt;
  if (room_seen_.empty()) has_room_grown();
  ++attempts_;
  if (latest_rank_ > rank_) {
    has_victims_.assign(problem_.gangs.size(), false);
    for (const PlannedEviction& eviction : evictions()) {
      if (!eviction.for_gang.is_none()) has_victims_[eviction.for_gang.value()] = true;
    }
  }
  gave_way_.clear();
  displaced_.clear();
  lost_ = {};
  attempt_reasons_ = reasons_.checkpoint();
  before = {state_.checkpoint(), attempt_reasons_, has_evicted_};
  has_evicted_ = has_evicted_ || means_ != Means::kSwap;
  // Between claims the state's log only grows, so a log of the same length means the same state.
  if (levels_at_ != before.state) levels_ = leading_levels_.of(state_);
  levels_at_ = before.state;
  placer_.exchange_clear([this](PodIndex pod, std::span<const NodeIndex> nodes) { return clear_for(pod, nodes); });
  const bool placed = place();
  placer_.exchange_clear(nullptr);
  if (placed) {
    settle();
    place_again();
    if (rules_hold()) {
      std::vector<Work> levels = leading_levels_.of(state_);
      if (levels > levels_) return levels;
    }
  }
  undo(before);
  return std::nullopt;
}

void RoomSearch::keep(std::vector<Work> levels) {
  levels_ = std::move(levels);
  levels_at_ = state_.checkpoint();
  for (const GangIndex gang : gave_way_) note_placed(gang, rank_ + 1);
}

void RoomSearch::undo(const Before& before) {
  state_.rollback(before.state);
  reasons_.rollback(before.reasons);
  has_evicted_ = before.has_evicted;
  has_room_grown();
}

// Whether no pod anywhere may be evicted, moved, or give way for the claimant. Can err on one side only: possibly none
// of the pods that once ran is left.
bool RoomSearch::is_hopeless() const {
  if (means_ == Means::kSwap) return latest_rank_ <= rank_;
  const Gang& claimant = problem_.gangs[claimant_];
  if (means_ == Means::kPreempt) return survey().lowest_running[claimant.queue] >= claimant.priority;
  // Whether gangs may be reclaimed depends on their queue alone.
  return std::ranges::none_of(survey().runs_in, [&](const auto& runs) {
    if (means_ != Means::kReclaim) return true;
    return runs.first != claimant.queue && rules_.may_reclaim(state_, claimant_, runs.second) &&
           rules_.claims_within_share(state_, claimant_, runs.second, {});
  });
}

bool RoomSearch::is_claimant_new() const {
  return std::ranges::all_of(problem_.gangs[claimant_].pods,
                             [&](PodIndex pod) { return problem_.pods[pod].status != PodStatus::kRunning; });
}

// Whether a pod of the class fits into the total of what is free on all nodes: if not, moves cannot help.
bool RoomSearch::fits_in_sum(const PodClass& pod_class) const {
  for (std::size_t r = 0; r < problem_.resource_count; ++r) {
    if (pod_class.request[r] > 0 && state_.free_in_sum()[r] < pod_class.request[r]) return false;
  }
  return devices_fit_in_sum(pod_class, 1);
}

bool RoomSearch::devices_fit_in_sum(const PodClass& pod_class, std::int64_t pods) const {
  return saturating_multiply(least_devices(pod_class), pods) <= state_.free_devices_in_sum();
}

// Whether any victim could fit on a node other than its own. What its own node has left next to the claimant's pod does
// not help: a victim that fits there stays.
bool RoomSearch::could_relocate() const {
  return problem_.snapshot->policy.actions.consolidate &&
         std::ranges::any_of(survey().running_classes,
                             [&](PodClassIndex index) { return fits_in_sum(problem_.pod_classes[index]); });
}

}  // namespace muster
