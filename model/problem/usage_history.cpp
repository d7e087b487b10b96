#include "model/problem/usage_history.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"

namespace muster {
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
