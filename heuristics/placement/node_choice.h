// Chooses the node of a pod: the best by a rule among all that fit.
//
// No candidate is ever left out: on occupied clusters a cap on candidates costs points of the objective. Each
// frequently requested class of pods has a ranking of the nodes that it fits on (node_ranking.h), which follows the
// state. Other pods are compared with all nodes, by cells of similar ones (NodeCells) if that pays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/placement/node_ranking.h"
#include "heuristics/placement/node_summaries.h"
#include "heuristics/placement/regions.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/problem/problem.h"

namespace muster::placement {

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
  NodeIndex scan(PodIndex pod, std::span<const NodeIndex> among) const;
  NodeIndex scan_cells(PodIndex pod);
  void look_for_place(const MarkedNode& node, PodIndex pod, const NodeSummary& requested, RankedNode& best) const;
  NodeIndex best_of_equals(PodIndex pod, NodeIndex best, std::span<const NodeIndex> among) const;
  NodeIndex best_of_ranking(PodClassIndex pod_class);
  void follow_state();
  std::optional<NodeCells>& cells_of(const PodClass& pod_class);
  NodeCells& cells_for(const PodClass& pod_class);
  bool wants_ranking(PodClassIndex pod_class) const;
  bool is_by_cells(PodClassIndex pod_class);

  const Problem& problem_;
  const ClusterState& state_;
  const QueueBounds& bounds_;
  Indexed<PodClassIndex, std::int64_t> pending_;  // pods of the class that wait
  std::int64_t pending_without_ranking_ = 0;      // pods of classes that have no ranking
  std::vector<NodeIndex> all_nodes_;
  ImmediateCapacity immediate_;
  TypicalRequest typical_;
  NodeSummaries summaries_;
  NodeScores scores_;
  NodeMarks marks_;
  std::optional<NodeCells> sharers_cells_, others_cells_;  // for pods that share devices, and for all others
  std::vector<CellBound> cell_bounds_;                     // memory for scan_cells
  Indexed<PodClassIndex, std::unique_ptr<NodeRanking>> rankings_;
};

}  // namespace muster::placement
