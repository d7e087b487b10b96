#include "model/objective/subset_sums.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"

namespace muster {

namespace {

constexpr std::int64_t kMostBits = std::int64_t{1} << 30;
constexpr std::size_t kFewListed = 1024;  // below this a list is quicker whatever the capacity
constexpr std::int64_t kWordBits = 64;

}  // namespace

SubsetSums::SubsetSums(std::int64_t capacity, std::int64_t divisor)
    : capacity_(divisor > 0 ? std::max<std::int64_t>(capacity, 0) / divisor : 0), divisor_(divisor) {
  MUSTER_REQUIRE(divisor > 0);
}

void SubsetSums::add(std::int64_t item, std::int64_t count) {
  MUSTER_REQUIRE(item % divisor_ == 0);
  item /= divisor_;
  if (item == 0 || item > capacity_ || count == 0 || is_full()) return;
  count = std::min(count, capacity_ / item);
  if (best_ == 0) {
    first_item_ = item;
    first_count_ = count;
    best_ = item * count;
    return;
  }
  if (first_count_ > 0) {
    best_ = 0;
    list_sums(first_item_, std::exchange(first_count_, 0));
  }
  list_sums(item, count);
}

void SubsetSums::list_sums(std::int64_t item, std::int64_t count) {
  for (std::int64_t part = 1; count > 0 && !is_full(); part *= 2) {
    const std::int64_t taken = std::min(part, count);
    add_once(item * taken);
    count -= taken;
  }
}

void SubsetSums::add_once(std::int64_t item) {
  const auto words = static_cast<std::size_t>(capacity_ / kWordBits);
  if (bits_.empty() && list_.size() > std::max(kFewListed, words / 4) && capacity_ < kMostBits) turn_into_bits();
  if (bits_.empty()) {
    add_to_list(item);
  } else {
    add_to_bits(item);
  }
}

void SubsetSums::add_to_list(std::int64_t item) {
  std::vector<std::int64_t> shifted;
  shifted.reserve(list_.size());
  for (const std::int64_t sum : list_) {
    if (sum > capacity_ - item) break;
    shifted.push_back(sum + item);
  }
  std::vector<std::int64_t> merged;
  merged.reserve(list_.size() + shifted.size());
  std::ranges::set_union(list_, shifted, std::back_inserter(merged));
  // The largest sums are kept, since only they matter, and the empty one.
  if (std::ssize(merged) > kTuning.bounds.steps) merged.erase(merged.begin() + 1, merged.end() - kTuning.bounds.steps);
  list_ = std::move(merged);
  best_ = list_.back();
}

void SubsetSums::turn_into_bits() {
  bits_.assign(static_cast<std::size_t>(capacity_ / kWordBits) + 1, 0);
  for (const std::int64_t sum : list_)
    bits_[static_cast<std::size_t>(sum / kWordBits)] |= std::uint64_t{1} << (sum % kWordBits);
  list_.clear();
}

// bits |= bits << item, from the top so that nothing is added twice; then sums above the capacity are cut off.
void SubsetSums::add_to_bits(std::int64_t item) {
  const auto word_shift = static_cast<std::size_t>(item / kWordBits);
  const auto bit_shift = static_cast<unsigned>(item % kWordBits);
  const auto used = std::min(bits_.size(), static_cast<std::size_t>((best_ + item) / kWordBits) + 1);
  for (std::size_t word = used; word-- > word_shift;) {
    const std::size_t from = word - word_shift;
    std::uint64_t shifted = bits_[from] << bit_shift;
    if (bit_shift != 0 && from > 0) shifted |= bits_[from - 1] >> (kWordBits - bit_shift);
    bits_[word] |= shifted;
  }
  const auto spare = static_cast<unsigned>(kWordBits - 1 - capacity_ % kWordBits);
  bits_.back() &= ~std::uint64_t{0} >> spare;
  std::size_t top = used;
  while (top > 0 && bits_[top - 1] == 0) --top;
  best_ = static_cast<std::int64_t>(top - 1) * kWordBits + (kWordBits - 1 - std::countl_zero(bits_[top - 1]));
}

std::vector<CountedItem> count_items(std::vector<CountedItem> items) {
  std::ranges::sort(items, std::greater<>{}, &CountedItem::item);
  std::size_t kept = 0;
  for (const CountedItem& one : items) {
    if (one.item <= 0) break;
    if (kept > 0 && items[kept - 1].item == one.item) {
      items[kept - 1].count += one.count;
    } else {
      items[kept++] = one;
    }
  }
  items.resize(kept);
  return items;
}

Work best_subset_sum(const std::vector<Work>& items, Work capacity) {
  capacity = std::max<Work>(capacity, 0);
  std::vector<CountedItem> counted;
  counted.reserve(items.size());
  Work sum = 0, divisor = 0;
  for (const Work item : items) {
    counted.push_back({item, 1});
    sum = saturating_add(sum, item);
    divisor = std::gcd(divisor, item);
  }
  if (sum <= capacity) return sum;
  SubsetSums sums(capacity, divisor);
  for (const CountedItem& one : count_items(std::move(counted))) sums.add(one.item, one.count);
  return sums.best();
}

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
