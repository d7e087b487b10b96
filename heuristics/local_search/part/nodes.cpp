#include "heuristics/local_search/part/nodes.h"

#include <algorithm>
#include <utility>

#include "heuristics/local_search/value.h"
#include "model/objective/evaluation.h"

namespace muster::local_search {

void NodeContents::add(const Problem& problem, NodeIndex node, const PodClass& pod_class, const DeviceList& on,
                       std::int64_t sign) {
  for (std::size_t r = 0; r < free.size(); ++r) free[r] += sign * pod_class.request[r];
  if (on.empty()) return;
  const DeviceUnits units = share_units(pod_class, problem.class_of(node));
  for (const std::int32_t device : on) devices[static_cast<std::size_t>(device)] += sign * units;
}

PartNodes::PartNodes(const SearchScope& scope, const ClusterState& state, const std::vector<NodeIndex>& nodes)
    : scope_(scope), problem_(scope.problem()) {
  nodes_.reserve(nodes.size());
  for (const NodeIndex node : nodes) add(state, node);
  list_idle();
}

void PartNodes::add(const ClusterState& state, NodeIndex node) {
  PartNode added;
  added.node = node;
  const auto free = state.free(node);
  const auto devices = state.free_devices(node);
  added.contents = {{free.begin(), free.end()}, {devices.begin(), devices.end()}};
  for (const PodIndex pod : state.pods_on(node)) {
    if (scope_.may_move(pod)) added.pods.push_back({pod, state.place_of(pod).devices});
    added.breaking += scope_.whole_nodes().breaks(pod, node) ? 1 : 0;
  }
  value(added);
  nodes_.push_back(std::move(added));
}

void PartNodes::value(PartNode& node) const {
  node.idle = idle_thousandths(problem_, node.node, node.contents.devices);
  node.last_level =
      last_level_of(problem_, {problem_.nodes[node.node].node_class, node.contents.free, node.contents.devices});
}

void PartNodes::change(std::size_t position, const NodeContents& contents, const Trial& trial,
                       std::int32_t breaking_change) {
  PartNode& node = nodes_[position];
  node.contents = contents;
  std::erase_if(node.pods, [&](const PartNode::Occupant& occupant) {
    const auto is_it = [&](const TrialPod& pod) { return pod.pod == occupant.pod; };
    return std::ranges::any_of(trial.required, is_it) || std::ranges::any_of(trial.optional, is_it);
  });
  trial.for_each([&](const TrialPod& pod) {
    if (pod.to == node.node) node.pods.push_back({pod.pod, pod.to_devices});
  });
  node.breaking += breaking_change;
  value(node);
}

void PartNodes::list_idle() {
  with_idle_devices_.clear();
  for (std::size_t position = 0; position < nodes_.size(); ++position) {
    if (nodes_[position].idle > 0) with_idle_devices_.push_back(position);
  }
}

}  // namespace muster::local_search
