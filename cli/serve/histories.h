// The histories of all clusters that clients send snapshots of, and the file that keeps them over a restart.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cli/line/line.h"
#include "cli/serve/cluster_history.h"
#include "model/base/error.h"

namespace muster::cli {

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
