// The quantities that most nodes lack if they cannot take a pod: a few contiguous numbers for each node, so that nodes
// that are too full cost next to nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/placement/regions.h"
#include "heuristics/state/cluster_state.h"
#include "model/base/interning.h"
#include "model/problem/problem.h"

namespace muster::placement {

// An upper bound of what is free on a node, or what a pod requests.
struct NodeSummary {
  Amount cpu = 0, memory = 0;
  std::int64_t share = 0;  // of the device with the most free capacity, in millionths of it
  std::int32_t idle = 0;   // devices
  // Not requested: further input of the scores.
  std::int32_t stranded = 0;  // see TypicalRequest
  std::int32_t room = 0;      // on all devices together, in thousandths of one
  NodeClassIndex node_class;
};

// Quantities that the class does not request are below all that may be free.
NodeSummary requested_by(const PodClass& pod_class);

inline bool is_short(const NodeSummary& free, const NodeSummary& requested) {
  return requested.cpu > free.cpu || requested.memory > free.memory || requested.idle > free.idle ||
         requested.share > free.share;
}
inline bool has_equal_room(const NodeSummary& a, const NodeSummary& b) {
  return a.cpu == b.cpu && a.memory == b.memory && a.share == b.share && a.idle == b.idle;
}

// How much cpu and memory the pods that wait for GPUs request for each GPU.
class TypicalRequest {
 public:
  // `pending`: the number of pods that wait. Cost: O(pod classes).
  TypicalRequest(const Problem& problem, const Indexed<PodClassIndex, std::int64_t>& pending);

  // GPUs that would have no cpu left for a typical pod, in thousandths; 0 if no pod waits for GPUs.
  std::int32_t stranded(std::int64_t idle_devices, Amount free_cpu) const;
  // Of that much room on devices, in use or not, the part for which typical pods would lack cpu or memory; in
  // thousandths of a GPU.
  std::int64_t lacking(std::int64_t room, Amount free_cpu, Amount free_memory) const;

 private:
  Amount per_gpu_ = 0;                             // thousandths of a core; of sharers for a whole GPU each
  Amount cpu_per_room_ = 0, memory_per_room_ = 0;  // for what they take of a GPU
};

class NodeSummaries {
 public:
  // Both must outlive it. No node has a summary.
  NodeSummaries(const ClusterState& state, const TypicalRequest& typical) : state_(state), typical_(typical) {}

  // Of every node, as it is now. Cost: O(nodes x devices).
  void begin();
  // To be called for each node that has changed. Cost: O(devices).
  void renew(NodeIndex node) { summaries_[node] = summary_of(node); }

  const NodeSummary& operator[](NodeIndex node) const { return summaries_[node]; }
  void fetch(NodeIndex node) const { __builtin_prefetch(&summaries_[node]); }

 private:
  NodeSummary summary_of(NodeIndex node) const;

  const ClusterState& state_;
  const TypicalRequest& typical_;
  Indexed<NodeIndex, NodeSummary> summaries_;
};

// Marks on the nodes of an index that follows a cluster state: whether what the index knows of a node still holds.
//
// Of equal nodes (one class, equal room on equal devices, nothing that departs) an index holds one at a time. Its mark
// names their group, and once the node has changed, the next of the group that has not changed takes its place.
//
// A node as it was at some moment, or the first of a group of equal ones.
struct MarkedNode {
  NodeIndex node;
  std::uint32_t mark = 0;  // the node's version; or kOfGroup and the group
};

class NodeMarks {
 public:
  // Both must outlive it.
  NodeMarks(const ClusterState& state, const ImmediateCapacity& room) : state_(state), room_(room) {}

  // Follows the state from now on; to be called before everything else. Cost: O(nodes).
  void begin();
  bool has_begun() const { return !last_change_.empty(); }
  // Reads the changes of the state (StateChanges::touched) up to now, and calls renew(node) for each of them except
  // those that the next one repeats. Cost: O(changes).
  template <class Renew>
  void follow(const Renew& renew) {
    const std::vector<NodeIndex>& touched = state_.changes().touched();
    for (; read_ < touched.size(); ++read_) {
      const NodeIndex node = touched[read_];
      if (read_ + 1 < touched.size() && touched[read_ + 1] == node) continue;
      renew(node);
      last_change_[node] = read_ + 1;
    }
  }
  // How many changes of the state have been read.
  std::size_t read() const { return read_; }
  // How many changes there were with the node's last one; 0 if it has not changed since the nodes were grouped.
  std::size_t last_change(NodeIndex node) const { return last_change_[node]; }
  bool has_changed(NodeIndex node) const { return last_change_[node] > 0; }

  // Groups equal nodes as they are now, so that none of them has changed. To be called before any index reads changes.
  // Cost: O(nodes x (resources + devices)).
  void group_equal_nodes();
  bool has_groups() const { return !nodes_.empty(); }
  // Calls visit(MarkedNode) for each group with nodes that have not changed.
  template <class Visit>
  void for_each_group(const Visit& visit) {
    for (std::uint32_t at = 0; at < groups_.size(); ++at) {
      if (has_unchanged(groups_[at])) visit(MarkedNode{nodes_[groups_[at].next], kOfGroup | at});
    }
  }

  // The node as it is now.
  MarkedNode marked(NodeIndex node) const { return {node, state_.version(node) & ~kOfGroup}; }
  // Whether the node has changed since it was marked.
  bool is_stale(const MarkedNode& node) const {
    if (is_group(node)) return has_changed(node.node);
    return (state_.version(node.node) & ~kOfGroup) != node.mark;
  }
  // Replaces the node by the next of its group. False: it has no group, or all nodes of it have changed.
  bool advance(MarkedNode& node) {
    if (!is_group(node)) return false;
    Group& group = groups_[node.mark & ~kOfGroup];
    if (!has_unchanged(group)) return false;
    node.node = nodes_[group.next];
    return true;
  }
  static bool is_group(const MarkedNode& node) { return (node.mark & kOfGroup) != 0; }
  // The nodes of its group; some may have changed. Requires is_group(node).
  std::span<const NodeIndex> group_of(const MarkedNode& node) const;

  void fetch(NodeIndex node) const { __builtin_prefetch(&last_change_[node]); }

 private:
  static constexpr std::uint32_t kOfGroup = std::uint32_t{1} << 31;
  // `nodes_[next .. end)`, except those that have changed.
  struct Group {
    std::uint32_t next = 0, end = 0;
  };
  bool has_unchanged(Group& group) const {
    while (group.next < group.end && has_changed(nodes_[group.next])) ++group.next;
    return group.next < group.end;
  }

  const ClusterState& state_;
  const ImmediateCapacity& room_;
  std::size_t read_ = 0;
  Indexed<NodeIndex, std::size_t> last_change_;
  std::vector<Group> groups_;
  std::vector<NodeIndex> nodes_;  // by group
};

// Nodes in cells of similar nodes: of one class, with the same number of idle devices, about equal free cpu and, for
// pods that share devices, about equal free capacity on a device in use. The bounds of a cell bound the scores of all
// its nodes from below, so only cells that may hold the best node of all are examined.
//
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
  struct Capacities {
    std::int64_t step = 0;  // 0: none of them
    DeviceUnits least = 0, most = 0;
  };
  void add(const MarkedNode& node);
  void add_to(const MarkedNode& node, const Capacities& rooms);

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
