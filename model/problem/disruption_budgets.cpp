#include "model/problem/disruption_budgets.h"

#include <algorithm>

namespace muster {

std::string DisruptionBudget::title() const {
  if (is_of_gang) return "the minimum of gang \"" + std::string(name) + "\", which stays,";
  if (namespace_name.empty()) return std::string(name);
  return "disruption budget \"" + std::string(namespace_name) + "/" + std::string(name) + "\"";
}

bool DisruptionBudgets::allow(std::span<const PodIndex> pods) const {
  if (empty()) return true;
  Indexed<DisruptionBudgetIndex, std::int64_t> left;
  if (pods.size() == 1) return !is_pinned(pods.front());
  left.reserve(budgets_.size());
  for (const DisruptionBudget& budget : budgets_) left.push_back(budget.allowed);
  return allow(pods, left);
}

bool DisruptionBudgets::allow(std::span<const PodIndex> pods,
                              const Indexed<DisruptionBudgetIndex, std::int64_t>& left) const {
  if (empty()) return true;
  if (pods.size() == 1)
    return std::ranges::all_of(of(pods.front()), [&](DisruptionBudgetIndex budget) { return left[budget] > 0; });
  std::vector<DisruptionBudgetIndex> used;  // once for each pod; sorted, so that equal ones lie together
  for (const PodIndex pod : pods) used.insert(used.end(), of(pod).begin(), of(pod).end());
  std::ranges::sort(used);
  for (auto first = used.begin(); first != used.end();) {
    const auto end = std::ranges::upper_bound(first, used.end(), *first);
    if (end - first > left[*first]) return false;
    first = end;
  }
  return true;
}

}  // namespace muster
