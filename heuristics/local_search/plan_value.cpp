#include "heuristics/local_search/plan_value.h"

#include <algorithm>
#include <utility>

#include "heuristics/state/plan_of.h"

namespace muster::local_search {

PlanState::PlanState(const Plan& plan, ClusterState before)
    : bounds(queue_bounds(before.problem(), before)), state(std::move(before)) {
  evictions = carry_out(plan, state);
}

namespace {

// Copies of the class on the idle devices, and the idle thousandths in pieces that are large enough.
struct OnDevices {
  std::int64_t copies = 0;
  double thousandths = 0;
};

OnDevices on_devices(const PodClass& pod_class, DeviceUnits units, DeviceUnits whole,
                     std::span<const DeviceUnits> devices) {
  OnDevices found;
  for (const DeviceUnits free : devices) {
    if (free < units) continue;
    found.copies += free / units;
    found.thousandths += 1000.0 * static_cast<double>(free) / static_cast<double>(whole);
  }
  found.copies /= pod_class.gpu.devices;
  return found;
}

std::int64_t copies_beside(const PodClass& pod_class, std::span<const Amount> free, std::int64_t copies) {
  for (std::size_t r = 0; r < free.size(); ++r) {
    if (pod_class.request[r] > 0) copies = std::min(copies, std::max<Amount>(0, free[r]) / pod_class.request[r]);
  }
  return copies;
}

}  // namespace

std::int64_t idle_thousandths(const Problem& problem, NodeIndex node, std::span<const DeviceUnits> free) {
  const DeviceUnits thousandth = problem.device_capacity(node) / 1000;
  std::int64_t sum = 0;
  for (const DeviceUnits units : free) sum += std::max<DeviceUnits>(0, units) / thousandth;
  return sum;
}

double usable_thousandths(const Problem& problem, NodeIndex node, const Room& room) {
  const NodeClass& node_class = problem.class_of(node);
  const DeviceUnits whole = problem.device_capacity(node);
  double sum = 0;
  for (const ExpectedClass& expected : problem.objective.expected_workload) {
    const PodClass& pod_class = problem.pod_classes[expected.pod_class];
    if (pod_class.gpu.devices == 0 || !fit::node(problem, pod_class, node)) continue;
    if (fit::asks_unknown_memory(pod_class, node_class)) continue;
    const OnDevices idle = on_devices(pod_class, share_units(pod_class, node_class), whole, room.devices);
    if (idle.copies == 0) continue;
    const std::int64_t copies = copies_beside(pod_class, room.free, idle.copies);
    sum += static_cast<double>(expected.weight_millionths) * 1e-6 * idle.thousandths * static_cast<double>(copies) /
           static_cast<double>(idle.copies);
  }
  return sum;
}

double room_for_more(const Problem& problem, NodeIndex node, const Room& room) {
  const NodeClass& node_class = problem.class_of(node);
  const auto asks_for_devices = [&](const ExpectedClass& expected) {
    return problem.pod_classes[expected.pod_class].gpu.devices > 0;
  };
  if (node_class.device_count > 0 && std::ranges::any_of(problem.objective.expected_workload, asks_for_devices))
    return usable_thousandths(problem, node, room);
  double sum = 0;
  for (std::size_t r = 0; r < room.free.size(); ++r) {
    const double part =
        static_cast<double>(room.free[r]) / static_cast<double>(std::max<Amount>(1, node_class.capacity[r]));
    sum += part * part;
  }
  return sum;
}

}  // namespace muster::local_search
