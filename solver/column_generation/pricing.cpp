#include "solver/column_generation/pricing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "model/base/tuning.h"

namespace muster::column_generation {
namespace {

constexpr double kLargestStride = kTuning.pricing.factor - 1;

}  // namespace

Pricing::Result Pricing::price(const std::vector<double>& price, int effort) {
  Result result;
  std::ranges::fill(relaxed_.stock_price(), 0.0);
  builder_.set_prices(price);
  result.dual_bound = relaxed_.dual(price);
  builder_.build(price, relaxed_.within_counts(price), result);
  for (int round = 0; round < kTuning.pricing.rounds * effort; ++round) {
    for (std::size_t r = 0; r < node_.resources.size(); ++r) {
      relaxed_.bisect(r, price);
      result.dual_bound = std::min(result.dual_bound, relaxed_.dual(price));
      builder_.build(price, relaxed_.within_counts(price), result);
    }
    divide_stock(price, kTuning.pricing.steps * effort, result);
  }
  mix(price, result);
  return sorted(std::move(result));
}

// Subgradient steps on the stock's multipliers: an item that the devices take more often than it is available gets more
// expensive.
void Pricing::divide_stock(const std::vector<double>& price, int steps, Result& result) {
  for (int step = 0; step < steps; ++step) {
    const double value = relaxed_.dual(price);
    result.dual_bound = std::min(result.dual_bound, value);
    double norm = 0;
    for (std::size_t i = 0; i < node_.items.size(); ++i) {
      const double over = relaxed_.last().amount[i] - node_.items[i].most;
      if (over > 0.5 || relaxed_.stock_price()[i] > 0) norm += over * over;
    }
    const double best = result.worth.empty() ? 0 : *std::max_element(result.worth.begin(), result.worth.end());
    if (norm < 0.25 || value <= best * (1 + 1e-9)) return;
    for (std::size_t i = 0; i < node_.items.size(); ++i) {
      const double over = relaxed_.last().amount[i] - node_.items[i].most;
      if (over > 0.5 || relaxed_.stock_price()[i] > 0)
        relaxed_.stock_price()[i] = std::max(0.0, relaxed_.stock_price()[i] + (value - best) / norm * over);
    }
  }
}

// Splits a content into what single devices hold: candidates for best_mix.
void Pricing::add_bundles(const std::vector<double>& price, std::vector<DeviceBundle>& bundles) {
  const auto add = [&](DeviceBundle bundle) {
    for (std::size_t i : bundle.items) {
      bundle.value += price[node_.items[i].demand.value()];
      bundle.use += node_.request_of(i, scarce_);
    }
    bundles.push_back(std::move(bundle));
  };
  for (std::size_t i = 0; i < node_.items.size(); ++i)
    if (node_.items[i].whole > 0 && relaxed_.last().amount[i] > 0.5) add({{i}, node_.items[i].whole});
  const RelaxedNode::Content divided = relaxed_.within_counts(price);
  const std::size_t first = node_.partial_levels.size();
  for (std::size_t device = first; device < std::min(divided.on_devices.size(), first + kTuning.pricing.bundles);
       ++device)
    if (!divided.on_devices[device].empty()) add({divided.on_devices[device], 1});
}

// Chooses among the bundles of several multipliers, each for some of the idle devices, by a dynamic program over
// devices and the scarcest resource (a multiple-choice knapsack): the relaxed content is all of one kind, the best real
// one often a mix.
std::vector<const DeviceBundle*> Pricing::best_mix(const std::vector<DeviceBundle>& bundles) const {
  const double grain = node_.free[scarce_] / static_cast<double>(kTuning.pricing.mix_levels);
  const std::size_t width = kTuning.pricing.mix_levels + 1;
  const auto devices = static_cast<std::size_t>(node_.idle);
  std::vector<double> best((devices + 1) * width, 0.0);
  std::vector<std::int32_t> chosen(best.size(), -1);
  for (std::size_t n = 1; n <= devices; ++n)
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t at = n * width + c;
      best[at] = best[at - width];
      for (std::size_t b = 0; b < bundles.size(); ++b) {
        const auto taken = static_cast<std::size_t>(bundles[b].devices);
        const auto use = static_cast<std::size_t>(std::ceil(bundles[b].use / grain - 1e-9));
        if (taken > n || use > c) continue;
        const double value = best[at - taken * width - use] + bundles[b].value;
        if (value <= best[at]) continue;
        best[at] = value;
        chosen[at] = static_cast<std::int32_t>(b);
      }
    }
  std::vector<const DeviceBundle*> mix;
  for (std::size_t n = devices, c = kTuning.pricing.mix_levels; n > 0;) {
    const std::int32_t b = chosen[n * width + c];
    if (b < 0) {
      --n;
      continue;
    }
    const DeviceBundle& bundle = bundles[static_cast<std::size_t>(b)];
    mix.push_back(&bundle);
    n -= static_cast<std::size_t>(bundle.devices);
    c -= static_cast<std::size_t>(std::ceil(bundle.use / grain - 1e-9));
  }
  return mix;
}

