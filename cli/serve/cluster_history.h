// The histories of all clusters that clients send snapshots of, and the file that keeps them over a restart.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/line/line.h"
#include "io/muster_v1/histories.h"
#include "model/base/error_code.h"
#include "model/problem/histories.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

// What the server keeps of one cluster from snapshot to snapshot: how long gangs took that have finished, and what
// queues have used.
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

// The header of a request that names the cluster of its snapshots; absent: the one without a name.
inline constexpr std::string_view kClusterField = "Muster-Cluster";
// At most 128 letters, digits and -._:/
bool is_cluster_name(std::string_view name);

struct ServeHistoryOptions {
  HistoryOptions kept;
  std::string file;  // empty: they end with the server
  friend bool operator==(const ServeHistoryOptions&, const ServeHistoryOptions&) = default;
};

// Safe to use from several threads. Clusters are distinguished by the names that clients give them, at most
// kMostClusters: the one that was asked for the longest ago is forgotten first.
class ServeHistories {
 public:
  static constexpr std::size_t kMostClusters = 64;

  explicit ServeHistories(ServeHistoryOptions options) : options_(std::move(options)) {}
  ServeHistories(const ServeHistories&) = delete;
  ServeHistories& operator=(const ServeHistories&) = delete;

  // Before the server runs. No file yet: it begins with nothing. An error: the file cannot be read, or is no such file.
  std::optional<InputError> load();

  // Which snapshot of which cluster a line has; for note().
  struct Ticket {
    std::string cluster;
    std::uint64_t number = 0;  // 0: nothing is kept of it
  };
  // Takes the line's snapshot in, and fills in what is known and the snapshot does not tell. Broken lines pass.
  Ticket fill_in(std::string_view cluster, ParsedLine& line);
  // After the plan of that line.
  void note(const Ticket& ticket, const SolvedLine& solved);

  // Writes the file if anything has changed and the last time is `interval` ago. It is replaced as a whole: a reader
  // sees the old one or the new one. The message of an error, or empty.
  std::string save(std::chrono::steady_clock::duration interval);

  bool is_on() const { return options_.kept.is_on(); }
  std::int64_t finished_gangs() const { return finished_; }

 private:
  struct Entry {
    explicit Entry(const HistoryOptions& options) : history(options) {}
    ClusterHistory history;
    std::uint64_t asked_for = 0;
  };
  Entry& entry(std::string_view cluster);
  std::string text() const;

  const ServeHistoryOptions options_;
  std::mutex mutex_, file_mutex_;
  std::map<std::string, Entry, std::less<>> clusters_;
  std::uint64_t clock_ = 0;  // counts requests
  bool has_changed_ = false;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> finished_{0};
};

}  // namespace muster::cli
