// What queues have used on average, where older use counts for less: what a program that sees a cluster over time
// keeps, and writes into the snapshots that it makes.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/problem/problem.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// The weight of what was in use at an instant halves with each half-life that has passed since. Before the first
// instant nothing was in use.
class UsageHistory {
 public:
  // Requires half_life > 0.
  explicit UsageHistory(Nanoseconds half_life);

  // From the last instant to this one, the queues used what set_in_use() told last; an earlier instant passes no time.
  // The first call passes none, too. Cost: O(queues).
  void advance(Nanoseconds now);
  // From now on, the queues use this much: by QueueIndex, of each what its own pods use. Inner queues use what those
  // below them do besides. Queues of former calls use nothing. Cost: O(queues x depth log queues).
  void set_in_use(const Indexed<QueueIndex, Queue>& queues, const Indexed<QueueIndex, QueueAmounts>& in_use);

  // Sets `usage` of each queue, rounded down to whole units; 0 if the queue is unknown. Cost: O(queues log queues).
  void write(std::vector<SnapshotQueue>& queues) const;

  // By name, rounded down to whole units. Queues that use nothing and have an average of less than a unit are
  // forgotten.
  std::map<std::string, QueueAmounts> averages() const;
  // Requires amounts >= 0.
  void set_average(std::string_view queue, const QueueAmounts& average);

 private:
  struct Use {
    std::array<double, kQueueResources> average{};  // in units of quotas
    QueueAmounts now{};
    QueueAmounts whole_average() const;
    bool is_forgotten() const;
  };
  Use& use_of(std::string_view queue);

  Nanoseconds half_life_;
  Nanoseconds last_ = 0;
  bool has_begun_ = false;
  std::map<std::string, Use, std::less<>> of_queue_;
};

}  // namespace muster
