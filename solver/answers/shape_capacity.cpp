#include "solver/answers/shape_capacity.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "model/base/require.h"
#include "model/base/saturating.h"

namespace muster::answers {
namespace {

constexpr std::array<std::string_view, kQueueResources> kNames = {"gpu", "cpu", "memory"};

// The least that one pod adds to the usage of a queue, whichever node it is on.
QueueAmounts least_usage(const Problem& problem, const PodClass& pod_class) {
  std::optional<QueueAmounts> least;
  for (const NodeClassIndex index : problem.node_classes.indices()) {
    const NodeClass& node_class = problem.node_classes[index];
    if (!pod_class.allowed[index.value()] || node_class.nodes.empty()) continue;
    const QueueAmounts usage = queue_usage(pod_class, node_class);
    if (!least) least = usage;
    for (std::size_t r = 0; r < kQueueResources; ++r) (*least)[r] = std::min((*least)[r], usage[r]);
  }
  return least.value_or(QueueAmounts{});
}

}  // namespace

ShapeCapacity shape_capacity(const Problem& problem, const explain::RemainingCapacity& room, GangIndex gang) {
  const Gang& asked = problem.gangs[gang];
  MUSTER_REQUIRE(!asked.pods.empty());
  const PodClass& pod_class = problem.class_of(asked.pods.front());
  const TopologyLevelIndex level = problem.groups[asked.root].required_level;
  const auto size = static_cast<std::int64_t>(asked.pods.size());
  ShapeCapacity found;
  Indexed<DomainIndex, std::int64_t> by_domain;
  by_domain.assign(level.is_none() ? 1 : problem.topology.domains.size(), 0);
  for (const NodeIndex node : room.nodes()) {
    if (!pod_class.allowed[problem.nodes[node].node_class.value()]) continue;
    const DeviceUnits whole = problem.device_capacity(node);
    const std::int64_t idle = std::ranges::count(room.devices(node), whole);
    found.idle_devices += idle;
    found.most_idle_devices = std::max(found.most_idle_devices, idle);
    if (room.conflicts(pod_class, node)) continue;
    const DomainIndex domain = level.is_none() ? DomainIndex(0) : problem.nodes[node].domains[level.value()];
    if (domain.is_none()) continue;
    const std::int64_t pods = room.count(pod_class, node, kLargest);
    found.pods = saturating_add(found.pods, pods);
    by_domain[domain] = saturating_add(by_domain[domain], pods);
  }
  for (const std::int64_t pods : by_domain) {
    found.in_domain = std::max(found.in_domain, pods);
    found.gangs = saturating_add(found.gangs, pods / size);
  }
  return found;
}

std::int64_t gangs_by_sums(const Problem& problem, const explain::RemainingCapacity& room, GangIndex gang) {
  const Gang& asked = problem.gangs[gang];
  MUSTER_REQUIRE(!asked.pods.empty());
  const PodClass& pod_class = problem.class_of(asked.pods.front());
  const auto size = static_cast<std::int64_t>(asked.pods.size());
  std::vector<std::int64_t> free(problem.resource_count, 0);
  MicroGpu devices = 0;
  for (const NodeIndex node : room.nodes()) {
    for (std::size_t r = 0; r < free.size(); ++r) {
      free[r] = saturating_add(free[r], std::max<std::int64_t>(0, room.free(node)[r]));
    }
    const DeviceUnits whole = problem.device_capacity(node);
    for (const DeviceUnits units : room.devices(node)) {
      constexpr MicroGpu kDevice = 1'000'000;
      devices += static_cast<MicroGpu>((Wide{std::max<DeviceUnits>(0, units)} * kDevice + whole - 1) / whole);
    }
  }
  std::int64_t gangs = kLargest;
  for (std::size_t r = 0; r < free.size(); ++r) {
    if (pod_class.request[r] > 0) gangs = std::min(gangs, free[r] / pod_class.request[r] / size);
  }
  // The part that a request for memory takes differs from device to device.
  if (pod_class.gpu.kind == GpuRequestKind::kMemory) return gangs;
  const MicroGpu wanted = pod_class.smallest_gpu_usage - pod_class.mig_gpu_usage;
  return wanted > 0 ? std::min(gangs, devices / wanted / size) : gangs;
}

QueueSlack queue_room(const Problem& problem, const explain::AfterPlan& end, GangIndex gang) {
  const Gang& asked = problem.gangs[gang];
  MUSTER_REQUIRE(!asked.pods.empty() && !asked.queue.is_none());
  const QueueAmounts one = least_usage(problem, problem.class_of(asked.pods.front()));
  const auto size = static_cast<std::int64_t>(asked.pods.size());
  QueueSlack room{kLargest, {}};
  const auto bound = [&](Amount most, Amount used, Amount amount, const std::string& by) {
    if (most == kUnlimited || amount <= 0) return;
    const std::int64_t gangs = std::max<Amount>(0, most - used) / saturating_multiply(amount, size);
    if (gangs >= room.gangs) return;
    room = {gangs, by};
  };
  const auto above = [&](QueueIndex queue) {
    return queue == asked.queue ? "" : " of queue \"" + std::string(problem.queues[queue].name) + "\"";
  };
  const bool is_within_quota = problem.snapshot->policy.non_preemptible_within_quota && !asked.preemptible;
  for (const QueueIndex index : problem.queues[asked.queue].ancestors) {
    const Queue& queue = problem.queues[index];
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const std::string where = above(index) + ": " + std::string(kNames[r]);
      // What is beyond a limit already may stay beyond it, but not grow.
      const Amount limit =
          queue.limit[r] == kUnlimited ? kUnlimited : std::max(queue.limit[r], end.usage_before[index][r]);
      bound(limit, end.usage[index][r], one[r], "limit" + where);
      if (is_within_quota) bound(queue.quota[r], end.non_preemptible_usage[index][r], one[r], "quota" + where);
    }
  }
  const PodClass& pod_class = problem.class_of(asked.pods.front());
  for (const OtherLimitIndex index : problem.queues[asked.queue].other_limits) {
    const OtherLimit& limit = problem.lists.other_limits[index];
    bound(std::max(limit.limit, end.limited_before[index]), end.limited[index],
          pod_class.request[limit.resource.value()],
          "limit" + above(limit.queue) + ": " + std::string(problem.resource_name(limit.resource)));
  }
  return room;
}

}  // namespace muster::answers
