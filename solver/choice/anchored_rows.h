// Devices of nodes on which pods stay that may be evicted, but not moved: what remains has to fit beside them, node by
// node.
//
// Columns  t_nv  pods of running cell v that stay on node n, if its pods run on several nodes and leave one by one
//          y_nw  pods with w whole devices that are put on node n, integer
//          h_n   devices of node n that are shared, integer
// Rows     of a node:           sum w y_nw + h_n + whole devices of those that stay <= idle devices without them
//          of a shared device:  it is shared as long as a sharer stays
//          of a cell:           sum_n t_nv = pods that stay
// Patterns of sharers are those of the whole pool (solver/choice/sum_rows.h): sharers that stay may be thought to
// change devices, which only makes the rows weaker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"
#include "solver/formulation/demand.h"
#include "solver/formulation/formulation.h"
#include "solver/formulation/residual_class.h"

namespace muster::choice {

class AnchoredRows {
 public:
  // All outlive the rows. `base`: without those that may leave. `formulation`: pooled, of the same demand.
  AnchoredRows(const Problem& problem, const formulation::Demand& demand, const ClusterState& base,
               formulation::Formulation& formulation);

  // Whether a pod runs on the node that may be evicted, but not moved.
  bool is_anchored(NodeIndex node) const { return !pods_on_[node].empty(); }
  // Whether pods of the demand class stay where they run.
  static bool is_anchored(const formulation::Demand& demand, formulation::DemandIndex d);

  // Adds the rows of one anchored node with so many idle devices in the base. `whole` by size: what the node takes of
  // it is added; `shared`: and its shared devices.
  void add(NodeIndex node, std::int64_t idle, std::map<std::int32_t, lp::LinearExpression>& whole,
           lp::LinearExpression& shared);

 private:
  std::int64_t pods_of(formulation::RunningCellIndex cell, NodeIndex node) const;

  const Problem& problem_;
  const formulation::Demand& demand_;
  const ClusterState& base_;
  formulation::Formulation& formulation_;
  Indexed<NodeIndex, std::vector<PodIndex>> pods_on_;  // anchored
  Indexed<formulation::RunningCellIndex, lp::LinearExpression> staying_;
  std::map<std::pair<formulation::RunningCellIndex, NodeIndex>, lp::LinearExpression> staying_on_;
};

}  // namespace muster::choice
