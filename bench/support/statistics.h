// The statistics of many measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace muster::bench {

// The value that this share (0..1) of all values is below. Requires a value.
inline double percentile(std::vector<double> values, double share) {
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}
inline double median(const std::vector<double>& values) { return percentile(values, 0.5); }

// The exponent k of the cost c x size^k that is nearest in the logarithms (least squares).
inline double exponent(const std::vector<double>& sizes, const std::vector<double>& costs) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double a = std::log(sizes[i]), b = std::log(std::max(costs[i], 1e-3));
    x += a, y += b, xx += a * a, xy += a * b;
  }
  const auto n = static_cast<double>(sizes.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

// Of positive values.
inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace muster::bench
