// How many more pods each disruption budget lets leave their places in the snapshot.
#pragma once

#include <cstdint>
#include <span>

#include "model/problem/problem.h"

namespace muster {

// Cheap to copy.
class BudgetsLeft {
 public:
  // No pod has left.
  explicit BudgetsLeft(const DisruptionBudgets& budgets) {
    left_.reserve(budgets.all().size());
    for (const DisruptionBudget& budget : budgets.all()) left_.push_back(budget.allowed);
  }

  // Whether no budget binds: then nothing below needs to be called.
  bool empty() const { return left_.empty(); }
  // Below 0 if too many have left.
  const Indexed<DisruptionBudgetIndex, std::int64_t>& left() const { return left_; }
  // Rule DisruptionBudget: none has fallen below 0.
  bool are_kept() const { return broken_ == 0; }

  // A pod of these budgets comes back to its place in the snapshot (`by` 1) or leaves it (-1).
  void count(std::span<const DisruptionBudgetIndex> budgets, std::int32_t by) {
    for (const DisruptionBudgetIndex budget : budgets) {
      std::int64_t& left = left_[budget];
      const bool was_broken = left < 0;
      left += by;
      broken_ += (left < 0 ? 1 : 0) - (was_broken ? 1 : 0);
    }
  }

 private:
  Indexed<DisruptionBudgetIndex, std::int64_t> left_;
  std::int32_t broken_ = 0;
};

}  // namespace muster
