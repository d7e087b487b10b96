#include "heuristics/preemption/victim_exchange.h"

#include <algorithm>
#include <functional>

#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::preemption {

void VictimExchange::run() {
  MUSTER_REQUIRE(problem_.snapshot->policy.actions.consolidate);
  for (int pass = 0; pass < kTuning.heuristics.passes && run_once(); ++pass) {
  }
  claim_.exchange.reset();
}

// Whether another pass may find more: some victims were exchanged, and there was time for all.
bool VictimExchange::run_once() {
  bool any = false;
  Memory memory;
  for (const Evicted& evicted : evicted_longest_run_first()) {
    if (stop_.is_due()) return false;
    any = exchange_unless_in_vain(evicted, memory) || any;
  }
  return any;
}

// An exchange that failed with more candidates, or for as many equivalent pods, need not be tried again on the same
// state.
bool VictimExchange::exchange_unless_in_vain(const Evicted& evicted, Memory& memory) {
  if (memory.state != state_.checkpoint()) memory = {state_.checkpoint(), {}, shortest_runs()};
  const PodIndex first = evicted.pods.front();
  const Gang& gang = problem_.gangs[problem_.pods[first].gang];
  const auto shortest = memory.shortest_runs.find({gang.queue, gang.priority});
  if (shortest == memory.shortest_runs.end() || shortest->second > most_seconds(evicted)) return false;
  const bool are_alike = std::ranges::all_of(
      evicted.pods, [&](PodIndex pod) { return problem_.pods[pod].pod_class == problem_.pods[first].pod_class; });
  const Memory::Kind kind{gang.queue, gang.priority, problem_.pods[first].pod_class, evicted.first.for_gang,
                          evicted.first.reason};
  const auto failed = memory.failed.find(kind);
  if (are_alike && failed != memory.failed.end() && evicted.pods.size() >= failed->second) return false;
  if (exchange(evicted, ClaimStage::kPlain) || exchange(evicted, ClaimStage::kDisplacing)) return true;
  if (are_alike) memory.failed[kind] = evicted.pods.size();
  return false;
}

// Whether the evicted pods were placed in exchange for others, at a smaller loss; otherwise nothing has changed.
bool VictimExchange::exchange(const Evicted& evicted, ClaimStage stage) {
  const Gang& gang = problem_.gangs[problem_.pods[evicted.pods.front()].gang];
  if (!fit::may_start(gang) || !fit::queue_exists(gang) || evicted.first.for_gang.is_none()) return false;
  const ExchangeAttempt::Before before = attempt_.begin({gang.queue, gang.priority, most_seconds(evicted)});
  attempt_.evict_like(evicted.first);
  claim_.stage = stage;
  if (attempt_.bring(evicted.pods)) return attempt_.end(before);
  attempt_.undo(before);
  return false;
}

// By gang, the longest-running first: they have the most to gain.
std::vector<VictimExchange::Evicted> VictimExchange::evicted_longest_run_first() const {
  std::map<GangIndex, Evicted> by_gang;
  for (const PlannedEviction& eviction : ledger_.records()) {
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

// By queue and priority, the shortest run time of any present pod that may be evicted. Cost: O(pods).
VictimExchange::ShortestRuns VictimExchange::shortest_runs() const {
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

std::int64_t VictimExchange::most_seconds(const Evicted& evicted) { return evicted.least_seconds - 1; }

}  // namespace muster::preemption
