// Bounds of the levels `wholeNodes` to `cpuOnGpuNodes`, by what a plan must hold in sum given the levels before.
#pragma once

#include "model/levels.h"
#include "model/missing_pods.h"
#include "model/possibilities.h"
#include "model/problem.h"
#include "model/wholeness.h"

namespace muster {

// Bounds that hold whatever a plan does. Cost: O(pods + nodes).
WholenessValues trivial_wholeness(const Problem& problem);

// Bounds of these levels for plans with given values of all levels before.
class WholenessBounds {
 public:
  // The problem must outlive it. Cost: O(pods + nodes x devices).
  explicit WholenessBounds(const Problem& problem);

  // Requires `levels` of that problem, with the levels of wholeness. A bound holds for plans that are equal to it in
  // all levels before. A level is bounded no further than its value. Cost: O(prices x (nodes + pods) x log) until the
  // value is reached, and O(gang shapes x nodes), within limits.
  WholenessValues given(const Levels& levels) const;

 private:
  struct Given;
  std::int64_t most_whole_domains(const Given& given, std::int64_t whole_nodes) const;
  GangSpread least_spread(const Given& given) const;
  std::int64_t least_misplaced(const Given& given) const;

  const Problem& problem_;
  WholeNodes whole_nodes_;
  Possibilities possibilities_;
  PossibleSums sums_;
};

}  // namespace muster
