#include "heuristics/preemption/candidates/candidate.h"

#include <algorithm>

namespace muster::preemption {

bool budgets_allow(const ClusterState& state, const NodeCandidate& candidate) {
  if (state.budgets().empty()) return true;
  std::vector<PodIndex> pods;
  for (const VictimUnit& unit : candidate.victims) pods.insert(pods.end(), unit.pods.begin(), unit.pods.end());
  return state.budgets_allow(pods);
}

bool has_budgets(const ClusterState& state, NodeIndex node) {
  const auto& budgets = state.problem().disruption_budgets;
  return std::ranges::any_of(state.pods_on(node),
                             [&](PodIndex pod) { return !budgets.of(pod).empty() && !budgets.is_pinned(pod); });
}

}  // namespace muster::preemption
