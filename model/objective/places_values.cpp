// The levels that depend on nodes: preference, fragmentation, spread.
#include <algorithm>
#include <optional>
#include <utility>

#include <boost/container/small_vector.hpp>

#include "model/base/interning.h"
#include "model/base/saturating.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_values.h"
#include "model/objective/possibilities.h"
#include "model/objective/preferred_terms.h"
#include "model/problem/exceeded.h"

namespace muster {
namespace {

constexpr std::int64_t kThousand = 1'000;
constexpr std::int64_t kPreferenceScale = 100;

// A group with a preferred level: whether all its present pods lie in one domain, and the work that this plan places.
struct PreferringGroup {
  DomainIndex domain;
  bool has_pods = false;
  bool is_together = true;
  Work placed = 0;
};

// The work of placed pods whose gang or subgroup lies within its preferred level. Pods that already run also decide
// whether it does, but only the pods that this plan places are counted: a plan gets no credit for what was there
// before.
std::int64_t preferred_topology_value(const Problem& problem, const Plan& plan, const EndState& end_state,
                                      GangIndex index) {
  const Gang& gang = problem.gangs[index];
  std::vector<PreferringGroup> groups(gang.groups.size());
  for (const PodIndex pod : gang.pods) {
    if (!end_state.is_present(pod)) continue;
    const Work placed = is_placed(plan, pod) ? problem.pods[pod].weighted_work : 0;
    for (GroupIndex at = problem.pods[pod].group; !at.is_none(); at = problem.groups[at].parent) {
      const TopologyLevelIndex level = problem.groups[at].preferred_level;
      if (level.is_none()) continue;
      PreferringGroup& group = groups[at.value() - gang.root.value()];
      const DomainIndex domain = problem.nodes[end_state.node_of[pod]].domains[level.value()];
      if (!group.has_pods) group.domain = domain;
      group.has_pods = true;
      group.is_together = group.is_together && !domain.is_none() && domain == group.domain;
      group.placed = saturating_add(group.placed, placed);
    }
  }
  Work sum = 0;
  for (const PreferringGroup& group : groups) sum = saturating_add(sum, group.is_together ? group.placed : 0);
  return saturating_multiply(sum, kPreferenceScale);
}

// Of preferred pod affinity and anti-affinity, and of topology spread with ScheduleAnyway.
std::int64_t value_of_preferred_terms(const Problem& problem, const Plan& plan, const EndState& end_state) {
  PreferenceTally tally(problem);
  for (const PodIndex pod : problem.pods.indices()) {
    if (!end_state.is_present(pod)) continue;
    const Work placed = is_placed(plan, pod) ? problem.pods[pod].weighted_work : 0;
    tally.count(problem.class_of(pod), end_state.node_of[pod], placed, true);
  }
  return tally.value();
}

bool prefers_a_level(const Problem& problem, const Gang& gang) {
  return std::ranges::any_of(gang.groups,
                             [&](GroupIndex group) { return !problem.groups[group].preferred_level.is_none(); });
}

std::int64_t idle_thousandths(DeviceUnits free, DeviceUnits capacity) {
  if (free <= 0) return 0;
  if (free <= kLargest / kThousand) return free * kThousand / capacity;
  return saturate(Wide{free} * kThousand / capacity);
}

// A device of one node that has room.
struct IdleDevice {
  DeviceUnits room = 0;
  std::int64_t thousandths = 0;
};
// The devices that have less room than a share, and the number of those that have enough.
struct ShareFit {
  DeviceUnits share = 0;
  std::int64_t too_small_thousandths = 0;
  std::int32_t large_enough = 0;
};
// Those of one node.
struct IdleDevices {
  boost::container::small_vector<IdleDevice, 16> all;
  std::int64_t thousandths = 0;  // of all
  std::int32_t whole = 0;        // nothing uses them
  std::int64_t whole_thousandths = 0;
  DeviceUnits most_room = 0;
  boost::container::small_vector<ShareFit, 16> shares;  // that were asked about

