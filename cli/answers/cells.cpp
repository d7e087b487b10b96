#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/answers/answers.h"
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

std::string age_text(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86'400;
  if (seconds < kMinute) return fmt::format("{}s", seconds);
  if (seconds < kHour) return fmt::format("{}m", seconds / kMinute);
  if (seconds < kDay) return fmt::format("{}h{:02}m", seconds / kHour, seconds % kHour / kMinute);
  return fmt::format("{}d{}h", seconds / kDay, seconds % kDay / kHour);
}

std::string proven_words(const Snapshot& snapshot, std::string_view what) {
  const std::string_view scope = scope_of_proof(snapshot.anomalies);
  return fmt::format("yes{}{}; no better plan starts {}", scope.empty() ? "" : ",", scope, what);
}

void note_scope(const Snapshot& snapshot, AnswerDocument& document) {
  if (has_unread(snapshot.anomalies))
    document.add_note("Proven of what was read: some keys of the cluster's objects are not read.", Meaning::kWarning);
}

Cell gpu_cell(MicroGpu amount) { return amount == kUnlimited ? Cell().shown_as("unlimited") : Cell(gpus(amount)); }

Cell hours_cell(std::int64_t work) {
  constexpr double kPerHour = 3'600'000;
  const double hours = static_cast<double>(work) / kPerHour;
  return Cell(hours).shown_as(fmt::format("{:.1f}", hours));
}

Cell waited_cell(std::int64_t seconds) {
  return Cell(seconds).shown_as(duration_words(seconds * kNanosecondsPerSecond));
}

Cell queue_cell(const Problem& problem, QueueIndex queue) {
  return queue.is_none() ? Cell() : Cell(std::string(problem.queues[queue].name));
}

Cell text_or_none(std::string_view text) { return text.empty() ? Cell() : Cell(text); }

Cell verdict_cell(bool is_good) { return Cell(is_good).meaning(is_good ? Meaning::kGood : Meaning::kBad); }

Table leaving_table(std::string key, std::string title, const std::vector<answers::LeavingPod>& pods) {
  using Pod = answers::LeavingPod;
  constexpr std::size_t kMostRows = 20;
  return filled<Pod>({.key = std::move(key), .title = std::move(title), .most_rows = kMostRows},
                     {{"pod", "POD", &Pod::pod},
                      {"gang", "GANG", &Pod::gang},
                      {"action", "ACTION", [](const Pod& pod) { return pod.to.empty() ? "evicted" : "moved"; }},
                      {"from", "FROM", &Pod::from},
                      {"to", "TO", [](const Pod& pod) { return text_or_none(pod.to); }}},
                     pods);
}

}  // namespace muster::cli
