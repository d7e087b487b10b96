#include "heuristics/state/node_states.h"

#include <algorithm>

#include "model/base/saturating.h"
#include "model/problem/exceeded.h"

namespace muster {

NodeStates::NodeStates(const Problem& problem) : problem_(&problem) {
  constexpr std::uint32_t kSpareRoom = 4;  // pods more than run on a node, before its list has to grow
  Indexed<NodeIndex, std::uint32_t> running(problem.nodes.size(), 0);
  for (const Pod& pod : problem.pods) {
    if (pod.status == PodStatus::kRunning) ++running[pod.node];
  }
  pods_on_.reserve(problem.pods.size() + kSpareRoom * problem.nodes.size());
  free_.reserve(problem.nodes.size() * problem.resource_count);
  nodes_.reserve(problem.nodes.size());
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    const auto devices = static_cast<std::uint32_t>(node_class.device_count),
               reported = static_cast<std::uint32_t>(as_reported(problem, node_class).device_count);
    const DeviceUnits whole = problem.device_capacity(node);
    nodes_.push_back({problem.nodes[node].node_class, static_cast<std::uint32_t>(free_devices_.size()), devices,
                      as_reported(problem, node_class).device_count, static_cast<std::int32_t>(running[node]),
                      pods_on_.make(running[node] + kSpareRoom), 0});
    const std::vector<Amount>& capacity = as_reported(problem, node_class).capacity;
    free_.insert(free_.end(), capacity.begin(), capacity.end());
    free_devices_.insert(free_devices_.end(), reported, whole);
    free_devices_.insert(free_devices_.end(), devices - reported, 0);  // these return none of it
  }
}

// A negative free amount of a node (rule Exceeded) counts as zero: the total that can become free is at most what then
// leaves.
void NodeStates::begin_sums() {
  free_total_.assign(problem_->resource_count, 0);
  free_devices_total_ = 0;
  for (const NodeIndex node : problem_->nodes.indices()) {
    const DeviceUnits whole = problem_->device_capacity(node);
    for (std::size_t r = 0; r < free_total_.size(); ++r)
      free_total_[r] = saturating_add(free_total_[r], std::max<Amount>(0, free(node)[r]));
    for (const DeviceUnits room : free_devices(node)) free_devices_total_ += micro_gpu(whole, room);
  }
}

MicroGpu NodeStates::micro_gpu(DeviceUnits whole, DeviceUnits units) {
  if (units <= 0) return 0;
  if (units == whole) return 1'000'000;
  const DeviceUnits mib = whole / 1'000'000;  // MiB of a whole device, or one if that is not known
  if (mib == 1) return units;
  return (units + mib - 1) / mib;
}

MicroGpu NodeStates::fill(const PodClass& pod_class, const CompactPlace& place, const DeviceSets& sets,
                          std::int32_t by) {
  Amount* free = free_.data() + place.node.value() * problem_->resource_count;
  for (std::size_t r = 0; r < problem_->resource_count; ++r) free[r] -= by * pod_class.request[r];
  MicroGpu growth = 0;
  if (place.devices.empty()) return growth;
  OnNode& node = nodes_[place.node];
  const NodeClass& node_class = problem_->node_classes[node.node_class];
  const DeviceUnits change = by * share_units(pod_class, node_class);
  const DeviceUnits whole = node_class.device_capacity();
  sets.for_each(place.devices, [&](std::int32_t device) {
    DeviceUnits& room = free_devices_[node.first_device + static_cast<std::uint32_t>(device)];
    const bool was_idle = room == whole;
    growth -= micro_gpu(whole, room);
    room -= change;
    growth += micro_gpu(whole, room);
    node.idle_devices += (room == whole ? 1 : 0) - (was_idle ? 1 : 0);
  });
  return growth;
}

}  // namespace muster
