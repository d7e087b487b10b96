#include "cli/answers/words.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace muster::cli {
std::string duration_words(Nanoseconds duration) {
  constexpr std::array<std::pair<std::int64_t, char>, 4> kUnits = {{{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}}};
  std::int64_t seconds = std::max<std::int64_t>(0, duration / kNanosecondsPerSecond);
  std::string text;
  std::size_t written = 0;
  for (const auto& [length, letter] : kUnits) {
    const std::int64_t count = seconds / length;
    seconds %= length;
    if (count == 0 && written == 0) continue;
    if (count > 0) text += fmt::format("{}{}", count, letter);
    if (++written == 2) break;
  }
  return text.empty() ? "0s" : text;
}

Cell gpu_cell(MicroGpu amount) {
  return amount == kUnlimited ? Cell().shown_as("unlimited") : Cell(Decimal{amount, 1'000'000});
}

Cell queue_cell(const Problem& problem, QueueIndex queue) {
  return queue.is_none() ? Cell() : Cell(std::string(problem.queues[queue].name));
}

}  // namespace muster::cli
