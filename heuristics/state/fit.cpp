#include "heuristics/state/fit.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/snapshot/snapshot.h"

namespace muster {

namespace {

QueueAmounts larger_of(const QueueAmounts& bound, const QueueAmounts& used) {
  QueueAmounts result{};
  for (std::size_t r = 0; r < kQueueResources; ++r)
    result[r] = bound[r] == kUnlimited ? kNoBound : std::max(bound[r], used[r]);
  return result;
}

bool within(const QueueAmounts& used, const QueueAmounts& added, const QueueAmounts& bound) {
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (added[r] > 0 && bound[r] != kNoBound && used[r] + added[r] > bound[r]) return false;
  }
  return true;
}

}  // namespace

QueueBounds queue_bounds(const Problem& problem, const ClusterState& before) {
  QueueBounds bounds;
  const bool quota_binds = problem.snapshot->policy.non_preemptible_within_quota;
  constexpr QueueAmounts kFree{kUnlimited, kUnlimited, kUnlimited};
  for (const QueueIndex queue : problem.queues.indices()) {
    const Queue& q = problem.queues[queue];
    bounds.usage.push_back(larger_of(q.limit, before.queues().usage()[queue]));
    bounds.non_preemptible.push_back(
        larger_of(quota_binds ? q.quota : kFree, before.queues().non_preemptible_usage()[queue]));
  }
  for (const OtherLimitIndex limit : problem.lists.other_limits.indices())
    bounds.limited_usage.push_back(
        std::max(problem.lists.other_limits[limit].limit, before.queues().limited_usage()[limit]));
  return bounds;
}

namespace fit {

bool anti_affinity(const ClusterState& state, const PodClass& pod_class, NodeIndex node) {
  const Problem& problem = state.problem();
  for (const AntiAffinityIndex term : pod_class.anti_affinity_owned) {
    const DomainIndex domain = problem.inter_pod.anti_affinities[term].domain_of[node];
    if (!domain.is_none() && state.anti_affinity().matched(term, domain) > 0) return false;
  }
  for (const AntiAffinityIndex term : pod_class.anti_affinity_matched) {
    const DomainIndex domain = problem.inter_pod.anti_affinities[term].domain_of[node];
    if (!domain.is_none() && state.anti_affinity().owners(term, domain) > 0) return false;
  }
  return true;
}

bool limit(const ClusterState& state, const QueueBounds& bounds, const Gang& gang, const QueueAmounts& added) {
  return std::ranges::all_of(state.problem().queues[gang.queue].ancestors, [&](QueueIndex queue) {
    return within(state.queues().usage()[queue], added, bounds.usage[queue]);
  });
}

OtherLimitIndex exceeded_limit(const ClusterState& state, const QueueBounds& bounds, const Gang& gang,
                               const PodClass& pod_class) {
  const Problem& problem = state.problem();
  for (const OtherLimitIndex limit : problem.queues[gang.queue].other_limits) {
    const Amount added = pod_class.request[problem.lists.other_limits[limit].resource.value()];
    if (added > 0 && state.queues().limited_usage()[limit] + added > bounds.limited_usage[limit]) return limit;
  }
  return OtherLimitIndex::none();
}

bool quota(const ClusterState& state, const QueueBounds& bounds, const Gang& gang, const QueueAmounts& added) {
  if (gang.preemptible) return true;
  return std::ranges::all_of(state.problem().queues[gang.queue].ancestors, [&](QueueIndex queue) {
    return within(state.queues().non_preemptible_usage()[queue], added, bounds.non_preemptible[queue]);
  });
}

bool min_resources(const ClusterState& state, GangIndex gang) { return MinResources().hold(state, gang); }

bool devices_at(const Room& room, const Problem& problem, const PodClass& pod_class, NodeIndex node,
                const DeviceList& devices) {
  if (devices.empty()) return true;
  const DeviceUnits units = share_units(pod_class, problem.class_of(node));
  return std::ranges::all_of(devices, [&](std::int32_t device) {
    const auto at = static_cast<std::size_t>(device);
    return at < room.devices.size() && room.devices[at] >= units;
  });
}

}  // namespace fit

