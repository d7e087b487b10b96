#include "cli/answers/words.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "model/snapshot/unread.h"

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

std::string proven_words(const Snapshot& snapshot, std::string_view what) {
  const std::string_view scope = scope_of_proof(snapshot.anomalies);
  return fmt::format("yes{}{}; no better plan starts {}", scope.empty() ? "" : ",", scope, what);
}

void note_scope(const Snapshot& snapshot, AnswerDocument& document) {
  if (has_unread(snapshot.anomalies))
    document.add_note("Proven of what was read: some keys of the cluster's objects are not read.", Meaning::kWarning);
}

Cell gpu_cell(MicroGpu amount) {
  return amount == kUnlimited ? Cell().shown_as("unlimited") : Cell(Decimal{amount, 1'000'000});
}

Cell queue_cell(const Problem& problem, QueueIndex queue) {
  return queue.is_none() ? Cell() : Cell(std::string(problem.queues[queue].name));
}

}  // namespace muster::cli