// Bundles at multipliers of the scarcest resource around the best one, and their best mix.
void Pricing::mix(const std::vector<double>& price, Result& result) {
  if (node_.resources.empty()) return;
  const std::vector<double> multiplier = relaxed_.multiplier();
  for (std::size_t r = 0; r < node_.resources.size(); ++r)
    if (multiplier[r] * node_.free[r] > multiplier[scarce_] * node_.free[scarce_]) scarce_ = r;
  if (multiplier[scarce_] == 0) return;
  std::vector<DeviceBundle> bundles;
  const auto add_at = [&](double factor) {
    relaxed_.multiplier()[scarce_] = multiplier[scarce_] * factor;
    result.dual_bound = std::min(result.dual_bound, relaxed_.dual(price));
    add_bundles(price, bundles);
  };
  add_at(0);
  for (int power = -kTuning.pricing.mixed; power <= kTuning.pricing.mixed; ++power)
    add_at(std::pow(kTuning.pricing.factor, power));
  relaxed_.multiplier() = multiplier;
  if (!bundles.empty() && node_.idle > 0) builder_.build(price, best_mix(bundles), result);
}

Pricing::Result Pricing::sorted(Result result) {
  std::vector<std::size_t> order(result.worth.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return result.worth[a] > result.worth[b]; });
  Result best_first{result.dual_bound, {}, {}};
  for (std::size_t i : order) {
    best_first.configurations.push_back(std::move(result.configurations[i]));
    best_first.worth.push_back(result.worth[i]);
  }
  return best_first;
}

// Each multiplier follows the sign of its slope, by a factor that shrinks where the sign turns and grows where it does
// not (after Riedmiller and Braun 1993, without the gradient's size); the best ones are kept for the next call.
Pricing::Result Pricing::quick(const std::vector<double>& price) {
  std::ranges::fill(relaxed_.stock_price(), 0.0);
  if (stride_.empty()) {
    stride_.assign(node_.resources.size(), kLargestStride);
    is_over_.assign(node_.resources.size(), 0);
    for (std::size_t r = 0; r < node_.resources.size(); ++r) relaxed_.bisect(r, price);
  }
  builder_.set_prices(price);
  Result result;
  result.dual_bound = std::numeric_limits<double>::infinity();
  std::vector<double> best;
  for (int step = 0; step < kTuning.pricing.steps; ++step) {
    const double value = relaxed_.dual(price);
    if (value < result.dual_bound) {
      result.dual_bound = value;
      best = relaxed_.multiplier();
    }
    if (step == 0 || step + 1 == kTuning.pricing.steps) builder_.build(price, relaxed_.within_counts(price), result);
    for (std::size_t r = 0; r < node_.resources.size(); ++r) {
      const bool is_over = relaxed_.is_over(r);
      stride_[r] = (is_over != (is_over_[r] != 0)) ? stride_[r] / 2
                                                   : std::min(kLargestStride, stride_[r] * kTuning.pricing.factor);
      stride_[r] = std::max(stride_[r], kTuning.pricing.least_stride);
      is_over_[r] = is_over ? 1 : 0;
      if (is_over && relaxed_.multiplier()[r] <= 0)
        relaxed_.multiplier()[r] = kTuning.pricing.first_multiplier * node_.highest_multiplier(r, price);
      else
        relaxed_.multiplier()[r] *= is_over ? 1 + stride_[r] : 1 / (1 + stride_[r]);
    }
  }
  relaxed_.multiplier() = std::move(best);
  return sorted(std::move(result));
}

}  // namespace muster::column_generation
