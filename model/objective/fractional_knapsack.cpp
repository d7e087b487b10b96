#include "model/objective/fractional_knapsack.h"

namespace muster {

void FractionalKnapsack::add(const KnapsackItem& item) {
  profit_ += Wide{item.profit} * item.count;
  if (item.weight == 0) return;
  weight_ += Wide{item.weight} * item.count;
  in_.push(item);
  // An item that does not fit next to denser items never returns.
  while (!in_.empty() && weight_ - capacity_ >= Wide{in_.top().weight} * in_.top().count) {
    weight_ -= Wide{in_.top().weight} * in_.top().count;
    profit_ -= Wide{in_.top().profit} * in_.top().count;
    in_.pop();
  }
}

std::int64_t FractionalKnapsack::profit() const {
  const Wide excess = weight_ - capacity_;
  if (excess <= 0) return saturate(profit_);
  const KnapsackItem& last = in_.top();
  // The excess is less than the whole of the last group: 64 bits hold the part of each of its items that stays out.
  const Wide whole = excess / last.weight, rest = excess % last.weight;
  const Wide lost = whole * last.profit + (rest * last.profit + last.weight - 1) / last.weight;
  return saturate(profit_ - lost);
}

}  // namespace muster
