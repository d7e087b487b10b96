#include "heuristics/preemption/attempt.h"

#include <cstddef>

#include "model/base/saturating.h"
#include "model/objective/levels.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {
namespace {

// What counts in a level of evictions, with the sign reversed.
void subtract_loss(const Pod& pod, std::int32_t of_gang, const std::vector<std::int32_t>& priorities,
                   std::vector<Work>& values) {
  const Work loss = evicted_value(pod);
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    if (of_gang >= priorities[i]) values[i] = saturating_subtract(values[i], loss);
  }
}

}  // namespace

std::vector<Work> PreemptionAttempt::levels_now() {
  std::vector<Work> leading = leading_levels_.of(state_);
  const ObjectiveTerms& terms = problem_.objective;
  if (terms.preemptible.empty()) return leading;
  const auto ranks = static_cast<std::ptrdiff_t>(terms.priorities.size());
  PresenceValues values{.share = {leading.begin(), leading.begin() + ranks},
                        .quota = {leading.begin() + ranks, leading.begin() + 2 * ranks},
                        .work = {leading.begin() + 2 * ranks, leading.end()},
                        .preempted = std::vector<Work>(terms.preemptible.size(), 0),
                        .evicted_beyond = std::vector<Work>(terms.evictable.size(), 0)};
  for (const PlannedEviction& eviction : ledger_.records()) {
    if (state_.is_present(eviction.pod)) continue;
    const Pod& pod = problem_.pods[eviction.pod];
    if (eviction.reason == EvictionReason::kPreempt && !shares_.beyond[pod.gang])
      subtract_loss(pod, problem_.gangs[pod.gang].priority, terms.preemptible, values.preempted);
  }
  std::vector<Work> levels = in_order(problem_, values).values;
  constexpr std::ptrdiff_t kAfterWork = 3;  // `evicted`, `moved` and `seniority`, which are left at 0
  levels.resize(levels.size() - kAfterWork);
  return levels;
}

}  // namespace muster::preemption
