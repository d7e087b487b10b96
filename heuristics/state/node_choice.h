// Chooses the node of a pod: the best by a rule among all that fit, found by an index that follows the state.
//
// No candidate is ever left out: on occupied clusters a cap on candidates costs points of the objective. Each
// frequently requested class of pods has a list of nodes that it fits on, in a heap by score, and a bound for each cell
// of nodes (node_cells.h) that has not been examined: a cell is examined when nothing on the list is better than its
// bound. Of unchanged nodes with equal free capacity, a list holds one at a time. Nodes that have changed since the
// last request for the class are re-examined; stale entries of a list are skipped when they come up. Nodes that are too
// full cost next to nothing: a few contiguous numbers show this without access to the node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/node_cells.h"
#include "model/problem/problem.h"

namespace muster {

enum class NodeRule : std::uint8_t {
  kBestFit,  // fewest idle devices left, then tightest shared device, then least cpu left
  kKeepCpu,  // least cpu stranded next to idle devices, then as kBestFit
  kSpread    // least in use
};

// The rule of the snapshot's policy, if no other is tried.
inline NodeRule usual_rule(const Problem& problem) {
  return problem.snapshot->policy.placement == PlacementPolicy::kSpread ? NodeRule::kSpread : NodeRule::kKeepCpu;
}

class NodeChooser {
 public:
  // All three must outlive the chooser, and `state` must not be replaced by another one.
  NodeChooser(const ClusterState& state, const QueueBounds& bounds, NodeRule rule);
  virtual ~NodeChooser() = default;  // other rules choose in their own way (online_placing.cpp)
  NodeChooser(const NodeChooser&) = delete;
  NodeChooser& operator=(const NodeChooser&) = delete;

  // The best node that can take the pod, or none; of nodes that are equal by the rule and in free capacity, the one
  // that meets most of the pod's preferred pod terms. `among`: the nodes to examine, empty for all of them. Cost: O(log
  // nodes) for each node that changed since the last request for the pod's class, O(cells + nodes examined) the first
  // time; O(|among|) if it is given.
  virtual NodeIndex choose(PodIndex pod, std::span<const NodeIndex> among);

  // The devices that the pod takes on that node: those that are free immediately, if they suffice.
  virtual DeviceList devices_for(PodIndex pod, NodeIndex node) const;

  // The number of pods of the class that fit on the node next to the present ones, at most `limit`; filters included.
  // An upper bound.
  std::int64_t copies(PodClassIndex pod_class, NodeIndex node, std::int64_t limit) const;

 private:
  // Smaller is better; kNoFit: it does not fit.
  using Score = std::uint64_t;
  static constexpr Score kNoFit = ~Score{0};

  // Lower scores first, of equal ones the first node. The mark: the node's version when it was scored; or kOfAlike and
  // the nodes that it represents.
  struct Ranked : MarkedNode {
    Score score = kNoFit;
    bool is_before(const Ranked& other) const { return score != other.score ? score < other.score : node < other.node; }
  };
  static constexpr std::uint32_t kOfAlike = std::uint32_t{1} << 31;
  // A cell that has not been examined, and a lower bound of its nodes' scores.
  struct Bound {
    Score score = kNoFit;
    std::uint32_t cell = 0;
    bool is_before(const Bound& other) const { return score < other.score; }
  };
  // For heaps with the first one at their front.
  struct IsAfter {
    bool operator()(const auto& a, const auto& b) const { return b.is_before(a); }
  };
  // For one class. Every node that fits is the best, or in the heap with its current state, or equivalent to one in the
  // heap that comes before it, or in an unexamined cell and unchanged since the list was begun. Heap entries of nodes
  // that have changed since are skipped when they come up.
  struct List {
    Ranked best;                      // no node: none fits
    std::vector<Ranked> heap;         // the first one at its front
    std::vector<Bound> bounds;        // a heap, the least one at its front
    std::size_t begun = 0, read = 0;  // of ClusterState::touched
    std::size_t cells = 0;            // when it was begun
  };
  // The quantities that most nodes lack if they cannot take a pod, contiguous: an upper bound of what is free, or what
  // is requested; `share` in millionths of the device that has the most free capacity. kNothing if nothing is
  // requested.
  struct Glance {
    Amount cpu = 0, memory = 0;
    std::int64_t share = 0;
    std::int32_t idle = 0;
    // Not requested: further input of the rule.
    std::int32_t stranded = 0;
    NodeClassIndex node_class;
  };
  // Nodes of one class with equal room: `alike_nodes_[next .. end)`, except those that have been touched.
  struct Alike {
    Glance glance;
    std::uint32_t next = 0, end = 0;
  };

