// What was seen of a cluster over time: how long gangs took, and what queues have used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/semantics.h"
#include "model/problem/problem.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// How long gangs took that have finished, by their size and queue: what a program that sees them finish keeps, and
// writes into the snapshots that it makes.
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

// How long a gang is expected to run, by what it tells or by the gangs of its size that have finished, and what that
// means for its turn.
//
// No duration is expected to be shorter, and nothing that runs to end sooner.
inline constexpr Nanoseconds kShortestExpected = kSemantics.shortest_seconds * kNanosecondsPerSecond;

class ExpectedDurations {
 public:
  // `policy` must outlive it. Cost: O(histories log histories).
  explicit ExpectedDurations(const OverTime& policy);

  // Of a gang of this queue whose minimum has so many GPUs: what it tells; else the mean of the history of its size, to
  // which SemanticNumbers::imagined gangs of a usual duration are added; of the history of its queue, if there is one,
  // to which SemanticNumbers::borrowed gangs of that mean are added. At least kShortestExpected. Cost: O(histories of
  // the queue).
  Nanoseconds expected(std::string_view queue, std::int64_t gpus, std::optional<Nanoseconds> told) const;

 private:
  using Histories = std::vector<const DurationHistory*>;
  static const DurationHistory* find(const Histories& histories, std::int64_t gpus);

  Histories of_all_;
  std::map<std::string_view, Histories> of_queue_;
};

// What is left of a gang that has run for `run_time`. Of one that runs for longer than expected: half of its run time,
// and at least SemanticNumbers::overrun_seconds. At least kShortestExpected.
Nanoseconds expected_rest(Nanoseconds expected, Nanoseconds run_time);

// Thousandths of GPUs^(2/3) x (seconds waited + SemanticNumbers::added_seconds) / (expected seconds), rounded down.
// Requires gpus >= 1, waited >= 0 and expected >= kShortestExpected. Exact, in integers; saturates.
std::int64_t turn_index(std::int64_t gpus, std::int64_t waited_seconds, Nanoseconds expected);

// What a policy knows of durations, for programs that make the snapshots which it sees.
enum class KnownDurations : std::uint8_t {
  kNone,      // only how long gangs have waited
  kByRules,   // expected durations, and the rules over time as the policy of the snapshot sets them
  kExpected,  // expected durations; it reserves by itself or not at all, so reserveAfter is `never`
  kExact      // as kExpected, and each gang tells how long it will run
};

// What queues have used on average, where older use counts for less: what a program that sees a cluster over time
// keeps, and writes into the snapshots that it makes.
//
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
