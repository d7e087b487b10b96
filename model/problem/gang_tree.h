// Whether the given pods meet a gang's minimum, recursively through its subgroups.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// `counts(pod)` returns whether a pod counts as present (a succeeded one usually does). Cost: O(pods + groups). Not
// recursive, so a long chain of subgroups cannot overflow the stack.
template <class Counts>
bool meets_minimum(const Problem& problem, const Gang& gang, const Counts& counts) {
  const auto leaf_is_met = [&](const Group& group) {
    std::int32_t present = 0;
    for (const PodIndex pod : group.pods) present += counts(pod) ? 1 : 0;
    return present >= group.minimum;
  };
  if (gang.groups.size() == 1) return leaf_is_met(problem.groups[gang.root]);
  // Groups of a gang are adjacent, parents first: from the back, children are known before their parents.
  const std::uint32_t first = gang.root.value();
  std::vector<std::int32_t> met_children(gang.groups.size(), 0);
  for (std::size_t i = gang.groups.size(); i-- > 0;) {
    const Group& group = problem.groups[gang.groups[i]];
    const bool is_met = group.is_leaf() ? leaf_is_met(group) : met_children[i] >= group.minimum;
    if (group.parent.is_none()) return is_met;
    met_children[group.parent.value() - first] += is_met ? 1 : 0;
  }
  return false;
}

// Whether some pods of the gang run, but fewer than its minimum, those that have succeeded included. Cost: as before.
template <class Runs>
bool is_in_part(const Problem& problem, const Gang& gang, const Runs& runs) {
  return std::ranges::any_of(gang.pods, runs) && !meets_minimum(problem, gang, [&](PodIndex pod) {
           return problem.pods[pod].status == PodStatus::kSucceeded || runs(pod);
         });
}

// A least sum, and how many pods are lacking for it.
struct LeastSum {
  std::int64_t lacking = 0, sum = 0;
  friend auto operator<=>(const LeastSum&, const LeastSum&) = default;
};

// The least sum of `value(pod)` over pods that meet the gang's minimum, of pods that have neither failed nor are
// releasing. If there are too few, as few as possible are lacking; of a gang without subgroups, all of them count then.
// Negative values count as 0. Cost: O(pods log pods + groups).
template <class Value>
std::int64_t least_sum(const Problem& problem, const Gang& gang, const Value& value) {
  const auto smallest = [](auto& values, std::int32_t number) {
    std::sort(values.begin(), values.end());
    values.resize(std::min(values.size(), static_cast<std::size_t>(std::max(0, number))));
  };
  std::vector<std::int64_t> values;
  const auto of_leaf = [&](const Group& group) {
    values.clear();
    for (const PodIndex pod : group.pods) {
      const PodStatus status = problem.pods[pod].status;
      if (status != PodStatus::kFailed && status != PodStatus::kReleasing)
        values.push_back(std::max<std::int64_t>(0, value(pod)));
    }
    smallest(values, group.minimum);
    const std::int64_t lacking = std::max(0, group.minimum) - static_cast<std::int64_t>(values.size());
    return LeastSum{lacking, std::accumulate(values.begin(), values.end(), std::int64_t{0})};
  };
  if (gang.groups.size() == 1) return of_leaf(problem.groups[gang.root]).sum;
  const std::uint32_t first = gang.root.value();
  std::vector<std::vector<LeastSum>> of_children(gang.groups.size());
  const auto of_inner = [&](const Group& group, std::vector<LeastSum>& children) {
    smallest(children, group.minimum);
    LeastSum total;
    for (const LeastSum& child : children) {
      total.lacking += child.lacking;
      total.sum += child.sum;
    }
    return total;
  };
  for (std::size_t i = gang.groups.size(); i-- > 0;) {
    const Group& group = problem.groups[gang.groups[i]];
    const LeastSum least = group.is_leaf() ? of_leaf(group) : of_inner(group, of_children[i]);
    if (group.parent.is_none()) return least.sum;
    of_children[group.parent.value() - first].push_back(least);
  }
  return 0;
}

// Classes of gangs by the GPUs of all their pods, for figures.
struct GangSize {
  const char* name;  // in GPUs; "<=16": more than the class before
  Work most;         // thousandths of a GPU
};
inline constexpr std::array<GangSize, 9> kGangSizes = {{{"0", 0},
                                                        {"<1", 999},
                                                        {"1", 1'000},
                                                        {"<4", 3'999},
                                                        {"<8", 7'999},
                                                        {"8", 8'000},
                                                        {"<=16", 16'000},
                                                        {"<=32", 32'000},
                                                        {">32", std::numeric_limits<Work>::max()}}};

// Position in kGangSizes.
inline std::size_t gang_size(Work gpus) {
  return static_cast<std::size_t>(std::ranges::lower_bound(kGangSizes, gpus, {}, &GangSize::most) - kGangSizes.begin());
}

// Gangs of at least this many GPUs are large; thousandths.
inline constexpr Work kLargeGang = 8'000;

}  // namespace muster