  // Requires that the node is not short of what the class asks for.
  Score score(PodClassIndex pod_class, NodeIndex node, const Glance& glance) const;
  bool fits_beyond_glance(const PodClass& pod_class, NodeIndex node, const Room& room) const;
  std::int32_t stranded(std::int64_t idle_devices, Amount free_cpu) const;
  Score preference(const PodClass& pod_class, NodeClassIndex node_class) const;
  // The inputs of the packing rules.
  struct Packing {
    std::int64_t idle = 0, stranded = 0;  // before the pod comes
    Amount cpu = 0;                       // free; stranded cpu is computed for `most_cpu`
    Amount most_cpu = 0;
    std::int64_t opened = 0;   // idle devices that a sharer takes parts of
    DeviceUnits tightest = 0;  // least room left on a device that it shares
  };
  Score packing_score(const PodClass& pod_class, const NodeClass& node_class, const Packing& packing) const;
  Score binpack_score(const PodClass& pod_class, NodeIndex node, const Glance& glance) const;
  Score spread_score(const PodClass& pod_class, NodeIndex node) const;
  bool fits_at_once(const PodClass& pod_class, NodeIndex node) const;
  Room held_room(NodeIndex node) const;
  bool has_departing(NodeIndex node) const;
  std::span<const PodIndex> occupants(NodeIndex node) const {
    const std::uint32_t begin = occupants_begin_[node.value()];
    return std::span(occupants_).subspan(begin, occupants_begin_[node.value() + 1] - begin);
  }
  void list_occupants();

  NodeIndex scan(PodIndex pod, std::span<const NodeIndex> among) const;
  NodeIndex scan_cells(PodIndex pod);
  void look_for_place(const MarkedNode& node, PodIndex pod, Ranked& best);
  NodeIndex best_of_equals(PodIndex pod, NodeIndex best, std::span<const NodeIndex> among) const;
  NodeIndex best_of_list(PodClassIndex pod_class);
  void begin_list(PodClassIndex pod_class, List& list);
  NodeCells& cells_for(const PodClass& pod_class);
  Score least_score(const PodClass& pod_class, const Glance& asked, const NodeCells::Cell& cell) const;
  bool update(PodClassIndex pod_class, List& list);
  void look_into(NodeCells::Cell& cell, PodClassIndex pod_class, List& list);
  void fetch(NodeIndex node) const;
  Ranked ranked(PodClassIndex pod_class, const Glance& asked, NodeIndex node) const;
  bool is_stale(const MarkedNode& node) const;
  bool become_next_alike(MarkedNode& node);
  void take_best(PodClassIndex pod_class, List& list);
  void take_first_of_heap(List& list);
  static void put_on(List& list, const Ranked& ranked);
  void read_touched();
  void group_alike();
  bool has_untouched(Alike& alike) const;
  Glance glance_at(NodeIndex node) const;
  static Glance asked_by(const PodClass& pod_class);
  static bool is_short(const Glance& free, const Glance& asked);
  static bool has_equal_room(const Glance& a, const Glance& b);
  bool wants_list(PodClassIndex pod_class) const;
  bool is_by_cells(PodClassIndex pod_class) const;

  const Problem& problem_;
  const ClusterState& state_;
  const QueueBounds& bounds_;
  NodeRule rule_;
  std::size_t touched_read_ = 0;
  Indexed<NodeIndex, std::size_t> touched_at_;  // last: position in ClusterState::touched + 1; 0: not yet
  std::vector<Alike> alike_;                    // those of which nodes are left; none before the first list
  std::vector<NodeIndex> alike_nodes_;
  // For pods that share devices, and for all others; and the position up to which each has read ClusterState::touched.
  struct Cells {
    std::optional<NodeCells> cells;
    std::size_t read = 0;
  };
  Cells sharers_cells_, others_cells_;
  Indexed<NodeIndex, Glance> glances_;  // none before the first pod
  std::vector<NodeIndex> all_nodes_;
  Indexed<PodClassIndex, std::int64_t> pending_;  // pods of the class that wait
  std::int64_t pending_without_list_ = 0;         // pods of classes that have no list
  std::vector<Bound> bounds_of_cells_;            // memory for scan_cells
  Indexed<PodClassIndex, std::unique_ptr<List>> lists_;
  // Pods that the snapshot has on node n, releasing ones too: `occupants_[occupants_begin_[n] .. [n + 1]]`, ascending.
  std::vector<std::uint32_t> occupants_begin_;
  std::vector<PodIndex> occupants_;
  Indexed<NodeIndex, std::uint8_t> has_releasing_;
  Amount typical_cpu_per_gpu_ = 0;  // of what waits for devices; thousandths of a core
  mutable std::vector<Amount> held_free_;
  mutable std::vector<DeviceUnits> held_devices_;
};

}  // namespace muster
