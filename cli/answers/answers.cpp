#include "cli/answers/answers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/line/line_options.h"
#include "cli/terminal/console.h"
#include "cli/terminal/terminal.h"
#include "model/base/saturating.h"
#include "model/snapshot/unread.h"

namespace muster::cli {

std::optional<Decimal> decimal_in(const std::string& text) {
  std::string digits = text;
  Decimal number;
  if (const std::size_t point = text.find('.'); point != std::string::npos) {
    digits.erase(point, 1);
    for (std::size_t i = point + 1; i < text.size(); ++i) number.scale = saturating_multiply(number.scale, 10);
  }
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number.value);
  return error == std::errc() && stop == end && number.scale != kLargest ? std::optional(number) : std::nullopt;
}

std::optional<Decimal> decimal_in(const std::optional<std::string>& text) {
  return text ? decimal_in(*text) : std::nullopt;
}

Decimal subtract(Decimal a, Decimal b) {
  const std::int64_t scale = std::max(a.scale, b.scale);
  const auto scaled = [&](Decimal number) { return saturating_multiply(number.value, scale / number.scale); };
  return {saturating_subtract(scaled(a), scaled(b)), scale};
}

bool differ(const std::optional<Decimal>& a, const std::optional<Decimal>& b) {
  if (!a || !b) return a.has_value() != b.has_value();
  return subtract(*a, *b).value != 0;
}

std::string failure_words(const InputError& error) {
  const bool has_place = !error.path.empty() && error.path != "$";
  return (has_place ? escaped(error.path) + ": " : "") + escaped(error.message);
}

int complain_of(std::string_view command, const InputError& error, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster {}: {}\n", command, failure_words(error)));
  return exit_code;
}

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

std::vector<OptionRow> with_experiment_options(std::vector<OptionRow> others, const DefaultBudget& budget) {
  const std::vector<OptionRow> rows = {
      {"budget", "DURATION", budget.help},
      {"engine", "NAME", "solver engine: auto, greedy or milp [auto]", kNoLetter, kEngines},
      {"threads", "N", "number of solver threads [the available cores]"},
      {"seed", "N", "random seed [1]"},
      {"deterministic", "", "equal input gives equal bytes: work limits instead of the clock"}};
  others.insert(others.end(), rows.begin(), rows.end());
  return others;
}

answers::ExperimentOptions experiment_options(const Settings& settings, const DefaultBudget& budget) {
  answers::ExperimentOptions options;
  options.solve = line_options(settings).solve;
  const auto given = settings.duration("budget");
  options.budget = given ? std::chrono::nanoseconds(*given) : budget.time;
  return options;
}

}  // namespace muster::cli
