// Bounds of the levels `wholeNodes` to `cpuOnGpuNodes`, from the sums that a plan must reach given the earlier levels.
#pragma once

#include <memory>
#include <optional>

#include "model/objective/levels.h"
#include "model/objective/missing_pods.h"
#include "model/objective/possibilities.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster {

// Bounds that hold for every plan. Cost: O(pods + nodes).
WholenessValues trivial_wholeness(const Problem& problem);

// Bounds of these levels for plans with given values of all earlier levels.
class WholenessBounds {
 public:
  // The problem must outlive it. Cost: O(pods + nodes x devices).
  explicit WholenessBounds(const Problem& problem);
  ~WholenessBounds();

  // Requires `levels` of that problem, with the levels of wholeness. A bound holds for plans that are equal to it in
  // all levels before. A level is bounded no further than its value. What was found is kept for the next levels that
  // are equal down to `seniority`. Cost: O(prices x (nodes + pods) x log) until the value is reached, and O(pod classes
  // x nodes), within limits.
  WholenessValues given(const Levels& levels);

 private:
  struct Given;
  std::int64_t most_whole(std::int64_t whole_nodes) const;
  std::int64_t most_whole_domains(std::int64_t whole_nodes) const;
  GangSpread least_spread() const;
  std::int64_t least_misplaced() const;

  const Problem& problem_;
  WholeNodes whole_nodes_;
  Possibilities possibilities_;
  PossibleSums sums_;
  std::unique_ptr<Given> given_;  // what is known of plans with the last levels
  // Bounds for them, once they were asked for.
  std::optional<std::int64_t> most_whole_, least_misplaced_;
  std::optional<GangSpread> least_spread_;
};

}  // namespace muster
