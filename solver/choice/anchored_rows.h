// Devices of nodes on which pods stay that may be evicted, but not moved: what remains has to fit beside them, node by
// node.
//
// Columns  t_nv  pods of running cell v that stay on node n, if its pods run on several nodes and leave one by one
//          y_nw  pods with w whole devices that are put on node n, integer
//          h_n   idle devices of node n that are opened for sharers, integer
//          c_ds  whether set s of the sharers of device d stays (as many of each cell as it says)
// Rows     of a node:           sum w y_nw + h_n + devices that stay shared + whole devices of those that stay
//                               <= idle devices without them
//          of a shared device:  sum_s c_ds = 1; of each cell as many are in s as stay
//          of a cell:           sum_n t_nv = pods that stay
// What a set leaves free of its device is one of the levels that the pool's patterns fill (solver/choice/sum_rows.h).
// Of a device with too many sets, the largest sharers alone are distinguished: the others are thought to take nothing
// of it as long as one of them stays, which only makes the rows weaker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"
#include "solver/demand/demand.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/residual_class.h"

namespace muster::choice {

inline constexpr std::int64_t kMillionths = 1'000'000;  // of a device: a unit
// Rounded up.
inline std::int64_t millionths_of(DeviceUnits units, DeviceUnits capacity) {
  const DeviceUnits one = capacity / kMillionths;
  return (units + one - 1) / one;
}

class AnchoredRows {
 public:
  // All outlive the rows. `base`: without those that may leave. `formulation`: pooled, of the same demand.
  AnchoredRows(const Problem& problem, const formulation::Demand& demand, const ClusterState& base,
               formulation::Formulation& formulation);

  // Whether a pod runs on the node that may be evicted, but not moved.
  bool is_anchored(NodeIndex node) const { return !pods_on_[node].empty(); }
  // Whether pods of the demand class stay where they run.
  static bool is_anchored(const formulation::Demand& demand, formulation::DemandIndex d);

  // Whether such a pod shares the device.
  bool is_shared(NodeIndex node, std::int32_t device) const { return sharers_on_[node].contains(device); }

  // What nodes offer, in millionths of a device.
  struct Offer {
    std::map<std::int32_t, lp::LinearExpression> whole;   // by size: pods that are placed
    lp::LinearExpression opened;                          // idle devices
    std::map<std::int64_t, lp::LinearExpression> levels;  // by what is free: devices that sharers leave
  };
  // Adds the rows of one anchored node with so many idle devices in the base, and what it offers: of sizes that are
  // keys of `whole`.
  void add(NodeIndex node, std::int64_t idle, Offer& offer);

 private:
  using Sharers = std::map<formulation::RunningCellIndex, std::int64_t>;  // pods of one device
  // Some of them stay.
  struct Staying {
    std::vector<std::int64_t> pods;  // by position in DeviceSharers::exact
    std::int64_t share = 0;
    std::int32_t column = -1;
  };
  struct DeviceSharers {
    std::vector<formulation::RunningCellIndex> exact, others;
    std::vector<Staying> sets;
  };
  std::int64_t pods_of(formulation::RunningCellIndex cell, NodeIndex node) const;
  std::int64_t share_of(formulation::RunningCellIndex cell, NodeIndex node) const;
  DeviceSharers sets_of(const Sharers& sharers, NodeIndex node) const;
  lp::LinearExpression add_device(NodeIndex node, std::int32_t device, Offer& offer);

  const Problem& problem_;
  const formulation::Demand& demand_;
  const ClusterState& base_;
  formulation::Formulation& formulation_;
  Indexed<NodeIndex, std::vector<PodIndex>> pods_on_;               // anchored
  Indexed<NodeIndex, std::map<std::int32_t, Sharers>> sharers_on_;  // of them, by device
  Indexed<formulation::RunningCellIndex, bool> leaves_together_;
  std::size_t most_sets_ = 0;  // of a device
  Indexed<formulation::RunningCellIndex, lp::LinearExpression> staying_;
  std::map<std::pair<formulation::RunningCellIndex, NodeIndex>, lp::LinearExpression> staying_on_;
};

}  // namespace muster::choice
