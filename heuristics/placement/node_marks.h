// Marks on the nodes of an index that follows a cluster state: whether what the index knows of a node still holds.
//
// Of equal nodes (one class, equal room on equal devices, nothing that departs) an index holds one at a time. Its mark
// names their group, and once the node has changed, the next of the group that has not changed takes its place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/placement/immediate_room.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::placement {

// A node as it was at some moment, or the first of a group of equal ones.
struct MarkedNode {
  NodeIndex node;
  std::uint32_t mark = 0;  // the node's version; or kOfGroup and the group
};

class NodeMarks {
 public:
  // Both must outlive it.
  NodeMarks(const ClusterState& state, const ImmediateRoom& room) : state_(state), room_(room) {}

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
  const ImmediateRoom& room_;
  std::size_t read_ = 0;
  Indexed<NodeIndex, std::size_t> last_change_;
  std::vector<Group> groups_;
  std::vector<NodeIndex> nodes_;  // by group
};

}  // namespace muster::placement
