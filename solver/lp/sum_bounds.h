// Bounds of the levels by sums, and of `work` by packing: those that hold for every plan, and those that hold for plans
// with given values of the levels before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/objective/wholeness_bounds.h"
#include "model/problem/problem.h"
#include "solver/lp/packing_bound.h"

namespace muster::lp {

class SumBounds {
 public:
  // All three must outlive it. `trivial`: as trivial_bounds() has them, by the time that a bound is asked for.
  SumBounds(const Problem& problem, const FairShares& shares, const std::vector<std::int64_t>& trivial)
      : problem_(problem), shares_(shares), ids_(level_ids(problem)), trivial_(trivial) {}

  // The bound of level `i` for plans that are equal to `levels` in all levels before. Cost: that of least_evicted(),
  // WholenessBounds::given() or PackingBound::most_work() for levels that need it; the second is kept for the levels
  // that were asked for last, the third for good.
  std::int64_t of(const Levels& levels, std::size_t i) const;
  // The bounds that `levels` reaches; none elsewhere.
  std::vector<std::optional<std::int64_t>> reached(const Levels& levels) const;
  // Makes each bound at least as strong as the one by sums, if sums bound the level.
  void tighten(const Levels& levels, std::vector<std::optional<std::int64_t>>& bounds) const;
  // Of the levels of wholeness.
  const WholenessValues& wholeness(const Levels& levels) const;

 private:
  std::int64_t most_work(const Levels& levels, std::size_t i) const;

  const Problem& problem_;
  const FairShares& shares_;
  std::vector<LevelId> ids_;
  const std::vector<std::int64_t>& trivial_;
  mutable std::optional<PackingBound> packing_bound_;
  mutable std::optional<WholenessBounds> wholeness_bounds_;
  mutable Levels wholeness_given_;  // the levels that `wholeness_` holds for
  mutable WholenessValues wholeness_{};
};

}  // namespace muster::lp
