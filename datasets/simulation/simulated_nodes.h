// The nodes of a simulated cluster: they are added and removed, cordoned, fail, and are repaired.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string_view>
#include <vector>

#include "datasets/generator/random.h"
#include "datasets/simulation/records.h"
#include "model/problem/histories.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

// When nodes fail and come back: for each node alternating spans, exponentially distributed, from a seed.
//
// A span drawn from the exponential distribution of that mean, at least 1 ns. In integers alone, so that it is the same
// on every platform: von Neumann's method, which only compares uniform numbers (von Neumann, "Various techniques used
// in connection with random digits", 1951). Requires 0 < mean <= 2^57 ns (4.5 years). Cost: about 6 draws.
Nanoseconds exponential_span(generator::Random& random, Nanoseconds mean);

struct NodeFailureOptions {
  Nanoseconds mean_between = 0;  // time from the beginning, or a repair, to a failure; 0: no node ever fails
  Nanoseconds mean_to_repair = 0;
  std::uint64_t seed = 1;
};

// The spans of one node: up, down, up, ... Each node has its own stream, so that other nodes do not shift it.
class NodeFailures {
 public:
  NodeFailures(const NodeFailureOptions& options, std::size_t node)
      : options_(options), random_(options.seed, kFirstStream + node) {}

  Nanoseconds until_failure() { return exponential_span(random_, options_.mean_between); }
  Nanoseconds until_repair() { return exponential_span(random_, options_.mean_to_repair); }

 private:
  static constexpr std::uint64_t kFirstStream = 1'000'000;  // beyond those of other uses of a seed
  NodeFailureOptions options_;
  generator::Random random_;
};

// Keeps the snapshot's nodes unschedulable while they have failed or are cordoned. Each node fails by a stream of its
// own, which its number in the order of addition names. Cost: O(nodes) for each change.
class SimulatedNodes {
 public:
  // `snapshot` outlives the object: only it adds, removes or cordons nodes there.
  SimulatedNodes(Snapshot& snapshot, const NodeFailureOptions& failures) : snapshot_(snapshot), failures_(failures) {}
  SimulatedNodes(const SimulatedNodes&) = delete;
  SimulatedNodes& operator=(const SimulatedNodes&) = delete;

  const SnapshotNode& add(const SnapshotNode& node, Nanoseconds now);
  // None: there is no node of that name (any more).
  std::optional<std::size_t> find(std::string_view name) const;
  const SnapshotNode& operator[](std::size_t position) const { return snapshot_.nodes[position]; }
  // By position in the snapshot; later nodes move up.
  void remove(std::size_t position);
  void set_cordoned(std::size_t position, bool is_cordoned);

  // The next instant at which a node may fail or be repaired; none: none will.
  std::optional<Nanoseconds> next_change() const;
  struct Change {
    NodeEvent event = NodeEvent::kFailed;
    const SnapshotNode& node;
  };
  // The change at that instant happens; none: the node was removed before. Requires such an instant.
  std::optional<Change> change_next(Nanoseconds now);

  bool any_down() const { return down_ > 0; }
  Work capacity() const { return capacity_; }  // thousandths of a GPU of the nodes that are not unschedulable

 private:
  // One node: its future failures, and whether it would be cordoned without them.
  struct State {
    NodeFailures failures;
    bool is_down = false, is_cordoned = false, is_removed = false;
  };
  struct FutureChange {
    Nanoseconds time = 0;
    std::size_t number = 0;
    friend auto operator<=>(const FutureChange&, const FutureChange&) = default;
  };
  Work work_of(const SnapshotNode& node) const;
  void set_unschedulable(std::size_t position, bool is_unschedulable);

  Snapshot& snapshot_;
  NodeFailureOptions failures_;
  std::vector<std::size_t> number_;  // by node of the snapshot
  std::vector<State> states_;        // by number
  std::priority_queue<FutureChange, std::vector<FutureChange>, std::greater<>> changes_;
  std::int64_t down_ = 0;
  Work capacity_ = 0;
};

// When a simulation plans, what an interruption costs, and when it ends.
enum class CycleRule : std::uint8_t {
  kPeriod,  // at every multiple of the period since the start
  kBatch,   // once this many pods have arrived, and after the last arrival whenever something leaves
  kEach     // after each event, and whenever something leaves
};

struct SimulationOptions {
  CycleRule cycle = CycleRule::kPeriod;
  Nanoseconds period = 60 * kNanosecondsPerSecond;
  std::int64_t batch = 1;     // pods
  bool resumes_work = false;  // an interrupted job resumes where it was; else it restarts
  bool moves_live = false;    // a move is no interruption
  bool drops = false;         // what is not placed in the first cycle after it was submitted leaves
  KnownDurations durations = KnownDurations::kByRules;  // to the policy; of finished jobs they are kept as histories
  // What queues have used until now is kept for the snapshots, by a half of its weight in this time; 0: it is not.
  Nanoseconds usage_half_life = 0;
  bool calibrates = false;  // expected starts are computed, to compare them with the actual ones
  NodeFailureOptions failures;
  std::optional<Nanoseconds> until;  // an instant: nothing later happens
};

}  // namespace muster::simulation
