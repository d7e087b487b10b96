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

#include "datasets/simulation/node_failures.h"
#include "datasets/simulation/records.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

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

}  // namespace muster::simulation
