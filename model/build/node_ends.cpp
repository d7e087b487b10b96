#include "model/build/node_ends.h"

#include <algorithm>

#include "model/base/require.h"
#include "model/problem/exceeded.h"

namespace muster {

NodeEnds::NodeEnds(const Problem& problem)
    : problem_(problem), ends_(problem.nodes.size(), problem.snapshot->time), taken_(problem.nodes.size(), false) {
  for (const Pod& pod : problem.pods) {
    const bool is_there = pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
    if (!is_there || !problem.pod_classes[pod.pod_class].counts_as_gpu) continue;
    ends_[pod.node] = std::max(ends_[pod.node], problem.gangs[pod.gang].times.expected_end);
  }
}

std::optional<TakenNodes> NodeEnds::take(const Gang& gang) {
  std::vector<PodIndex> pods;
  for (const PodIndex pod : gang.pods) {
    if (problem_.pods[pod].status == PodStatus::kPending) pods.push_back(pod);
  }
  MUSTER_REQUIRE(!pods.empty());
  const PodIndex largest = *std::ranges::max_element(pods, {}, [&](PodIndex pod) { return devices(pod); });
  const auto wanted = static_cast<std::size_t>(
      std::ranges::count_if(pods, [&](PodIndex pod) { return 2 * devices(pod) > devices(largest); }));
  const TakenNodes none_needed{problem_.snapshot->time, {}};
  if (wanted == 0) return none_needed;
  std::vector<NodeIndex> nodes = first_of(queue_for(largest), wanted);
  if (nodes.size() < wanted) return fits_beside_others(largest) ? std::optional(none_needed) : std::nullopt;
  for (const NodeIndex node : nodes) taken_[node] = true;
  const Nanoseconds empty_at = ends_[nodes.back()];
  return TakenNodes{empty_at, std::move(nodes)};
}

NodeEnds::NodeQueue& NodeEnds::queue_for(PodIndex pod) {
  const auto [found, is_new] = queues_.try_emplace(problem_.pods[pod].pod_class);
  NodeQueue& queue = found->second;
  if (!is_new) return queue;
  for (const NodeIndex node : problem_.nodes.indices()) {
    const NodeClassIndex node_class = problem_.nodes[node].node_class;
    const std::int32_t count = reported_devices(node_class);
    const bool suits = count >= devices(pod) && count < 2 * devices(pod);
    if (suits && problem_.class_of(pod).allowed[node_class.value()]) queue.nodes.push_back(node);
  }
  std::ranges::stable_sort(queue.nodes, {}, [&](NodeIndex node) { return ends_[node]; });
  return queue;
}

std::vector<NodeIndex> NodeEnds::first_of(NodeQueue& queue, std::size_t wanted) const {
  while (queue.next < queue.nodes.size() && taken_[queue.nodes[queue.next]]) ++queue.next;
  std::vector<NodeIndex> first;
  for (std::size_t i = queue.next; i < queue.nodes.size() && first.size() < wanted; ++i) {
    if (!taken_[queue.nodes[i]]) first.push_back(queue.nodes[i]);
  }
  return first;
}

// Pods that hold more devices are gone once the node is empty.
std::int32_t NodeEnds::reported_devices(NodeClassIndex node_class) const {
  return as_reported(problem_, problem_.node_classes[node_class]).device_count;
}

bool NodeEnds::fits_beside_others(PodIndex pod) const {
  return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex node_class) {
    return problem_.class_of(pod).allowed[node_class.value()] && reported_devices(node_class) >= 2 * devices(pod);
  });
}

}  // namespace muster