bool MinResources::hold(const ClusterState& state, GangIndex gang_index) {
  const Problem& problem = state.problem();
  const Gang& gang = problem.gangs[gang_index];
  if (!gang.asks_for_min_resources()) return true;
  std::vector<bool> usable(problem.node_classes.size(), false);
  PodClassIndex seen;
  for (const PodIndex pod : gang.pods) {
    const PodStatus status = problem.pods[pod].status;
    if (status == PodStatus::kRunning || status == PodStatus::kSucceeded) return true;  // it has started
    if (status == PodStatus::kFailed || status == PodStatus::kReleasing) continue;
    if (std::exchange(seen, problem.pods[pod].pod_class) == problem.pods[pod].pod_class) continue;
    const PodClass& pod_class = problem.class_of(pod);
    for (std::size_t c = 0; c < usable.size(); ++c) usable[c] = usable[c] || pod_class.allowed[c];
  }
  if (std::exchange(version_, state.changes().standing_version()) != state.changes().standing_version()) known_.clear();
  auto known = known_.find(usable);
  if (known == known_.end()) known = known_.emplace(usable, sums_of(state, usable)).first;
  for (std::size_t r = 0; r < gang.min_resources.amounts.size(); ++r) {
    if (gang.min_resources.amounts[r] > known->second.free[r]) return false;
  }
  return gang.min_resources.gpu <= known->second.gpu;
}

MinResources::Sums MinResources::sums_of(const ClusterState& state, const std::vector<bool>& usable) {
  const Problem& problem = state.problem();
  Sums sums{std::vector<Amount>(problem.resource_count, 0), 0};
  const auto is_usable = [&](NodeIndex node) { return usable[problem.nodes[node].node_class.value()]; };
  for (const NodeIndex node : problem.nodes.indices()) {
    if (!is_usable(node)) continue;
    for (std::size_t r = 0; r < problem.resource_count; ++r) sums.free[r] += std::max<Amount>(0, state.free(node)[r]);
    const DeviceUnits per_micro = problem.device_capacity(node) / 1'000'000;
    for (const DeviceUnits units : state.free_devices(node)) sums.gpu += std::max<DeviceUnits>(0, units) / per_micro;
  }
  // Each gang by itself: what newly placed pods of other gangs hold counts as free.
  for (const PodIndex pod : problem.pods.indices()) {
    if (!fit::is_pending(problem.pods[pod]) || !state.is_present(pod) || !is_usable(state.node_of(pod))) continue;
    const PodClass& pod_class = problem.class_of(pod);
    for (std::size_t r = 0; r < problem.resource_count; ++r) sums.free[r] += pod_class.request[r];
    const NodeIndex node = state.node_of(pod);
    sums.gpu += static_cast<MicroGpu>(pod_class.gpu.devices) * share_units(pod_class, problem.class_of(node)) /
                (problem.device_capacity(node) / 1'000'000);
  }
  return sums;
}

bool has_queue_room(const ClusterState& state, const QueueBounds& bounds, const Gang& gang, const PodClass& pod_class,
                    NodeIndex node) {
  const QueueAmounts added = queue_usage(pod_class, state.problem().class_of(node));
  return fit::limit(state, bounds, gang, added) && fit::quota(state, bounds, gang, added) &&
         fit::exceeded_limit(state, bounds, gang, pod_class).is_none();
}

bool fits_queue(const ClusterState& state, const QueueBounds& bounds, PodIndex pod, NodeIndex node) {
  const Problem& problem = state.problem();
  const Gang& gang = problem.gangs[problem.pods[pod].gang];
  return fit::queue_exists(gang) && has_queue_room(state, bounds, gang, problem.class_of(pod), node);
}

namespace {

bool fits_node(const ClusterState& state, const PodClass& pod_class, NodeIndex node) {
  const Problem& problem = state.problem();
  const Room room = room_of(state, node);
  return fit::node(problem, pod_class, node) && fit::capacity(room, pod_class) &&
         fit::devices(room, problem, pod_class, node) && fit::anti_affinity(state, pod_class, node);
}

}  // namespace

bool can_place(const ClusterState& state, const QueueBounds& bounds, PodIndex pod, NodeIndex node) {
  const PodClass& pod_class = state.problem().class_of(pod);
  return fits_node(state, pod_class, node) && fit::inter_pod(state, pod_class, node) &&
         fits_queue(state, bounds, pod, node);
}

