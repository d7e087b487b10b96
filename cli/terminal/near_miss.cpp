#include "cli/terminal/near_miss.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace muster::cli {
namespace {

constexpr std::size_t kMostDistance = 2;

// Three rows of the usual dynamic-programming table: for each prefix of `a`, its distance to every prefix of `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates, std::string_view prefix) {
  std::string_view nearest;
  std::size_t least = std::min(kMostDistance + 1, word.size());
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) > kMostDistance) continue;  // bounds the cost
    const std::size_t far = distance(word, candidate);
    if (far >= least) continue;
    least = far;
    nearest = candidate;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}{}'?", prefix, nearest);
}

}  // namespace muster::cli
