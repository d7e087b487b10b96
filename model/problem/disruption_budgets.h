// Disruption budgets as the problem has them: which running pods count in which budgets, and how many more may be
// evicted.
//
// Only budgets that can bind are kept: those that select more running pods than they allow to be evicted. Pods of equal
// budgets share a set, so that a query for a pod costs no more with thousands of budgets than with one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/index.h"

namespace muster {

using DisruptionBudgetIndex = Index<struct DisruptionBudgetTag>;
using BudgetSetIndex = Index<struct BudgetSetTag>;

struct DisruptionBudget {
  std::string_view name;
  std::string_view namespace_name;  // empty: a policy of the snapshot, for pods of all namespaces
  std::int64_t allowed = 0;         // running pods that may be evicted or moved
  bool is_of_gang = false;          // it keeps the minimum of the gang of this name
  // For people: disruption budget "ns/name", the policy's name, or the minimum of a gang.
  std::string title() const;
};

class DisruptionBudgets {
 public:
  // Whether no budget binds: then nothing below needs to be called.
  bool empty() const { return budgets_.empty(); }
  const Indexed<DisruptionBudgetIndex, DisruptionBudget>& all() const { return budgets_; }

  // None: the pod counts in no budget, like every pod that does not run.
  BudgetSetIndex set_of(PodIndex pod) const { return empty() ? BudgetSetIndex::none() : set_of_[pod]; }
  std::span<const DisruptionBudgetIndex> in_set(BudgetSetIndex set) const {
    return set.is_none() ? std::span<const DisruptionBudgetIndex>() : std::span(sets_[set]);
  }
  std::span<const DisruptionBudgetIndex> of(PodIndex pod) const { return in_set(set_of(pod)); }
  // Whether one of its budgets allows no evictions, so that it stays in every plan. Such a set holds only that budget.
  bool is_pinned(PodIndex pod) const {
    const BudgetSetIndex set = set_of(pod);
    return !set.is_none() && budgets_[sets_[set].front()].allowed == 0;
  }
  // Whether these running pods could be evicted if no others were. Cost: O(pods x budgets of each).
  bool allow(std::span<const PodIndex> pods) const;
  // The same, with a given number of evictions left in each budget.
  bool allow(std::span<const PodIndex> pods, const Indexed<DisruptionBudgetIndex, std::int64_t>& left) const;

  // Used by build_problem alone. A budget must be added before the sets that hold it, the pods after all of them.
  DisruptionBudgetIndex add(const DisruptionBudget& budget) { return budgets_.push_back(budget); }
  void set_pods(Indexed<BudgetSetIndex, std::vector<DisruptionBudgetIndex>> sets,
                Indexed<PodIndex, BudgetSetIndex> set_of) {
    sets_ = std::move(sets);
    set_of_ = std::move(set_of);
  }

 private:
  Indexed<DisruptionBudgetIndex, DisruptionBudget> budgets_;
  Indexed<BudgetSetIndex, std::vector<DisruptionBudgetIndex>> sets_;  // none is empty
  Indexed<PodIndex, BudgetSetIndex> set_of_;                          // empty if no budget binds
};

}  // namespace muster
