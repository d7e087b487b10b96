#include "heuristics/placement/immediate_room.h"

#include <numeric>

namespace muster::placement {

ImmediateRoom::ImmediateRoom(const ClusterState& state)
    : problem_(state.problem()), state_(state), has_releasing_(problem_.nodes.size(), 0) {
  const auto for_each = [&](const auto& visit) {
    for (const PodIndex pod : problem_.pods.indices()) {
      const Pod& p = problem_.pods[pod];
      if (p.node.is_none() || (p.status != PodStatus::kRunning && p.status != PodStatus::kReleasing)) continue;
      visit(pod, p);
    }
  };
  occupants_begin_.assign(problem_.nodes.size() + 1, 0);
  for_each([&](PodIndex, const Pod& pod) {
    ++occupants_begin_[pod.node.value() + 1];
    if (pod.status == PodStatus::kReleasing) has_releasing_[pod.node] = 1;
  });
  std::partial_sum(occupants_begin_.begin(), occupants_begin_.end(), occupants_begin_.begin());
  occupants_.resize(occupants_begin_.back());
  std::vector<std::uint32_t> next(occupants_begin_.begin(), occupants_begin_.end() - 1);
  for_each([&](PodIndex index, const Pod& pod) { occupants_[next[pod.node.value()]++] = index; });
}

Room ImmediateRoom::of(NodeIndex node) const {
  if (known_.empty()) known_.resize(problem_.nodes.size());
  Known& known = known_[node];
  if (known.version == state_.version(node) + 1) return {known.free, known.devices};
  known.version = state_.version(node) + 1;
  const auto free = state_.free(node);
  const auto devices = state_.free_devices(node);
  known.free.assign(free.begin(), free.end());
  known.devices.assign(devices.begin(), devices.end());
  for (const PodIndex pod : occupants(node)) {
    if (state_.is_present(pod) && state_.node_of(pod) == node) continue;
    const PodClass& pod_class = problem_.class_of(pod);
    for (std::size_t r = 0; r < known.free.size(); ++r) known.free[r] -= pod_class.request[r];
    const auto held = problem_.devices_of(pod);
    if (held.empty()) continue;
    const DeviceUnits units = share_units(pod_class, problem_.class_of(node));
    for (const std::int32_t device : held) known.devices[static_cast<std::size_t>(device)] -= units;
  }
  return {known.free, known.devices};
}

bool ImmediateRoom::fits(const PodClass& pod_class, NodeIndex node) const {
  const Room room = of(node);
  return fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node);
}

}  // namespace muster::placement
