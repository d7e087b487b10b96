// The least that meets the minimum of a gang: the referee's own sum.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster::referee {

// Groups that cannot meet their minimum come last: they lack pods.
struct Least {
  std::int64_t lacking = 0, sum = 0;
  friend auto operator<=>(const Least&, const Least&) = default;
};

inline Least least_of(std::vector<Least> parts, std::int32_t minimum) {
  std::ranges::sort(parts);
  Least least;
  for (std::int32_t i = 0; i < minimum; ++i) {
    if (static_cast<std::size_t>(i) >= parts.size()) return {least.lacking + minimum - i, least.sum};
    least.lacking += parts[static_cast<std::size_t>(i)].lacking;
    least.sum += parts[static_cast<std::size_t>(i)].sum;
  }
  return least;
}

// The least sum of `value(PodIndex)` over pods that meet the gang's minimum. Failed and releasing pods are left out. If
// there are too few pods, as few as possible are missing. Values are >= 0.
template <class Value>
std::int64_t least_for_minimum(const Problem& problem, const Gang& gang, const Value& value) {
  std::vector<std::vector<Least>> parts(gang.groups.size());  // by group: of its pods or children
  for (std::size_t i = parts.size(); i-- > 0;) {              // children before parents
    const Group& group = problem.groups[gang.groups[i]];
    for (const PodIndex pod : group.pods) {
      const PodStatus status = problem.pods[pod].status;
      if (status != PodStatus::kFailed && status != PodStatus::kReleasing) parts[i].push_back({0, value(pod)});
    }
    const Least least = least_of(std::move(parts[i]), group.minimum);
    if (group.parent.is_none()) return least.sum;
    parts[group.parent.value() - gang.root.value()].push_back(least);
  }
  return 0;
}

}  // namespace muster::referee
