// What is lost if a pod leaves, and what a gang may make others lose (docs/semantics.md, rule Price).
#pragma once

#include <cstdint>

#include "model/base/saturating.h"
#include "model/problem/problem.h"

namespace muster {

// What the pod counts in the level `evicted`: its weighted work x the seconds that it has run. Saturates.
inline std::int64_t evicted_value(const Pod& pod) { return saturating_multiply(pod.weighted_work, pod.run_seconds); }

// Thousandths of a GPU x seconds: the pod's work, without the gang's weight, x the seconds since it started, or since
// its gang's last checkpoint if that is later; one second at least. Requires a pod that runs. Cost: O(1).
std::int64_t loss_of(const Problem& problem, PodIndex pod);

// price x the least work that meets the gang's minimum x the seconds that it has waited, rounded down. Requires price
// >= 0. Saturates. Cost: O(pods log pods) of the gang.
std::int64_t most_loss_for(const Problem& problem, GangIndex gang, double price);

}  // namespace muster
