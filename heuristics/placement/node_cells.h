// Nodes in cells of similar nodes: of one class, with the same number of idle devices, about equal free cpu and, for
// pods that share devices, about equal free capacity on a device in use. The bounds of a cell bound the scores of all
// its nodes from below, so only cells that may hold the best node of all are examined.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/placement/node_marks.h"
#include "heuristics/state/cluster_state.h"
#include "model/base/interning.h"
#include "model/problem/problem.h"

namespace muster::placement {

// Every node is in its cell with its current state, or equal to one in the cell that represents its group; it may also
// be there with an older state.
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

  // The nodes as they were at the last change that the marks have read. Both arguments must outlive the cells. Requires
  // that the marks have groups. Cost: O(nodes x devices).
  NodeCells(const ClusterState& state, NodeMarks& marks, By by);

  // Adds the nodes that have changed since the last call, as far as the marks have read. Cost: O(changes x devices).
  void follow();

  std::vector<Cell>& all() { return cells_; }  // their number only grows
  const std::vector<Cell>& all() const { return cells_; }

 private:
  // Of devices in use with about as much room.
  struct Rooms {
    std::int64_t step = 0;  // 0: none of them
    DeviceUnits least = 0, most = 0;
  };
  void add(const MarkedNode& node);
  void add_to(const MarkedNode& node, const Rooms& rooms);

  const Problem& problem_;
  const ClusterState& state_;
  NodeMarks& marks_;
  By by_;
  std::int64_t cpu_steps_;
  SequenceTable keys_;  // of the cells
  std::vector<Cell> cells_;
  std::size_t read_ = 0;  // of StateChanges::touched
};

}  // namespace muster::placement
