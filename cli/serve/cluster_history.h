// What the server keeps of one cluster from snapshot to snapshot: how long gangs took that have finished, and what
// queues have used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/muster_v1/histories.h"
#include "model/problem/duration_histories.h"
#include "model/problem/problem.h"
#include "model/problem/usage_history.h"
#include "model/snapshot/plan.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

struct HistoryOptions {
  bool keeps_durations = false;
  Nanoseconds usage_half_life = 0;  // 0: usage is not kept
  friend bool operator==(const HistoryOptions&, const HistoryOptions&) = default;
  bool is_on() const { return keeps_durations || usage_half_life > 0; }
};

// A gang has finished if it ran in a snapshot, no plan for that snapshot evicts or moves a pod of it, and in the next
// snapshot it is gone or all its pods have succeeded, while the node of its first running pod is still there. One that
// waits again, or whose pods fail, has not. It is taken to have ended halfway between the two snapshots. Memory: the
// running gangs of one snapshot, and sums for at most kMostQueues queues.
class ClusterHistory {
 public:
  static constexpr std::size_t kMostQueues = 10'000;

  explicit ClusterHistory(const HistoryOptions& options);

  // Takes a snapshot in before it is planned: what has finished since the last one counts. A snapshot that is not later
  // than the last one, or has no time, changes nothing. Returns its number, for note(). Cost: O(pods).
  std::uint64_t observe(const Snapshot& snapshot);
  // What is known now. Cost: O(queues).
  muster_v1::Histories known() const;
  // The plan for the snapshot with this number, and the gangs that run in it. Ignored if a later snapshot has been
  // taken in. Cost: O(pods + queues log queues).
  void note(std::uint64_t number, const Problem& problem, const Plan& plan);
  // Goes on from what an earlier server knew; the time in between does not count.
  void restore(const muster_v1::Histories& histories);

  std::int64_t finished() const { return finished_; }  // gangs, since the start

 private:
  struct Running {
    std::string queue, node;
    std::int64_t gpus = 1;
    Nanoseconds started = 0;
  };
  using RunningGangs = std::unordered_map<std::string, Running>;

  void count_finished(const Snapshot& snapshot);
  void finish(const Running& gang, Nanoseconds now);
  void note_usage(const Problem& problem);

  HistoryOptions options_;
  DurationHistories durations_;
  std::optional<UsageHistory> usage_;
  RunningGangs running_;  // of the snapshot before, by gang_key()
  std::uint64_t number_ = 0;
  Nanoseconds last_ = 0;  // instant of the snapshot before; 0: there was none
  std::int64_t finished_ = 0;
};

}  // namespace muster::cli
