// The nodes that pods of one class fit on, best first, found by an index that follows the state.
//
// The ranking holds nodes in a heap by score, and a bound for each cell of nodes (NodeCells) that has not been
// examined. A cell is examined when nothing in the heap is better than its bound. Nodes that have changed since the
// last request are examined again; stale entries of the heap are skipped when they come up.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/placement/node_summaries.h"
#include "heuristics/placement/regions.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::placement {

// How good a node is for a pod by the rule of the policy, as one number for a node and as a lower bound for a cell.
enum class NodeRule : std::uint8_t {
  kBestFit,   // fewest idle devices left, then tightest shared device, then least cpu left
  kKeepCpu,   // least cpu stranded next to idle devices, then as kBestFit
  kKeepRoom,  // least room on devices left without cpu or memory, idle ones or not, then as kBestFit
  kSpread     // least in use
};

// The rule of the snapshot's policy, if no other is tried.
inline NodeRule usual_rule(const Problem& problem) {
  return problem.snapshot->policy.placement == PlacementPolicy::kSpread ? NodeRule::kSpread : NodeRule::kKeepCpu;
}

// Smaller is better.
using NodeScore = std::uint64_t;
inline constexpr NodeScore kNodeDoesNotFit = ~NodeScore{0};

// Whether pods of the class ask for parts of devices.
inline bool shares_devices(const PodClass& pod_class) {
  return pod_class.gpu.kind == GpuRequestKind::kFraction && pod_class.gpu.share < 1'000'000;
}

// From the top: 1 bit that the pod would have to wait for departures, 15 bits of preference (weights of preferred
// terms, soft taints), 48 bits of the rule's own.
class NodeScores {
 public:
  // All of them must outlive it.
  NodeScores(const ClusterState& state, const ImmediateCapacity& immediate, const NodeSummaries& summaries,
             const TypicalRequest& typical, NodeRule rule)
      : problem_(state.problem()),
        state_(state),
        immediate_(immediate),
        summaries_(summaries),
        typical_(typical),
        rule_(rule) {}

  // Of a pod of the class; kNodeDoesNotFit if the node lacks capacity or the class is not allowed there. What other
  // pods and queues allow is not examined. `requested`: requested_by(pod_class). Cost: O(resources + devices).
  NodeScore of(const PodClass& pod_class, const NodeSummary& requested, NodeIndex node) const {
    const NodeSummary& summary = summaries_[node];
    return is_short(summary, requested) ? kNodeDoesNotFit : full_score(pod_class, node, summary);
  }
  // No score of a node of the cell is less; kNodeDoesNotFit: none fits.
  NodeScore least(const PodClass& pod_class, const NodeSummary& requested, const NodeCells::Cell& cell) const;

  // Prefetches what `of` reads of a node that is needed soon and, once that has had its effect, its devices.
  void fetch(NodeIndex node) const {
    summaries_.fetch(node);
    state_.nodes().fetch(node);
  }
  void fetch_devices(NodeIndex node) const { state_.nodes().fetch_devices(node); }

  const ClusterState& state() const { return state_; }

 private:
  // The inputs of the packing rules.
  struct Packing {
    std::int64_t idle = 0, stranded = 0;  // before the pod comes
    Amount cpu = 0;                       // free; stranded cpu is computed for `most_cpu`
    Amount most_cpu = 0;
    std::int64_t opened = 0;   // idle devices that a sharer takes parts of
    DeviceUnits tightest = 0;  // least room left on a device that it shares
    std::int64_t lacking = 0;  // room that newly lacks cpu or memory; of a cell, at least none
  };
  NodeScore full_score(const PodClass& pod_class, NodeIndex node, const NodeSummary& summary) const;
  bool fits_beyond_summary(const PodClass& pod_class, NodeIndex node, const Room& room) const;
  NodeScore preference(const PodClass& pod_class, NodeClassIndex node_class) const;
  NodeScore packing_score(const PodClass& pod_class, const NodeClass& node_class, const Packing& packing) const;
  NodeScore binpack_score(const PodClass& pod_class, NodeIndex node, const NodeSummary& summary) const;
  NodeScore spread_score(const PodClass& pod_class, NodeIndex node) const;
  std::int64_t newly_lacking(const PodClass& pod_class, const NodeSummary& summary) const;

  const Problem& problem_;
  const ClusterState& state_;
  const ImmediateCapacity& immediate_;
  const NodeSummaries& summaries_;
  const TypicalRequest& typical_;
  NodeRule rule_;
};

// Lower scores first, of equal ones the first node.
struct RankedNode : MarkedNode {
  NodeScore score = kNodeDoesNotFit;
  bool is_before(const RankedNode& other) const {
    return score != other.score ? score < other.score : node < other.node;
  }
};
// A cell that has not been examined, and a lower bound of its nodes' scores.
struct CellBound {
  NodeScore score = kNodeDoesNotFit;
  std::uint32_t cell = 0;
  bool is_before(const CellBound& other) const { return score < other.score; }
};
// For heaps with the first one at their front.
struct IsAfter {
  bool operator()(const auto& a, const auto& b) const { return b.is_before(a); }
};
// Makes `bounds` the heap of the bounds of all cells that may hold a node for the class. Cost: O(cells).
void find_bounds(const NodeScores& scores, const PodClass& pod_class, const NodeSummary& requested,
                 const std::vector<NodeCells::Cell>& cells, std::vector<CellBound>& bounds);

// Every node that fits is the best, or in the heap with its current state, or equal to one in the heap that comes
// before it, or in an unexamined cell and unchanged since the ranking was begun.
class NodeRanking {
 public:
  // All must outlive it; the cells are those for pods of the class.
  NodeRanking(const NodeScores& scores, NodeMarks& marks, NodeCells& cells, const PodClass& pod_class)
      : scores_(scores), marks_(marks), cells_(cells), pod_class_(pod_class), requested_(requested_by(pod_class)) {}

  // The best node, as far as the marks have read changes; none if no node fits. Cost: O(log nodes) for each node that
  // changed since the last call, O(cells + nodes examined) the first time.
  NodeIndex best();

 private:
  void begin();
  bool update();
  void take_best();
  void take_first_of_heap();
  void examine(NodeCells::Cell& cell);
  RankedNode ranked(NodeIndex node) const;
  void put(const RankedNode& ranked);

  const NodeScores& scores_;
  NodeMarks& marks_;
  NodeCells& cells_;
  const PodClass& pod_class_;
  NodeSummary requested_;
  RankedNode best_;                // no node: none fits
  std::vector<RankedNode> heap_;   // the first one at its front
  std::vector<CellBound> bounds_;  // a heap, the least one at its front
  bool has_begun_ = false;
  std::size_t begun_ = 0, read_ = 0;  // of StateChanges::touched
};

}  // namespace muster::placement
