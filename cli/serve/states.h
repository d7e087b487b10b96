// The clusters that the server holds between cycles: set as a whole, changed by deltas, planned without a body.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/line/line.h"
#include "io/http/service.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "io/state/cluster_objects.h"
#include "io/state/delta_reader.h"
#include "model/state/kept_snapshot.h"

namespace muster::cli {

// The header of POST /v1/state that tells the sequence number of the state; absent: 0.
inline constexpr std::string_view kSequenceField = "Muster-Sequence";
// None: it is no number below 2^63.
std::optional<std::uint64_t> sequence_in(std::string_view text);

struct ServeAnswer : Answer {
  ServeAnswer() = default;
  ServeAnswer(Answer answer) : Answer(std::move(answer)) {}  // NOLINT(google-explicit-constructor)
  std::optional<http::HttpFault> conflict;  // with a state that is not as the request says; then `error` is its detail
};

struct StateReport {
  std::uint64_t sequence = 0;
  std::size_t nodes = 0, queues = 0, gangs = 0, pods = 0;
  std::chrono::steady_clock::time_point changed;
  std::size_t objects() const { return nodes + queues + gangs + pods; }
  void count(const Snapshot& snapshot);
};

// Clusters are distinguished as in ServeHistories, at most kMostStates: the one that was asked for the longest ago is
// forgotten first. Everything but the reports is for one thread, so requests see the states in the order of their
// arrival; what it hands out is a copy.
//
// A state is a snapshot or Kubernetes objects. Objects are imported when they are set and for each cycle, not for a
// delta: their report counts what was imported last. They are forgotten once the options say otherwise how an object is
// read. A delta in the form of a snapshot makes of them the snapshot that they are then.
class ServeStates {
 public:
  static constexpr std::size_t kMostStates = 8;
  // A snapshot may take in deltas of this many bytes beyond a multiple of its own: replaced texts stay in memory.
  static constexpr std::size_t kDeltaBytes = std::size_t{64} << 20, kDeltaShare = 4;

  // The whole: a snapshot, or Kubernetes objects.
  ServeAnswer set(std::string_view cluster, std::string_view text, std::uint64_t sequence,
                  const muster_v1::ReaderOptions& options);
  ServeAnswer change(std::string_view cluster, std::string_view text, const muster_v1::ReaderOptions& options);
  // What is to be planned. None: there is no such state. `reader`: one that has these options, but for the time. Cost:
  // a copy of the snapshot, or the import of the objects.
  std::optional<ParsedLine> line(std::string_view cluster, muster_v1::SnapshotReader& reader,
                                 const muster_v1::ReaderOptions& options);

  // From any thread. None: there is no such state.
  std::optional<StateReport> report(std::string_view cluster) const;
  // Of all of them: the objects of all, and the last change. None: there is none.
  std::optional<StateReport> summary() const;

 private:
  struct State {
    std::variant<KeptSnapshot, state::ClusterObjects> kept;
    StateReport report;
    std::uint64_t from = 0;  // of the last delta
    bool has_delta = false;
    std::size_t whole_bytes = 0, delta_bytes = 0;  // `delta_bytes`: in the form of a snapshot
    std::uint64_t asked_for = 0;
  };
  struct Delta {
    std::string_view text;
    state::DeltaReader& reader;
    const muster_v1::ReaderOptions& options;
  };
  static std::optional<InputError> read_whole(std::string_view text, const muster_v1::ReaderOptions& options,
                                              State& state);
  // None: it is done.
  static std::optional<ServeAnswer> change_objects(const Delta& delta, State& state);
  static std::optional<ServeAnswer> change_snapshot(std::string_view cluster, const Delta& delta, State& state);
  State* find(std::string_view cluster, const muster_v1::ReaderOptions& options);
  void put(std::string_view cluster, State state);
  void forget(std::string_view cluster);
  void publish(std::string_view cluster, const StateReport& report);

  std::map<std::string, State, std::less<>> states_;
  std::uint64_t clock_ = 0;  // counts requests
  mutable std::mutex mutex_;
  std::map<std::string, StateReport, std::less<>> reports_;
};

// {"sequence":7,"objects":{"nodes":2,"queues":1,"gangs":0,"pods":3},"ageSeconds":0.125}
std::string state_text(const StateReport& report);
// There is no state of the cluster.
ServeAnswer no_state(std::string_view cluster);

}  // namespace muster::cli
