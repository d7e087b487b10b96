#include "model/problem/histories.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/semantics.h"

namespace muster {

void DurationHistories::add(std::string_view queue, std::int64_t gpus, Nanoseconds duration) {
  MUSTER_REQUIRE(gpus >= 1 && duration >= 0);
  const auto next = std::ranges::upper_bound(kFirstGpus, gpus);
  const auto size = static_cast<std::size_t>(next - kFirstGpus.begin()) - 1;
  all_[size].add(duration);
  if (!queue.empty()) of(queue)[size].add(duration);
}

bool DurationHistories::is_size(const DurationHistory& history) {
  return std::ranges::find(kFirstGpus, history.from) != kFirstGpus.end();
}

void DurationHistories::restore(std::string_view queue, const DurationHistory& history) {
  MUSTER_REQUIRE(is_size(history) && history.count >= 0 && history.mean >= 0);
  const auto size = static_cast<std::size_t>(std::ranges::find(kFirstGpus, history.from) - kFirstGpus.begin());
  Sum& sum = (queue.empty() ? all_ : of(queue))[size];
  sum.count += history.count;
  sum.nanoseconds += static_cast<double>(history.mean) * static_cast<double>(history.count);
}

DurationHistories::BySize& DurationHistories::of(std::string_view queue) {
  const auto own = of_queue_.find(queue);
  return own != of_queue_.end() ? own->second : of_queue_.emplace(std::string(queue), BySize{}).first->second;
}

std::vector<DurationHistory> DurationHistories::list() const {
  std::vector<DurationHistory> histories;
  append(all_, {}, histories);
  for (const auto& [queue, sums] : of_queue_) append(sums, queue, histories);
  return histories;
}

void DurationHistories::append(const BySize& sums, std::string_view queue, std::vector<DurationHistory>& out) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].count == 0) continue;
    DurationHistory& history = out.emplace_back();
    history.queue = queue;
    history.from = kFirstGpus[i];
    history.to = i + 1 < kFirstGpus.size() ? kFirstGpus[i + 1] - 1 : 0;
    history.count = sums[i].count;
    history.mean = static_cast<Nanoseconds>(sums[i].nanoseconds / static_cast<double>(sums[i].count));
  }
}

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
  const SemanticNumbers& numbers = kSemantics;
  const Mean usual{kHour * (gpus == 1 ? numbers.single_hours : numbers.gang_hours)};
  Mean mean = mean_with(find(of_all_, gpus), numbers.imagined, usual);
  if (const auto own = of_queue_.find(queue); own != of_queue_.end())
    mean = mean_with(find(own->second, gpus), numbers.borrowed, mean);
  return std::max(kShortestExpected, saturate(mean.sum / mean.count));
}

Nanoseconds expected_rest(Nanoseconds expected, Nanoseconds run_time) {
  if (expected > run_time) return std::max(kShortestExpected, expected - run_time);
  return std::max(kSemantics.overrun_seconds * kNanosecondsPerSecond, run_time / 2);
}

std::int64_t turn_index(std::int64_t gpus, std::int64_t waited_seconds, Nanoseconds expected) {
  MUSTER_REQUIRE(gpus >= 1 && waited_seconds >= 0 && expected >= kShortestExpected);
  constexpr std::int64_t kCubeOfThousand = 1'000'000'000, kMostGpus = std::int64_t{1} << 40;
  const Wide size = std::min(gpus, kMostGpus);
  const Wide waited = Wide{waited_seconds} + kSemantics.added_seconds;
  return saturate(cube_root(size * size * kCubeOfThousand) * waited / (expected / kNanosecondsPerSecond));
}

QueueAmounts UsageHistory::Use::whole_average() const {
  constexpr double kMost = 4.6e18;  // within 64 bits
  QueueAmounts whole{};
  for (std::size_t i = 0; i < kQueueResources; ++i) whole[i] = static_cast<Amount>(std::min(average[i], kMost));
  return whole;
}

bool UsageHistory::Use::is_forgotten() const { return whole_average() == QueueAmounts{} && now == QueueAmounts{}; }

UsageHistory::UsageHistory(Nanoseconds half_life) : half_life_(half_life) { MUSTER_REQUIRE(half_life > 0); }

void UsageHistory::advance(Nanoseconds now) {
  const Nanoseconds from = std::exchange(last_, has_begun_ ? std::max(last_, now) : now);
  if (!std::exchange(has_begun_, true) || now <= from) return;
  const double kept = std::exp2(-static_cast<double>(saturating_subtract(now, from)) / static_cast<double>(half_life_));
  for (auto& [name, use] : of_queue_) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      use.average[i] = use.average[i] * kept + static_cast<double>(use.now[i]) * (1 - kept);
    }
  }
  std::erase_if(of_queue_, [](const auto& entry) { return entry.second.is_forgotten(); });
}

void UsageHistory::set_in_use(const Indexed<QueueIndex, Queue>& queues,
                              const Indexed<QueueIndex, QueueAmounts>& in_use) {
  MUSTER_REQUIRE(queues.size() == in_use.size());
  for (auto& [name, use] : of_queue_) use.now = {};
  for (const QueueIndex queue : queues.indices()) {
    if (in_use[queue] == QueueAmounts{}) continue;
    for (const QueueIndex ancestor : queues[queue].ancestors) {
      QueueAmounts& sum = use_of(queues[ancestor].name).now;
      for (std::size_t i = 0; i < kQueueResources; ++i) sum[i] = saturating_add(sum[i], in_use[queue][i]);
    }
  }
}

void UsageHistory::write(std::vector<SnapshotQueue>& queues) const {
  for (SnapshotQueue& queue : queues) {
    const auto found = of_queue_.find(queue.name);
    const QueueAmounts average = found == of_queue_.end() ? QueueAmounts{} : found->second.whole_average();
    queue.gpu.usage = static_cast<double>(average[kQueueGpu]);
    queue.cpu.usage = static_cast<double>(average[kQueueCpu]);
    queue.memory.usage = static_cast<double>(average[kQueueMemory]);
  }
}

std::map<std::string, QueueAmounts> UsageHistory::averages() const {
  std::map<std::string, QueueAmounts> result;
  for (const auto& [name, use] : of_queue_) result.emplace(name, use.whole_average());
  return result;
}

void UsageHistory::set_average(std::string_view queue, const QueueAmounts& average) {
  MUSTER_REQUIRE(std::ranges::all_of(average, [](Amount amount) { return amount >= 0; }));
  Use& use = use_of(queue);
  for (std::size_t i = 0; i < kQueueResources; ++i) use.average[i] = static_cast<double>(average[i]);
}

UsageHistory::Use& UsageHistory::use_of(std::string_view queue) {
  const auto found = of_queue_.find(queue);
  return found != of_queue_.end() ? found->second : of_queue_.emplace(std::string(queue), Use{}).first->second;
}

}  // namespace muster
