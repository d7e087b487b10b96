#include "solver/rows/split_exits.h"

#include <algorithm>

#include "model/problem/gang_tree.h"

namespace muster::formulation {

bool SplitExits::may_help(const std::vector<ExitOption>& options, bool has_price) const {
  if (gang_class().is_singles || options.size() < 2) return false;
  std::int64_t running = 0;
  for (const RunningCellIndex cell : gang_class().running) running += demand_.running[cell].count();
  if (running < 2) return false;
  const auto has_use = [&](const ExitOption& option) {
    if (option.reason != EvictionReason::kReclaim) return false;
    return !option.whole || std::ranges::any_of(options, [&](const ExitOption& other) {
      return other.reason == EvictionReason::kStale ||
             (other.reason == EvictionReason::kReclaim && other.side != option.side);
    });
  };
  if (!has_price && std::ranges::none_of(options, has_use)) return false;
  const auto is_free = [&](RunningCellIndex cell) {
    return std::ranges::any_of(options, [&](const ExitOption& option) { return !protects(option, cell); });
  };
  if (std::ranges::all_of(gang_class().running, is_free)) return true;
  return meets_minimum(problem_, gang(), [&](PodIndex pod) {
    const RunningCellIndex cell = demand_.running_cell_of[pod];
    return problem_.pods[pod].status == PodStatus::kSucceeded || (!cell.is_none() && is_free(cell));
  });
}

bool SplitExits::protects(const ExitOption& option, RunningCellIndex cell) const {
  return problem_.pods[demand_.running[cell].pods.front()].run_time < option.protection;
}

bool SplitExits::ran_below_minimum() const {
  return !meets_minimum(problem_, gang(), [&](PodIndex pod) {
    return problem_.pods[pod].status == PodStatus::kSucceeded || !demand_.running_cell_of[pod].is_none();
  });
}

std::int64_t SplitExits::least_unprotected() const {
  if (gang().groups.size() > 1) return 0;
  std::int64_t least = problem_.groups[gang().root].minimum;
  for (const PodIndex pod : gang().pods) least -= problem_.pods[pod].status == PodStatus::kSucceeded ? 1 : 0;
  return std::max<std::int64_t>(0, least);
}

}  // namespace muster::formulation
