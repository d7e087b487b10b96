#include "test/brute_force/instances/pod_kinds.h"

#include <algorithm>

#include "model/problem/exceeded.h"

namespace muster::brute_force {
namespace {

bool runs(const Problem& problem, PodIndex pod) { return problem.pods[pod].status == PodStatus::kRunning; }

// Millionths of a device that are free or being freed, each device to the nearest.
MicroGpu free_gpu(const Problem& problem, NodeIndex node) {
  const NodeClass& reported = as_reported(problem, problem.class_of(node));
  std::vector<DeviceUnits> free(static_cast<std::size_t>(reported.device_count), problem.device_capacity(node));
  free.resize(static_cast<std::size_t>(problem.class_of(node).device_count), 0);
  for (const PodIndex pod : problem.pods.indices()) {
    if (!runs(problem, pod) || problem.pods[pod].node != node) continue;
    for (const std::int32_t device : problem.devices_of(pod)) {
      free[static_cast<std::size_t>(device)] -= share_units(problem.class_of(pod), problem.class_of(node));
    }
  }
  MicroGpu sum = 0;
  const DeviceUnits unit = problem.device_capacity(node) / 1'000'000;
  for (const DeviceUnits units : free) sum += (2 * std::max<DeviceUnits>(0, units) + unit) / (2 * unit);
  return sum;
}

Amount free_amount(const Problem& problem, NodeIndex node, std::size_t resource) {
  Amount free = as_reported(problem, problem.class_of(node)).capacity[resource];
  for (const PodIndex pod : problem.pods.indices()) {
    if (runs(problem, pod) && problem.pods[pod].node == node) free -= problem.class_of(pod).request[resource];
  }
  return std::max<Amount>(free, 0);
}

bool min_resources_are_covered(const Problem& problem, const Gang& gang) {
  const auto has_started = [&](PodIndex pod) {
    return runs(problem, pod) || problem.pods[pod].status == PodStatus::kSucceeded;
  };
  if (std::ranges::any_of(gang.pods, has_started)) return true;
  MicroGpu gpu = 0;
  std::vector<Amount> amounts(problem.resource_count, 0);
  for (const NodeIndex node : problem.nodes.indices()) {
    const bool is_usable = std::ranges::any_of(gang.pods, [&](PodIndex pod) {
      const PodStatus status = problem.pods[pod].status;
      return status != PodStatus::kFailed && status != PodStatus::kReleasing &&
             problem.class_of(pod).allowed[problem.nodes[node].node_class.value()];
    });
    if (!is_usable) continue;
    gpu += free_gpu(problem, node);
    for (std::size_t r = 0; r < amounts.size(); ++r) amounts[r] += free_amount(problem, node, r);
  }
  if (gpu < gang.min_resources.gpu) return false;
  for (std::size_t r = 0; r < gang.min_resources.amounts.size(); ++r) {
    if (amounts[r] < gang.min_resources.amounts[r]) return false;
  }
  return true;
}

std::int64_t members(const Problem& problem, const std::vector<PodKind>& kinds, Counts counts, GroupIndex leaf) {
  std::int64_t count = std::ranges::count_if(problem.groups[leaf].pods, [&](PodIndex pod) {
    return runs(problem, pod) || problem.pods[pod].status == PodStatus::kSucceeded;
  });
  for (std::size_t k = 0; k < kinds.size(); ++k) count += kinds[k].leaf == leaf ? counts[k] : 0;
  return count;
}

bool is_met(const Problem& problem, const std::vector<PodKind>& kinds, Counts counts, GroupIndex index) {
  const Group& group = problem.groups[index];
  if (group.is_leaf()) return members(problem, kinds, counts, index) >= group.minimum;
  return std::ranges::count_if(
             group.children, [&](GroupIndex child) { return is_met(problem, kinds, counts, child); }) >= group.minimum;
}

}  // namespace

std::vector<PodKind> placeable_kinds(const Problem& problem) {
  std::vector<PodKind> kinds;
  for (const Gang& gang : problem.gangs) {
    if (!problem.snapshot->policy.actions.place || !gang.times.may_start() || gang.queue.is_none() ||
        !gang.queue_is_leaf)
      continue;
    if (!min_resources_are_covered(problem, gang)) continue;
    for (const PodIndex index : gang.pods) {
      const Pod& pod = problem.pods[index];
      if (pod.status != PodStatus::kPending) continue;
      const auto alike = [&](const PodKind& kind) {
        return kind.pod_class == pod.pod_class && kind.leaf == pod.group && kind.nominated_node == pod.nominated_node;
      };
      auto at = std::ranges::find_if(kinds, alike);
      if (at == kinds.end()) at = kinds.insert(at, {pod.pod_class, pod.gang, pod.group, pod.nominated_node, {}});
      at->pods.push_back(index);
    }
  }
  return kinds;
}

bool gangs_are_whole(const Problem& problem, const std::vector<PodKind>& kinds, Counts counts) {
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (counts[k] > 0 && !is_met(problem, kinds, counts, problem.gangs[kinds[k].gang].root)) return false;
  }
  return true;
}

void add_usage(const Problem& problem, GangIndex gang, const QueueAmounts& amounts, QueueUsage& usage) {
  if (problem.gangs[gang].queue.is_none()) return;
  for (QueueIndex queue = problem.gangs[gang].queue; !queue.is_none(); queue = problem.queues[queue].parent) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      usage.all[queue][i] += amounts[i];
      if (!problem.gangs[gang].preemptible) usage.fixed[queue][i] += amounts[i];
    }
  }
}

void add_limited(const Problem& problem, GangIndex gang, const PodClass& pod_class, std::int64_t pods,
                 QueueUsage& usage) {
  for (const OtherLimitIndex index : usage.limited.indices()) {
    const OtherLimit& limit = problem.lists.other_limits[index];
    for (QueueIndex queue = problem.gangs[gang].queue; !queue.is_none(); queue = problem.queues[queue].parent) {
      if (queue == limit.queue) usage.limited[index] += pods * pod_class.request[limit.resource.value()];
    }
  }
}

QueueUsage running_usage(const Problem& problem) {
  QueueUsage usage;
  usage.all.assign(problem.queues.size(), QueueAmounts{});
  usage.fixed = usage.all;
  usage.limited.assign(problem.lists.other_limits.size(), 0);
  for (const PodIndex pod : problem.pods.indices()) {
    if (!runs(problem, pod)) continue;
    add_usage(problem, problem.pods[pod].gang,
              queue_usage(problem.class_of(pod), problem.class_of(problem.pods[pod].node)), usage);
    add_limited(problem, problem.pods[pod].gang, problem.class_of(pod), 1, usage);
  }
  return usage;
}

bool queues_allow(const Problem& problem, const QueueUsage& before, const QueueUsage& after) {
  const bool quota_binds = problem.snapshot->policy.non_preemptible_within_quota;
  for (const QueueIndex queue : problem.queues.indices()) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      const Amount limit = problem.queues[queue].limit[i], quota = problem.queues[queue].quota[i];
      if (limit != kUnlimited && after.all[queue][i] > limit && after.all[queue][i] > before.all[queue][i])
        return false;
      const bool grows = after.fixed[queue][i] > before.fixed[queue][i];
      if (quota_binds && quota != kUnlimited && after.fixed[queue][i] > quota && grows) return false;
    }
  }
  return std::ranges::all_of(after.limited.indices(), [&](OtherLimitIndex limit) {
    return after.limited[limit] <= problem.lists.other_limits[limit].limit ||
           after.limited[limit] <= before.limited[limit];
  });
}

}  // namespace muster::brute_force
