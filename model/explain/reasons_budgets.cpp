#include "model/explain/reasons_budgets.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace muster::explain {
namespace {

using Left = Indexed<DisruptionBudgetIndex, std::int64_t>;

bool is_home(const Problem& problem, const AfterPlan& end, PodIndex pod) {
  return problem.pods[pod].status == PodStatus::kRunning && end.node[pod] == problem.pods[pod].node &&
         std::ranges::equal(end.devices[pod], problem.devices_of(pod));
}

Left left_after(const Problem& problem, const AfterPlan& end) {
  const DisruptionBudgets& budgets = problem.disruption_budgets;
  Left left;
  for (const DisruptionBudget& budget : budgets.all()) left.push_back(budget.allowed);
  for (const PodIndex pod : problem.pods.indices()) {
    if (budgets.of(pod).empty() || is_home(problem, end, pod)) continue;
    for (const DisruptionBudgetIndex budget : budgets.of(pod)) --left[budget];
  }
  return left;
}

// What leaves of the gang if its minimum does: all its running pods.
bool may_go_whole(const Problem& problem, const Gang& gang, const Left& left) {
  std::vector<PodIndex> running;
  for (const PodIndex pod : gang.pods) {
    if (problem.pods[pod].status == PodStatus::kRunning) running.push_back(pod);
  }
  return problem.disruption_budgets.allow(running, left);
}

}  // namespace

Indexed<PodIndex, bool> held_by_budgets(const Problem& problem, const AfterPlan& end) {
  const DisruptionBudgets& budgets = problem.disruption_budgets;
  Indexed<PodIndex, bool> held(problem.pods.size(), false);
  if (budgets.empty()) return held;
  Left left = left_after(problem, end);
  std::vector<PodIndex> limited;
  std::map<NodeIndex, std::int64_t> on_node;  // limited pods
  for (const PodIndex pod : problem.pods.indices()) {
    if (budgets.of(pod).empty() || !is_home(problem, end, pod)) continue;
    const Gang& gang = problem.gangs[problem.pods[pod].gang];
    const bool is_core = std::ssize(gang.pods) <= problem.groups[gang.root].minimum;
    held[pod] = budgets.is_pinned(pod) || (is_core && !may_go_whole(problem, gang, left));
    if (held[pod]) continue;
    limited.push_back(pod);
    ++on_node[end.node[pod]];
  }
  std::ranges::stable_sort(limited, {}, [&](PodIndex pod) {
    return std::tuple(problem.gangs[problem.pods[pod].gang].priority, on_node[end.node[pod]], end.node[pod],
                      -problem.class_of(pod).work);
  });
  for (const PodIndex pod : limited) {
    held[pod] = !budgets.allow({&pod, 1}, left);
    if (held[pod]) continue;
    for (const DisruptionBudgetIndex budget : budgets.of(pod)) --left[budget];
  }
  return held;
}

}  // namespace muster::explain
