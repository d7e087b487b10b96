#include "model/referee/forecast.h"

#include <algorithm>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/semantics.h"
#include "model/referee/case.h"
#include "model/referee/least.h"

namespace muster::referee {
namespace {

constexpr Nanoseconds kHour = 3600 * kNanosecondsPerSecond;
constexpr Nanoseconds kShortest = kSemantics.shortest_seconds * kNanosecondsPerSecond;

// A duration as an exact fraction of nanoseconds.
struct Fraction {
  Wide sum = 0, count = 1;
};

// The mean of `history`, to which `prior` adds as much as `weight` gangs that took so long. Exact twice over, for up to
// 10^9 gangs.
Fraction blended(const DurationHistory& history, std::int64_t weight, const Fraction& prior) {
  const Wide gangs = std::min<std::int64_t>(history.count, 1'000'000'000);
  return {gangs * history.mean * prior.count + weight * prior.sum, (gangs + weight) * prior.count};
}

}  // namespace

bool tells_durations(const Snapshot& snapshot) {
  const OverTime& rules = snapshot.policy.over_time;
  if (rules.order != SeniorityRule::kExpectedDuration) return false;
  if (rules.expected_durations) return true;
  const auto tells = [](const GangTerms& terms) { return terms.expected_duration.has_value(); };
  return std::ranges::any_of(snapshot.gangs, tells, &SnapshotGang::terms) ||
         std::ranges::any_of(snapshot.own_gang_terms, tells);
}

std::int64_t thousand_times_two_thirds_power(std::int64_t n) {
  MUSTER_REQUIRE(n >= 0);
  n = std::min(n, std::int64_t{1} << 40);
  const Wide cube = Wide{n} * n * 1'000'000'000;
  std::int64_t low = 0, high = std::int64_t{1} << 38;  // low^3 <= cube < high^3
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (Wide{middle} * middle * middle <= cube ? low : high) = middle;
  }
  return low;
}

Forecast::Forecast(const Snapshot& snapshot, const Problem& problem) : snapshot_(snapshot), problem_(problem) {
  if (!snapshot.policy.over_time.expected_durations) return;
  for (const DurationHistory& history : *snapshot.policy.over_time.expected_durations)
    histories_[history.queue].push_back(history);
}

Nanoseconds Forecast::waited(GangIndex gang) const { return waited_of(snapshot_, problem_, gang); }

bool Forecast::has_timed_out(GangIndex gang) const {
  const GangTerms* terms = terms_of(snapshot_, problem_, gang);
  return terms != nullptr && terms->timeout && waited(gang) >= *terms->timeout;
}

// In GPUs, rounded up, at least 1.
std::int64_t Forecast::size(GangIndex gang) const {
  const Work least =
      least_for_minimum(problem_, problem_.gangs[gang], [this](PodIndex pod) { return problem_.class_of(pod).work; });
  return std::max<std::int64_t>(1, least / 1000 + (least % 1000 > 0 ? 1 : 0));
}

std::optional<DurationHistory> Forecast::history(std::string_view queue, std::int64_t gpus) const {
  const auto of_queue = histories_.find(queue);
  if (of_queue == histories_.end()) return std::nullopt;
  for (const DurationHistory& history : of_queue->second) {
    if (history.from <= gpus && (history.to == 0 || gpus <= history.to)) return history;
  }
  return std::nullopt;
}

Nanoseconds Forecast::by_histories(std::string_view queue, std::int64_t gpus) const {
  const SemanticNumbers& numbers = kSemantics;
  Fraction expected{(gpus == 1 ? numbers.single_hours : numbers.gang_hours) * kHour};
  if (const auto of_all = history("", gpus)) expected = blended(*of_all, numbers.imagined, expected);
  const auto of_queue = queue.empty() ? std::nullopt : history(queue, gpus);
  if (of_queue) expected = blended(*of_queue, numbers.borrowed, expected);
  return saturate(expected.sum / expected.count);
}

Nanoseconds Forecast::duration(GangIndex gang) const {
  const GangTerms* terms = terms_of(snapshot_, problem_, gang);
  const bool is_told = terms != nullptr && terms->expected_duration;
  const std::string_view queue = terms == nullptr ? GangTerms{}.queue : terms->queue;
  return std::max(kShortest, is_told ? *terms->expected_duration : by_histories(queue, size(gang)));
}

std::int64_t Forecast::seniority(GangIndex gang, Nanoseconds duration) const {
  const std::int64_t waited_seconds = waited(gang) / kNanosecondsPerSecond;
  const Wide product =
      Wide{thousand_times_two_thirds_power(size(gang))} * (Wide{waited_seconds} + kSemantics.added_seconds);
  return saturate(product / (duration / kNanosecondsPerSecond));
}

Nanoseconds Forecast::end(GangIndex gang) const {
  const Nanoseconds now = snapshot_.time, earliest = saturating_add(now, kShortest);
  if (const GangTerms* terms = terms_of(snapshot_, problem_, gang); terms != nullptr && terms->expected_end)
    return std::max(earliest, *terms->expected_end);
  Nanoseconds elapsed = 0;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    const SnapshotPod& source = snapshot_.pods[pod.value()];
    if (source.status == PodStatus::kRunning)
      elapsed = std::max(elapsed, saturating_subtract(now, source.started.value_or(now)));
  }
  const Nanoseconds left = duration(gang) - elapsed;
  if (left <= 0) return saturating_add(now, std::max(kSemantics.overrun_seconds * kNanosecondsPerSecond, elapsed / 2));
  return std::max(earliest, saturating_add(now, left));
}

}  // namespace muster::referee
