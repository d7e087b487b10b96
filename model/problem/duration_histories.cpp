#include "model/problem/duration_histories.h"

#include <algorithm>

#include "model/base/require.h"

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

}  // namespace muster
