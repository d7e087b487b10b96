#include "solver/lp/sum_bounds.h"

#include <algorithm>
#include <utility>

#include "model/objective/level_bounds.h"

namespace muster::lp {

std::int64_t SumBounds::of(const Levels& levels, std::size_t i) const {
  if (is_about_wholeness(ids_[i].kind)) {
    const auto first = static_cast<std::size_t>(LevelKind::kWholeNodes);
    return wholeness(levels)[static_cast<std::size_t>(ids_[i].kind) - first];
  }
  if (ids_[i].kind == LevelKind::kWork) return most_work(levels, i);
  return ids_[i].kind == LevelKind::kEvicted ? least_evicted(problem_, shares_, levels) : trivial_[i];
}

// By packing if all pods would have to be present.
std::int64_t SumBounds::most_work(const Levels& levels, std::size_t i) const {
  const std::int64_t by_sums = trivial_[i];
  if (levels.values[i] == by_sums) return by_sums;
  if (!packing_bound_) packing_bound_.emplace(problem_);
  const std::vector<std::int64_t> work = values_of_kind(problem_, levels, LevelKind::kWork);
  const std::vector<std::int32_t>& priorities = problem_.objective.priorities;
  const auto rank = static_cast<std::size_t>(std::ranges::find(priorities, ids_[i].priority) - priorities.begin());
  if (packing_bound_->all_work(rank) != by_sums) return by_sums;
  if (rank > 0 && packing_bound_->all_work(rank - 1) != work[rank - 1]) return by_sums;
  return packing_bound_->most_work(rank);
}

std::vector<std::optional<std::int64_t>> SumBounds::reached(const Levels& levels) const {
  std::vector<std::optional<std::int64_t>> bounds(ids_.size());
  for (std::size_t i = 0; i < ids_.size(); ++i)
    if (const std::int64_t by_sums = of(levels, i); levels.values[i] == by_sums) bounds[i] = by_sums;
  return bounds;
}

void SumBounds::tighten(const Levels& levels, std::vector<std::optional<std::int64_t>>& bounds) const {
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const std::int64_t by_sums = of(levels, i);
    std::optional<std::int64_t>& bound = bounds[i];
    const bool is_least_known = ids_[i].kind == LevelKind::kEvicted || is_about_wholeness(ids_[i].kind);
    if (is_maximised(ids_[i].kind))
      bound = std::min(bound.value_or(by_sums), by_sums);
    else if (is_least_known)
      bound = std::max(bound.value_or(by_sums), by_sums);
  }
}

const WholenessValues& SumBounds::wholeness(const Levels& levels) const {
  if (!wholeness_bounds_) wholeness_bounds_.emplace(problem_);
  if (std::exchange(wholeness_given_, levels) != levels) wholeness_ = wholeness_bounds_->given(levels);
  return wholeness_;
}

}  // namespace muster::lp
