#include "heuristics/greedy/exact_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "heuristics/state/fit.h"

namespace muster::greedy {

namespace {

bool may_hold_devices(const NodeClass& node_class) { return node_class.device_count > 0 && !node_class.cordoned; }

// A node like all others that have devices, if they are idle; none if they differ.
NodeIndex typical_node(const Problem& problem, const ClusterState& state) {
  NodeIndex typical = NodeIndex::none();
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    if (!may_hold_devices(node_class)) continue;
    if (state.idle_devices(node) < node_class.device_count || node_class.devices_closed) return NodeIndex::none();
    if (typical.is_none()) typical = node;
    if (node_class.device_count != problem.class_of(typical).device_count) return NodeIndex::none();
    if (!std::ranges::equal(state.free(node), state.free(typical))) return NodeIndex::none();
  }
  return typical;
}

std::vector<PodClassIndex> waiting_classes(const Problem& problem) {
  std::vector<bool> waits(problem.pod_classes.size(), false);
  for (const Pod& pod : problem.pods) {
    if (fit::is_pending(pod)) waits[pod.pod_class.value()] = true;
  }
  std::vector<PodClassIndex> classes;
  for (const PodClassIndex index : problem.pod_classes.indices()) {
    if (waits[index.value()]) classes.push_back(index);
  }
  return classes;
}

bool is_allowed_everywhere(const Problem& problem, const PodClass& pod_class) {
  return std::ranges::all_of(problem.node_classes.indices(), [&](NodeClassIndex index) {
    return !may_hold_devices(problem.node_classes[index]) || pod_class.allowed[index.value()];
  });
}

// Whether pods of the class leave the other devices of a node their part of all else.
bool takes_its_part(const PodClass& pod_class, std::span<const Amount> free, std::int64_t devices) {
  for (std::size_t r = 0; r < free.size(); ++r) {
    if (pod_class.request[r] > free[r] / devices * pod_class.gpu.devices) return false;
  }
  return true;
}

}  // namespace

bool have_exact_sums(const Problem& problem, const ClusterState& state) {
  const NodeIndex node = typical_node(problem, state);
  if (node.is_none() || problem.has_inter_pod_rules()) return false;
  if (!std::ranges::all_of(problem.groups, [](const Group& group) { return group.required_level.is_none(); }))
    return false;
  const std::int64_t devices = problem.class_of(node).device_count;
  std::set<std::int64_t> sizes{devices};
  for (const PodClassIndex index : waiting_classes(problem)) {
    const PodClass& pod_class = problem.pod_classes[index];
    const GpuRequest& gpu = pod_class.gpu;
    if (gpu.devices == 0 || !is_allowed_everywhere(problem, pod_class)) return false;
    if (gpu.kind == GpuRequestKind::kFraction && gpu.devices == 1) continue;
    if (gpu.kind != GpuRequestKind::kWhole || !takes_its_part(pod_class, state.free(node), devices)) return false;
    sizes.insert(gpu.devices);
  }
  return std::ranges::adjacent_find(sizes, [](std::int64_t a, std::int64_t b) { return b % a != 0; }) == sizes.end();
}

}  // namespace muster::greedy
