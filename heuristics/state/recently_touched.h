// The nodes of a state in the order of their last change, the latest first: for callers that know a property of all
// nodes at some time, and re-examine only those that may have changed since.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/base/index.h"

namespace muster {

class RecentlyTouched {
 public:
  explicit RecentlyTouched(std::size_t nodes) : links_(nodes) {}

  // Always of the same state. Cost: O(1) for each touch since the last call.
  void read(const ClusterState& state) {
    const std::vector<NodeIndex>& touched = state.changes().touched();
    for (; read_ < touched.size(); ++read_) move_to_front(touched[read_]);
  }
  // Calls visit(node) for the nodes touched since the given number of touches, each once, until it returns true. Cost:
  // O(nodes visited).
  template <class Visit>
  bool any_since(std::size_t touches, const Visit& visit) const {
    for (NodeIndex node = first_; !node.is_none() && links_[node].touch >= touches; node = links_[node].next) {
      if (visit(node)) return true;
    }
    return false;
  }

 private:
  struct Link {
    bool is_listed = false;
    std::size_t touch = 0;  // the last one
    NodeIndex previous = NodeIndex::none(), next = NodeIndex::none();
  };
  void move_to_front(NodeIndex node) {
    Link& link = links_[node];
    link.touch = read_;
    if (first_ == node) return;
    if (std::exchange(link.is_listed, true)) {
      links_[link.previous].next = link.next;
      if (!link.next.is_none()) links_[link.next].previous = link.previous;
    }
    link.previous = NodeIndex::none();
    link.next = first_;
    if (!first_.is_none()) links_[first_].previous = node;
    first_ = node;
  }

  Indexed<NodeIndex, Link> links_;
  NodeIndex first_ = NodeIndex::none();
  std::size_t read_ = 0;
};

}  // namespace muster
