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
  static void append(const BySize& sums, std::string_view queue, std::vector<DurationHistory>& out);

  BySize all_{};
  std::map<std::string, BySize, std::less<>> of_queue_;
};

}  // namespace muster
