// Nodes in cells of similar nodes: of one class, with the same number of idle devices, about equal free cpu and, for
// pods that share devices, about equal free capacity on a device in use. The bounds of a cell bound the scores of all
// its nodes from below, so only cells that may hold the best node of all are examined.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/base/interning.h"
#include "model/problem/problem.h"

namespace muster {

// A node as it was at some moment, or the first of many equivalent ones: the owner defines the meaning of the mark.
struct MarkedNode {
  NodeIndex node;
  std::uint32_t mark = 0;
};

class NodeCells {
 public:
  enum class By : std::uint8_t {
    kIdleDevices,  // each node is in one cell
    kRoom          // in one for each free capacity of its devices in use, and in one if it has idle ones
  };

  struct Cell {
    NodeClassIndex node_class;
    std::int32_t idle = 0;    // devices, of every node
    bool is_of_room = false;  // the nodes have a device in use with `least_room` to `most_room` units free
    DeviceUnits least_room = 0, most_room = 0;
    Amount least_cpu = 0, most_cpu = 0;  // free
    std::vector<MarkedNode> nodes;
  };

  // The problem must outlive the cells.
  NodeCells(const Problem& problem, By by);

  // Puts the node into its cell according to the state, in addition to older entries of it. Cost: O(devices).
  void add(const ClusterState& state, const MarkedNode& node);

  std::vector<Cell>& all() { return cells_; }  // their number only grows

 private:
  // Of devices in use with about as much room.
  struct Rooms {
    std::int64_t step = 0;  // 0: none of them
    DeviceUnits least = 0, most = 0;
  };
  void add_to(const ClusterState& state, const MarkedNode& node, const Rooms& rooms);

  const Problem& problem_;
  By by_;
  std::int64_t cpu_steps_;
  SequenceTable keys_;  // of the cells
  std::vector<Cell> cells_;
};

}  // namespace muster
