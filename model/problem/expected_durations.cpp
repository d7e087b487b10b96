#include "model/problem/expected_durations.h"

#include <algorithm>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"

namespace muster {
namespace {

constexpr Nanoseconds kHour = 3600 * kNanosecondsPerSecond;

// The largest k with k^3 <= value. Requires value <= 2^110.
std::int64_t cube_root(Wide value) {
  std::int64_t low = 0, high = std::int64_t{1} << 37;
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (Wide{middle} * middle * middle <= value) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// A duration in nanoseconds as an exact fraction: rounding it before the end would make the result a second less.
struct Mean {
  Wide sum = 0, count = 1;
};

// The mean of the history and of so many more gangs of that duration. Histories of more than 10^9 gangs count as of so
// many.
Mean mean_with(const DurationHistory* history, std::int64_t more, const Mean& duration) {
  if (history == nullptr) return duration;
  const Wide count = std::min<std::int64_t>(history->count, 1'000'000'000);
  return {count * history->mean * duration.count + more * duration.sum, (count + more) * duration.count};
}

}  // namespace

ExpectedDurations::ExpectedDurations(const OverTime& policy) {
  if (!policy.expected_durations) return;
  for (const DurationHistory& history : *policy.expected_durations)
    (history.queue.empty() ? of_all_ : of_queue_[history.queue]).push_back(&history);
}

const DurationHistory* ExpectedDurations::find(const Histories& histories, std::int64_t gpus) {
  const auto found = std::ranges::find_if(histories, [&](const DurationHistory* history) {
    return history->from <= gpus && (history->to == 0 || gpus <= history->to);
  });
  return found == histories.end() ? nullptr : *found;
}

Nanoseconds ExpectedDurations::expected(std::string_view queue, std::int64_t gpus,
                                        std::optional<Nanoseconds> told) const {
  if (told) return std::max(*told, kShortestExpected);
  const OverTimeTuning& tuning = kTuning.over_time;
  const Mean usual{kHour * (gpus == 1 ? tuning.single_hours : tuning.gang_hours)};
  Mean mean = mean_with(find(of_all_, gpus), tuning.imagined, usual);
  if (const auto own = of_queue_.find(queue); own != of_queue_.end())
    mean = mean_with(find(own->second, gpus), tuning.borrowed, mean);
  return std::max(kShortestExpected, saturate(mean.sum / mean.count));
}

Nanoseconds expected_rest(Nanoseconds expected, Nanoseconds run_time) {
  if (expected > run_time) return std::max(kShortestExpected, expected - run_time);
  return std::max(kTuning.over_time.overrun_seconds * kNanosecondsPerSecond, run_time / 2);
}

std::int64_t turn_index(std::int64_t gpus, std::int64_t waited_seconds, Nanoseconds expected) {
  MUSTER_REQUIRE(gpus >= 1 && waited_seconds >= 0 && expected >= kShortestExpected);
  constexpr std::int64_t kCubeOfThousand = 1'000'000'000, kMostGpus = std::int64_t{1} << 40;
  const Wide size = std::min(gpus, kMostGpus);
  const Wide waited = Wide{waited_seconds} + kTuning.over_time.added_seconds;
  return saturate(cube_root(size * size * kCubeOfThousand) * waited / (expected / kNanosecondsPerSecond));
}

}  // namespace muster
