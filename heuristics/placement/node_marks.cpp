#include "heuristics/placement/node_marks.h"

#include <utility>

#include "model/base/interning.h"
#include "model/base/require.h"

namespace muster::placement {

void NodeMarks::begin() {
  last_change_.assign(state_.problem().nodes.size(), 0);
  read_ = state_.changes().touched().size();
}

void NodeMarks::group_equal_nodes() {
  const Problem& problem = state_.problem();
  SequenceTable rooms;
  std::vector<std::uint64_t> signature;
  std::vector<std::uint32_t> group_of_node;
  groups_.clear();
  for (const NodeIndex node : problem.nodes.indices()) {
    signature.assign({problem.nodes[node].node_class.value()});
    if (room_.has_departing(node)) signature.push_back(node.value());
    for (const Amount free : state_.free(node)) signature.push_back(static_cast<std::uint64_t>(free));
    for (const DeviceUnits free : state_.free_devices(node)) signature.push_back(static_cast<std::uint64_t>(free));
    const auto [group, is_new] = rooms.intern(signature);
    group_of_node.push_back(group);
    if (is_new) groups_.push_back({0, 0});
    ++groups_[group].end;
  }
  std::uint32_t begin = 0;
  for (Group& group : groups_) {
    group.next = begin;
    begin += std::exchange(group.end, begin);
  }
  nodes_.resize(problem.nodes.size());
  for (const NodeIndex node : problem.nodes.indices()) nodes_[groups_[group_of_node[node.value()]].end++] = node;
  last_change_.assign(problem.nodes.size(), 0);
}

std::span<const NodeIndex> NodeMarks::group_of(const MarkedNode& node) const {
  MUSTER_REQUIRE_SLOW(is_group(node));
  const Group& group = groups_[node.mark & ~kOfGroup];
  return std::span(nodes_).subspan(group.next, group.end - group.next);
}

}  // namespace muster::placement
