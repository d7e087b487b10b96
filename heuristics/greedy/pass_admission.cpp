#include "heuristics/greedy/pass_admission.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/base/require.h"

namespace muster::greedy {

QueueByQueue::QueueByQueue(const Problem& problem, const PassAdmission& admission, const KnownFailures& failures,
                           std::span<GangEntry> entries)
    : problem_(problem), admission_(admission) {
  std::map<QueueIndex, std::vector<GangEntry*>> by_queue;
  for (GangEntry& entry : entries) {
    if (!failures.found_no_room(entry)) by_queue[entry.queue].push_back(&entry);
  }
  lines_.reserve(by_queue.size());
  for (auto& [queue, waiting] : by_queue) {
    std::ranges::reverse(waiting);
    lines_.push_back({queue, admission.fullness(queue), std::move(waiting)});
  }
}

bool QueueByQueue::comes_before(const Line& a, const Line& b) const {
  const auto rank = [&](const Line& line) {
    return std::tuple(line.fullness, -problem_.queues[line.queue].priority, line.queue);
  };
  return rank(a) < rank(b);
}

GangEntry& QueueByQueue::next() {
  MUSTER_REQUIRE_SLOW(!is_empty());
  chosen_ = 0;
  for (std::size_t i = 1; i < lines_.size(); ++i) {
    if (comes_before(lines_[i], lines_[chosen_])) chosen_ = i;
  }
  return *lines_[chosen_].waiting.back();
}

const GangEntry* QueueByQueue::ahead(std::size_t distance) const {
  const std::vector<GangEntry*>& waiting = lines_[chosen_].waiting;
  return distance < waiting.size() ? waiting[waiting.size() - 1 - distance] : nullptr;
}

void QueueByQueue::pop() {
  Line& line = lines_[chosen_];
  line.fullness = admission_.fullness(line.queue);  // no other queue's has changed
  line.waiting.pop_back();
  if (line.waiting.empty()) lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(chosen_));
}

}  // namespace muster::greedy
