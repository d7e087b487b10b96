// Whether the given pods meet a gang's minimum, recursively through its subgroups.
#pragma once

#include <cstdint>
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

}  // namespace muster
