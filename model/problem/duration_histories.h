// How long gangs took that have finished, by their size and queue: what a program that sees them finish keeps, and
// writes into the snapshots that it makes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot/snapshot.h"

namespace muster {

class DurationHistories {
 public:
  // A gang whose minimum has so many GPUs has finished, and took so long in one go. An empty queue is not known: then
  // it counts among all only. Requires gpus >= 1 and duration >= 0. Cost: O(log queues).
  void add(std::string_view queue, std::int64_t gpus, Nanoseconds duration);
  // What list() told of before; an empty queue: of all. Requires history.from of one of the sizes, and count >= 0 and
  // mean >= 0. Cost: O(log queues).
  void restore(std::string_view queue, const DurationHistory& history);
  // Whether it begins with the first number of GPUs of one of the sizes.
  static bool is_size(const DurationHistory& history);
  bool knows(std::string_view queue) const { return of_queue_.find(queue) != of_queue_.end(); }
  std::size_t queue_count() const { return of_queue_.size(); }
  // For OverTime::expected_durations: sizes 1, 2-3, 4-7, 8, 9-16, 17-32 and more that gangs have finished of, of all
  // queues first, then of each. The names of queues are those of the object. Cost: O(queues).
  std::vector<DurationHistory> list() const;

 private:
  static constexpr std::array<std::int64_t, 7> kFirstGpus{1, 2, 4, 8, 9, 17, 33};

  struct Sum {
    std::int64_t count = 0;
    double nanoseconds = 0;
    void add(Nanoseconds duration) {
      ++count;
      nanoseconds += static_cast<double>(duration);
    }
  };
  using BySize = std::array<Sum, kFirstGpus.size()>;
  BySize& of(std::string_view queue);
  static void append(const BySize& sums, std::string_view queue, std::vector<DurationHistory>& out);

  BySize all_{};
  std::map<std::string, BySize, std::less<>> of_queue_;
};

}  // namespace muster