  const ShareFit& room_for(DeviceUnits share) {
    const auto known = std::ranges::find(shares, share, &ShareFit::share);
    if (known != shares.end()) return *known;
    ShareFit room{share, 0, 0};
    for (const IdleDevice& device : all) {
      room.too_small_thousandths += device.room < share ? device.thousandths : 0;
      room.large_enough += device.room >= share ? 1 : 0;
    }
    return shares.emplace_back(room);
  }
};

// Of one node that may take the pods of a class which asks for devices: the idle thousandths that such a pod could not
// use, on devices with less room than one share of it (Weng et al. 2023, section 3.2). None: all of them.
std::optional<std::int64_t> unusable_thousandths(const Problem& problem, const ExpectedClass& expected,
                                                 const NodeEnd& node, IdleDevices& idle) {
  const auto fits = [](Amount request, Amount free) { return request <= 0 || request <= free; };
  const bool is_whole = expected.gpu.kind == GpuRequestKind::kWhole;
  if ((is_whole && idle.whole < expected.gpu.devices) || !fits(expected.cpu, node.free[kCpu.value()]) ||
      !fits(expected.memory, node.free[kMemory.value()]) || !fits(expected.pods, node.free[kPods.value()]))
    return std::nullopt;
  if (expected.asks_more && !std::ranges::equal(problem.pod_classes[expected.pod_class].request, node.free, fits))
    return std::nullopt;
  if (is_whole) return idle.thousandths - idle.whole_thousandths;
  const DeviceUnits share = share_units(expected.gpu, problem.node_classes[node.node_class]);
  if (idle.most_room < share) return std::nullopt;
  const ShareFit& room = idle.room_for(share);
  return room.large_enough >= expected.gpu.devices ? std::optional(room.too_small_thousandths) : std::nullopt;
}

// Of thousandths in use on the node's devices, and of its slices.
std::int64_t gpu_thousandths_in_use(const Problem& problem, const NodeEnd& node) {
  const NodeClass& node_class = problem.node_classes[node.node_class];
  const DeviceUnits capacity = node_class.device_capacity();
  const auto fully_taken = node_class.device_count - static_cast<std::int64_t>(node.free_devices.size());
  std::int64_t sum = fully_taken * kThousand;
  for (const DeviceUnits free : node.free_devices)
    sum += idle_thousandths(capacity - std::max<DeviceUnits>(0, free), capacity);
  for (const ResourceIndex resource : problem.snapshot->resource_names.indices()) {
    const Work slice = mig_slice_work(problem.snapshot->resource_names[resource]);
    if (slice == 0) continue;
    const Amount in_use = as_reported(problem, node_class).capacity[resource.value()] - node.free[resource.value()];
    sum = saturating_add(sum, saturating_multiply(in_use, slice));
  }
  return sum;
}

std::int64_t fragmentation_of(const Problem& problem, const NodeEnd& node) {
  const DeviceUnits capacity = problem.node_classes[node.node_class].device_capacity();
  IdleDevices idle;
  for (const DeviceUnits free : node.free_devices) {
    if (free <= 0) continue;
    const std::int64_t thousandths = idle_thousandths(free, capacity);
    idle.all.push_back({free, thousandths});
    idle.thousandths += thousandths;
    idle.most_room = std::max(idle.most_room, free);
    if (free < capacity) continue;
    ++idle.whole;
    idle.whole_thousandths += thousandths;
  }
  const ObjectiveTerms& objective = problem.objective;
  const ExpectedThere& there = objective.expected_there[objective.expected_there_of[node.node_class]];
  std::int64_t value = 0, weight_of_none = there.weight_of_others;  // of the classes that can use none of them
  for (const std::uint32_t at : there.classes) {
    const ExpectedClass& expected = objective.expected_workload[at];
    if (const auto unusable = unusable_thousandths(problem, expected, node, idle)) {
      value = saturating_add(value, saturating_multiply(expected.weight_millionths, *unusable));
    } else {
      weight_of_none = saturating_add(weight_of_none, expected.weight_millionths);
    }
  }
  return saturating_add(value, saturating_multiply(weight_of_none, idle.thousandths));
}

std::int64_t spread_of(const Problem& problem, const NodeEnd& node) {
  const bool has_gpus = problem.total[kQueueGpu] > 0;
  const std::vector<Amount>& reported = as_reported(problem, problem.node_classes[node.node_class]).capacity;
  const Amount milli_cores = reported[kCpu.value()] - node.free[kCpu.value()];
  const std::int64_t in_use = has_gpus ? gpu_thousandths_in_use(problem, node) : milli_cores;
  return saturating_multiply(in_use, in_use);
}

}  // namespace

std::int64_t preference_of(const Problem& problem, PodIndex index, NodeIndex node) {
  const Pod& pod = problem.pods[index];
  const PodClass& pod_class = problem.pod_classes[pod.pod_class];
  const std::size_t node_class = problem.nodes[node].node_class.value();
  const std::int64_t nominated = pod.nominated_node == node ? kPreferenceScale : 0;
  const std::int64_t points = nominated + pod_class.preferences.preferred_weight[node_class] -
                              kPreferenceScale * pod_class.preferences.untolerated_soft_taints[node_class];
  return saturating_multiply(pod.weighted_work, points);
}

std::int64_t preference_value(const Problem& problem, const Plan& plan, const EndState& end_state) {
  std::int64_t sum = 0;
  std::vector<GangIndex> gangs;
  GangIndex last;
  for (const Placement& placement : plan.placements) {
    sum = saturating_add(sum, preference_of(problem, placement.pod, placement.node));
    const GangIndex gang = problem.pods[placement.pod].gang;
    if (gang != std::exchange(last, gang) && prefers_a_level(problem, problem.gangs[gang])) gangs.push_back(gang);
  }
  std::ranges::sort(gangs);
  gangs.erase(std::ranges::unique(gangs).begin(), gangs.end());
  for (const GangIndex gang : gangs)
    sum = saturating_add(sum, preferred_topology_value(problem, plan, end_state, gang));
  return saturating_add(
      sum, problem.inter_pod.preferred_terms.empty() ? 0 : value_of_preferred_terms(problem, plan, end_state));
}

std::int64_t fragmentation_value(const Problem& problem, const std::function<NodeEnd(NodeIndex)>& end_of) {
  SequenceTable states;
  std::vector<std::int64_t> of_state;  // of one node in that state; nodes with equal end states are counted once
  std::vector<std::uint64_t> signature;
  std::int64_t sum = 0;
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeEnd end = end_of(node);
    // If no device is idle, none idles in vain; this holds for most nodes of a busy cluster.
    if (std::ranges::all_of(end.free_devices, [](DeviceUnits free) { return free <= 0; })) continue;
    signature.assign({end.node_class.value()});
    for (const Amount amount : end.free) signature.push_back(static_cast<std::uint64_t>(amount));
    const auto first_device = static_cast<std::ptrdiff_t>(signature.size());
    for (const DeviceUnits free : end.free_devices) signature.push_back(static_cast<std::uint64_t>(free));
    std::sort(signature.begin() + first_device, signature.end());
    const auto [state, is_new] = states.intern(signature);
    if (is_new) of_state.push_back(fragmentation_of(problem, end));
    sum = saturating_add(sum, of_state[state]);
  }
  return sum;
}

std::int64_t spread_value(const Problem& problem, const std::function<NodeEnd(NodeIndex)>& end_of) {
  std::int64_t sum = 0;
  for (const NodeIndex node : problem.nodes.indices()) sum = saturating_add(sum, spread_of(problem, end_of(node)));
  return sum;
}

std::int64_t last_level_of(const Problem& problem, const NodeEnd& node) {
  return problem.snapshot->policy.placement == PlacementPolicy::kSpread ? spread_of(problem, node)
                                                                        : fragmentation_of(problem, node);
}

}  // namespace muster
