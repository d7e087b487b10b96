// Nodes in cells of nodes that are much alike: of one class, with as many idle devices, about as much free cpu and, for
// pods that share devices, about as much room on a device in use. What a cell tells of all of its nodes bounds their
// scores from below, so that only those cells are looked into that may hold the best node of all.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/cluster_state.h"
#include "model/interning.h"
#include "model/problem.h"

namespace muster {

// A node as it was at some moment, or the first of many that are alike: what the mark says is its owner's matter.
struct MarkedNode {
  NodeIndex node;
  std::uint32_t mark = 0;
};

class NodeCells {
 public:
  enum class By : std::uint8_t {
    kIdleDevices,  // each node is in one cell
    kRoom          // in one for each of the different rooms on its devices in use, and in one where it has idle devices
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

  // Puts the node where it belongs as the state has it, beside what is there of it from before. Cost: O(devices).
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