bool can_place_in_some_order(const ClusterState& state, const QueueBounds& bounds, PodIndex pod, NodeIndex node) {
  return fits_node(state, state.problem().class_of(pod), node) && fits_queue(state, bounds, pod, node);
}

namespace {

using Rank = std::pair<DeviceUnits, std::size_t>;  // least room first, then the lowest index

// As many devices as `chosen` holds: of those that suffice, the ones with the least free capacity. Few are selected one
// by one, without an allocation. Cost: O(devices), of few ones for each.
bool choose_tightest_of_many(std::span<const DeviceUnits> rooms, DeviceUnits units, std::span<std::int32_t> chosen) {
  std::vector<Rank> fitting;
  for (std::size_t d = 0; d < rooms.size(); ++d) {
    if (rooms[d] >= units) fitting.emplace_back(rooms[d], d);
  }
  if (fitting.size() < chosen.size()) return false;
  const auto end = fitting.begin() + std::ssize(chosen);
  std::ranges::nth_element(fitting, end);
  std::transform(fitting.begin(), end, chosen.begin(),
                 [](const Rank& rank) { return static_cast<std::int32_t>(rank.second); });
  return true;
}

bool choose_tightest(std::span<const DeviceUnits> rooms, DeviceUnits units, std::span<std::int32_t> chosen) {
  Rank last{std::numeric_limits<DeviceUnits>::min(), 0};
  for (std::int32_t& device : chosen) {
    Rank best{std::numeric_limits<DeviceUnits>::max(), rooms.size()};
    for (std::size_t d = 0; d < rooms.size(); ++d) {
      const Rank rank{rooms[d], d};
      if (rank.first >= units && rank > last && rank < best) best = rank;
    }
    if (best.second == rooms.size()) return false;
    last = best;
    device = static_cast<std::int32_t>(best.second);
  }
  return true;
}

}  // namespace

std::optional<DeviceList> choose_devices(const Room& room, const Problem& problem, const PodClass& pod_class,
                                         NodeIndex node) {
  const auto wanted = static_cast<std::size_t>(pod_class.gpu.devices);
  if (wanted == 0) return DeviceList{};
  const NodeClass& node_class = problem.class_of(node);
  if (wanted > room.devices.size() || fit::asks_unknown_memory(pod_class, node_class)) return std::nullopt;
  const DeviceUnits units = share_units(pod_class, node_class);
  std::array<std::int32_t, 8> few;
  std::vector<std::int32_t> many;
  if (wanted > few.size()) many.resize(wanted);
  const std::span<std::int32_t> chosen(many.empty() ? few.data() : many.data(), wanted);
  if (units == problem.device_capacity(node)) {  // all that suffice are idle
    std::size_t found = 0;
    for (std::size_t d = 0; d < room.devices.size() && found < wanted; ++d) {
      if (room.devices[d] >= units) chosen[found++] = static_cast<std::int32_t>(d);
    }
    return found < wanted ? std::nullopt : std::optional<DeviceList>(chosen);
  }
  const auto choose = many.empty() ? choose_tightest : choose_tightest_of_many;
  if (!choose(room.devices, units, chosen)) return std::nullopt;
  std::ranges::sort(chosen);
  return DeviceList(chosen);
}

namespace {

// The minimum, in millionths of a device, that a pod of the class takes, wherever it is.
MicroGpu least_devices(const PodClass& pod_class) {
  if (pod_class.gpu.kind == GpuRequestKind::kNone || pod_class.gpu.kind == GpuRequestKind::kMemory) return 0;
  return pod_class.gpu.devices * (pod_class.gpu.kind == GpuRequestKind::kFraction ? pod_class.gpu.share : 1'000'000);
}

}  // namespace

bool devices_fit_total(const ClusterState& state, const PodClass& pod_class, std::int64_t pods) {
  MUSTER_REQUIRE(pods >= 0);
  return saturating_multiply(least_devices(pod_class), pods) <= state.nodes().free_devices_total();
}

bool fits_total(const ClusterState& state, const PodClass& pod_class) {
  for (std::size_t r = 0; r < state.problem().resource_count; ++r) {
    if (pod_class.request[r] > 0 && state.nodes().free_total()[r] < pod_class.request[r]) return false;
  }
  return devices_fit_total(state, pod_class, 1);
}

}  // namespace muster
