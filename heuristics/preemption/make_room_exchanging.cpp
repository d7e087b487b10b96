// Once all claims are settled: evicted gangs run on elsewhere, in place of others of their queue and priority that have
// run for a shorter time. The victims of a claim were the best at that time, on the node that was cleared; later
// placements and evictions leave other choices.
#include <algorithm>
#include <map>
#include <utility>

#include "heuristics/preemption/make_room.h"
#include "model/base/saturating.h"

namespace muster {

namespace {

// Other victims must have run shorter by this percentage for a move to pay.
constexpr std::int64_t kMostPercent = 90;
constexpr int kMostRounds = 3;  // in which the victims are chosen anew; the later rounds find less
constexpr int kMostPasses = 4;  // over all evicted gangs; the later passes find less

}  // namespace

void RoomSearch::exchange_victims() {
  if (!problem_.snapshot->policy.actions.consolidate) return;
  choose_victims_anew(kMostRounds);
  bool again = true;
  for (int pass = 0; again && pass < kMostPasses; ++pass) {
    again = false;
    ExchangeMemory memory;
    for (const Evicted& evicted : evicted_longest_run_first()) {
      if (is_out_of_time()) {
        exchange_.reset();
        return;
      }
      again = exchange_unless_in_vain(evicted, memory) || again;
    }
  }
  exchange_.reset();
}

// An exchange that failed with more candidates, or for as many equivalent pods, need not be tried again on the same
// state.
bool RoomSearch::exchange_unless_in_vain(const Evicted& evicted, ExchangeMemory& memory) {
  if (memory.state != state_.checkpoint()) memory = {state_.checkpoint(), {}, shortest_runs()};
  const PodIndex first = evicted.pods.front();
  const Gang& gang = problem_.gangs[problem_.pods[first].gang];
  const auto shortest = memory.shortest_runs.find({gang.queue, gang.priority});
  if (shortest == memory.shortest_runs.end() || shortest->second > most_seconds(evicted)) return false;
  const bool are_alike = std::ranges::all_of(
      evicted.pods, [&](PodIndex pod) { return problem_.pods[pod].pod_class == problem_.pods[first].pod_class; });
  const ExchangeMemory::Kind kind{gang.queue, gang.priority, problem_.pods[first].pod_class, evicted.first.for_gang,
                                  evicted.first.reason};
  const auto failed = memory.failed.find(kind);
  if (are_alike && failed != memory.failed.end() && evicted.pods.size() >= failed->second) return false;
  if (exchange(evicted, Stage::kPlain) || exchange(evicted, Stage::kDisplacing)) return true;
  if (are_alike) memory.failed[kind] = evicted.pods.size();
  return false;
}

// By queue and priority, the shortest run time of any present pod that may be evicted. Cost: O(pods).
RoomSearch::ShortestRuns RoomSearch::shortest_runs() const {
  ShortestRuns shortest;
  for (const PodIndex index : problem_.pods.indices()) {
    const Pod& pod = problem_.pods[index];
    if (pod.status != PodStatus::kRunning || !state_.is_present(index) || !rules_.may_evict(pod.gang)) continue;
    const Gang& gang = problem_.gangs[pod.gang];
    const auto [known, is_new] = shortest.try_emplace({gang.queue, gang.priority}, pod.run_seconds);
    if (!is_new) known->second = std::min(known->second, pod.run_seconds);
  }
  return shortest;
}

std::int64_t RoomSearch::most_seconds(const Evicted& evicted) { return evicted.least_seconds * kMostPercent / 100; }

// By gang, the longest-running first: they have the most to gain.
std::vector<RoomSearch::Evicted> RoomSearch::evicted_longest_run_first() const {
  std::map<GangIndex, Evicted> by_gang;
  for (const PlannedEviction& eviction : reasons_.entries()) {
    if (state_.is_present(eviction.pod)) continue;
    Evicted& evicted = by_gang[problem_.pods[eviction.pod].gang];
    if (evicted.pods.empty()) evicted.first = eviction;
    evicted.pods.push_back(eviction.pod);
    evicted.least_seconds = std::min(evicted.least_seconds, problem_.pods[eviction.pod].run_seconds);
  }
  std::vector<Evicted> all;
  for (auto& [gang, evicted] : by_gang) all.push_back(std::move(evicted));
  std::ranges::stable_sort(all, std::ranges::greater{}, &Evicted::least_seconds);
  return all;
}

// Whether the evicted pods were placed in exchange for others, at a smaller loss; otherwise nothing has changed.
bool RoomSearch::exchange(const Evicted& evicted, Stage stage) {
  const Gang& gang = problem_.gangs[problem_.pods[evicted.pods.front()].gang];
  if (!fit::timeout(gang) || !fit::queue_exists(gang) || evicted.first.for_gang.is_none()) return false;
  const Before before = begin_exchange({gang.queue, gang.priority, most_seconds(evicted)});
  go_like(evicted.first);
  stage_ = stage;
  const std::int64_t loss_before = evicted_loss();
  if (bring(evicted.pods)) {
    settle();
    return end_exchange(before, loss_before);
  }
  undo(before);
  return false;
}

RoomSearch::Before RoomSearch::begin_exchange(const Exchange& exchange) {
  stage_ = Stage::kPlain;
  rank_ = latest_rank_;  // no placed gang gives way
  exchange_ = exchange;
  ++attempts_;
  gave_way_.clear();
  displaced_.clear();
  lost_ = {};
  attempt_reasons_ = reasons_.checkpoint();
  const Before before{state_.checkpoint(), attempt_reasons_, has_evicted_};
  if (levels_at_ != before.state) levels_ = leading_levels_.of(state_);
  levels_at_ = before.state;
  return before;
}

// Any new victim leaves for the same claim, and in the same way, as the evicted one.
void RoomSearch::go_like(const PlannedEviction& eviction) {
  claimant_ = eviction.for_gang;
  means_ = eviction.reason == EvictionReason::kPreempt ? Means::kPreempt : Means::kReclaim;
}

// Whether the leading levels are better, or are the same and less is evicted; otherwise nothing has changed.
bool RoomSearch::end_exchange(const Before& before, std::int64_t loss_before) {
  if (rules_hold()) {
    std::vector<Work> levels = leading_levels_.of(state_);
    if (levels > levels_ || (levels == levels_ && evicted_loss() < loss_before)) {
      keep(std::move(levels));
      return true;
    }
  }
  undo(before);
  return false;
}

bool RoomSearch::may_go_in_exchange(PodIndex pod) const {
  const Pod& p = problem_.pods[pod];
  const Gang& gang = problem_.gangs[p.gang];
  return means_ != Means::kSwap && p.status == PodStatus::kRunning && p.gang != claimant_ && rules_.may_evict(p.gang) &&
         gang.queue == exchange_->queue && gang.priority == exchange_->priority &&
         p.run_seconds <= exchange_->most_seconds;
}

std::int64_t RoomSearch::evicted_loss() const {
  std::int64_t loss = 0;
  for (const PlannedEviction& eviction : reasons_.entries()) {
    const Pod& pod = problem_.pods[eviction.pod];
    if (!state_.is_present(eviction.pod))
      loss = saturating_add(loss, saturating_multiply(pod.weighted_work, pod.run_seconds));
  }
  return loss;
}

}  // namespace muster
