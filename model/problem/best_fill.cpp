#include "model/problem/best_fill.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/semantics.h"

namespace muster {
namespace {

// Items of one size that may be chosen: the first ones are worth most.
struct SizeClass {
  std::int64_t units = 0;
  std::vector<std::size_t> positions;
  std::vector<std::int64_t> worth{0};  // of the first k of them
  std::vector<std::uint32_t> taken;    // by sum: how many of them are in the best subset with that sum
};

class Fill {
 public:
  Fill(std::span<const FillItem> items, std::int64_t capacity) : items_(items), left_(capacity) {}

  std::vector<std::size_t> run() {
    std::int64_t unit = 0;
    for (const FillItem& item : items_) unit = std::gcd(unit, item.size);
    if (unit == 0) return {};
    const std::size_t first = take_first(unit);
    collect(first, unit);
    choose(static_cast<std::size_t>(left_ / unit));
    std::ranges::sort(chosen_);
    return std::move(chosen_);
  }

 private:
  // Takes items in turn until what is left can be examined exactly; returns the first that was not visited.
  std::size_t take_first(std::int64_t unit) {
    std::size_t at = 0;
    for (; at < items_.size() && left_ / unit > kSemantics.fill_units; ++at) {
      if (items_[at].size > left_) continue;
      left_ -= items_[at].size;
      chosen_.push_back(at);
    }
    return at;
  }

  void collect(std::size_t first, std::int64_t unit) {
    std::map<std::int64_t, std::size_t> index;
    for (std::size_t i = first; i < items_.size(); ++i) {
      const FillItem& item = items_[i];
      if (item.size > left_) continue;
      const auto [found, is_new] = index.try_emplace(item.size, classes_.size());
      if (is_new) classes_.push_back({item.size / unit, {}, {0}, {}});
      SizeClass& same = classes_[found->second];
      if (static_cast<std::int64_t>(same.positions.size()) >= left_ / item.size) continue;
      same.positions.push_back(i);
      same.worth.push_back(saturating_add(same.worth.back(), saturating_multiply(item.worth, item.size)));
    }
  }

  void choose(std::size_t capacity) {
    constexpr std::int64_t kNoSubset = -1;
    std::vector<std::int64_t> best(capacity + 1, kNoSubset), next;
    best[0] = 0;
    for (SizeClass& same : classes_) {
      next.assign(capacity + 1, kNoSubset);
      same.taken.assign(capacity + 1, 0);
      const auto units = static_cast<std::size_t>(same.units);
      for (std::size_t sum = 0; sum <= capacity; ++sum) {
        for (std::size_t k = 0; k < same.worth.size() && k * units <= sum; ++k) {
          const std::int64_t before = best[sum - k * units];
          if (before == kNoSubset) continue;
          const std::int64_t worth = saturating_add(before, same.worth[k]);
          if (worth <= next[sum]) continue;
          next[sum] = worth;
          same.taken[sum] = static_cast<std::uint32_t>(k);
        }
      }
      best.swap(next);
    }
    std::size_t sum = capacity;
    while (best[sum] == kNoSubset) --sum;
    for (std::size_t i = classes_.size(); i-- > 0;) {
      const SizeClass& same = classes_[i];
      const std::size_t taken = same.taken[sum];
      chosen_.insert(chosen_.end(), same.positions.begin(),
                     same.positions.begin() + static_cast<std::ptrdiff_t>(taken));
      sum -= taken * static_cast<std::size_t>(same.units);
    }
  }

  std::span<const FillItem> items_;
  std::int64_t left_;  // of the capacity
  std::vector<SizeClass> classes_;
  std::vector<std::size_t> chosen_;
};

}  // namespace

std::vector<std::size_t> best_fill(std::span<const FillItem> items, std::int64_t capacity) {
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(items, std::greater<>{}, &FillItem::worth));
  MUSTER_REQUIRE_SLOW(
      std::ranges::all_of(items, [](const FillItem& item) { return item.size > 0 && item.worth >= 0; }));
  return capacity > 0 ? Fill(items, capacity).run() : std::vector<std::size_t>{};
}

}  // namespace muster
