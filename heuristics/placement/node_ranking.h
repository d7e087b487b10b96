// The nodes that pods of one class fit on, best first, found by an index that follows the state.
//
// The ranking holds nodes in a heap by score, and a bound for each cell of nodes (node_cells.h) that has not been
// examined. A cell is examined when nothing in the heap is better than its bound. Nodes that have changed since the
// last request are examined again; stale entries of the heap are skipped when they come up.
#pragma once

#include <vector>

#include "heuristics/placement/node_cells.h"
#include "heuristics/placement/node_marks.h"
#include "heuristics/placement/node_scores.h"
#include "heuristics/placement/node_summaries.h"
#include "model/problem/problem.h"

namespace muster::placement {

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
