// The fit test: every rule of docs/semantics.md that a single placement can break, one function a rule, named as the
// rule.
//
// All of them read a ClusterState and change nothing. Rules about whole gangs or evictions are elsewhere: the minimum
// in groups.h, topology in gang_placement.h, evictions in eviction_rules.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster {

// Upper bounds of the usage of queues, by queue and resource: the limit, or what the snapshot already uses if that is
// more ("or does not grow"). kNoBound if there is none.
inline constexpr Amount kNoBound = std::numeric_limits<Amount>::max();
struct QueueBounds {
  Indexed<QueueIndex, QueueAmounts> usage;            // Limit
  Indexed<OtherLimitIndex, Amount> limited_usage;     // Limit, of other resources
  Indexed<QueueIndex, QueueAmounts> non_preemptible;  // Quota of the non-preemptible
};
// Cost: O(queues). `before`: the snapshot as it is.
QueueBounds queue_bounds(const Problem& problem, const ClusterState& before);

// The free capacity of one node, from a state or as a caller has reduced it.
struct Room {
  std::span<const Amount> free;
  std::span<const DeviceUnits> devices;
};
inline Room room_of(const ClusterState& state, NodeIndex node) { return {state.free(node), state.free_devices(node)}; }

namespace fit {

// Whether any pod of the gang may be placed at all: a leaf queue that exists, not timed out, not kept back, the
// `place` action.
inline bool queue_exists(const Gang& gang) { return !gang.queue.is_none() && gang.queue_is_leaf; }
inline bool may_start(const Gang& gang) { return gang.times.may_start(); }
// Whether the pod is one that may be newly placed: pending, not gated.
inline bool is_pending(const Pod& pod) { return pod.status == PodStatus::kPending; }

// Node: cordon, taints, selector, required affinity, models (PodClass::allowed).
inline bool node(const Problem& problem, const PodClass& pod_class, NodeIndex node) {
  return pod_class.allowed[problem.nodes[node].node_class.value()];
}
// Node: required anti-affinity against what is present.
bool anti_affinity(const ClusterState& state, const PodClass& pod_class, NodeIndex node);
// Affinity: each term's domain holds a pod that matches all terms; or no domain does, and the pod would match itself.
inline bool affinity(const InterPodCounts& present, const Problem& problem, const PodClass& pod_class, NodeIndex node) {
  return pod_class.affinity.is_none() || meets_affinity(present, problem, pod_class, node);
}
// Spread: the node is eligible, and the domain would have at most maxSkew pods more than the least of all domains.
inline bool spread(const InterPodCounts& present, const Problem& problem, const PodClass& pod_class, NodeIndex node) {
  return pod_class.spread_owned.empty() || meets_spread(present, problem, pod_class, node);
}
// The two rules that depend on which pods are bound first, against what is present.
inline bool inter_pod(const ClusterState& state, const PodClass& pod_class, NodeIndex node) {
  return affinity(state.inter_pod(), state.problem(), pod_class, node) &&
         spread(state.inter_pod(), state.problem(), pod_class, node);
}
// Capacity of counted resources.
inline bool capacity(const Room& room, const PodClass& pod_class) {
  for (std::size_t r = 0; r < room.free.size(); ++r) {
    if (pod_class.request[r] > 0 && pod_class.request[r] > room.free[r]) return false;
  }
  return true;
}
// Capacity of devices: enough idle ones, or enough with room for the share.
inline bool asks_unknown_memory(const PodClass& pod_class, const NodeClass& node_class) {
  return pod_class.gpu.kind == GpuRequestKind::kMemory && node_class.device_memory_mib == 0;
}
inline bool devices(const Room& room, const Problem& problem, const PodClass& pod_class, NodeIndex node) {
  const std::int32_t wanted = pod_class.gpu.devices;
  if (wanted == 0) return true;
  const NodeClass& node_class = problem.class_of(node);
  if (wanted > node_class.device_count || asks_unknown_memory(pod_class, node_class)) return false;
  const DeviceUnits units = share_units(pod_class, node_class);
  std::int32_t found = 0;
  for (const DeviceUnits free : room.devices) found += free >= units ? 1 : 0;
  return found >= wanted;
}
// Capacity of these very devices of the node, one share of the class on each.
bool devices_at(const Room& room, const Problem& problem, const PodClass& pod_class, NodeIndex node,
                const DeviceList& devices);
// Limit, on every queue on the way to the root.
bool limit(const ClusterState& state, const QueueBounds& bounds, const Gang& gang, const QueueAmounts& added);
// The same of the resources other than gpu, cpu and memory. The bound that one more pod of the class exceeds; none: it
// exceeds none.
OtherLimitIndex exceeded_limit(const ClusterState& state, const QueueBounds& bounds, const Gang& gang,
                               const PodClass& pod_class);
// Quota of the non-preemptible, on every queue on the way to the root.
bool quota(const ClusterState& state, const QueueBounds& bounds, const Gang& gang, const QueueAmounts& added);
// minResources: what is free or freed on the nodes that the gang's pods could use, each gang by itself; what pods hold
// that waited before counts as free. Not checked once one of its pods runs. Cost: O(nodes + pods) if the gang sets it.
bool min_resources(const ClusterState& state, GangIndex gang);

}  // namespace fit

// fit::min_resources for many gangs and one state: what is free or freed is summed up once for all gangs that may use
// the same nodes, until a pod that runs in the snapshot comes or leaves. Cost: O(pods of the gang x node classes), or
// once as there.
class MinResources {
 public:
  bool hold(const ClusterState& state, GangIndex gang);

 private:
  struct Sums {
    std::vector<Amount> free;  // by ResourceIndex
    MicroGpu gpu = 0;
  };
  static Sums sums_of(const ClusterState& state, const std::vector<bool>& usable);

  std::uint64_t version_ = 0;                // of the state, see StateChanges::standing_version
  std::map<std::vector<bool>, Sums> known_;  // by the node classes that may be used
};

// Limit and Quota of the non-preemptible, of a gang whose queue exists: one more pod of the class, on a node.
bool has_queue_room(const ClusterState& state, const QueueBounds& bounds, const Gang& gang, const PodClass& pod_class,
                    NodeIndex node);
// Whether the pod's queue exists and may use what the pod takes on that node.
bool fits_queue(const ClusterState& state, const QueueBounds& bounds, PodIndex pod, NodeIndex node);

// Whether one pod may be put on a node next to all present pods: all rules above except those of gangs.
bool can_place(const ClusterState& state, const QueueBounds& bounds, PodIndex pod, NodeIndex node);
// The same without affinity and spread: another order of binding may admit it.
bool can_place_in_some_order(const ClusterState& state, const QueueBounds& bounds, PodIndex pod, NodeIndex node);

// Quick tests against what is free on all nodes together: pods that do not even fit there fit nowhere.
//
// Whether that many pods of the class find as many devices as they ask for in the total of what is free on all nodes.
// False only if they cannot all be placed. Requires pods >= 0. Cost: O(1).
bool devices_fit_total(const ClusterState& state, const PodClass& pod_class, std::int64_t pods);
// The same for all resources of one pod. Cost: O(resources).
bool fits_total(const ClusterState& state, const PodClass& pod_class);

// The devices that a pod of the class takes: whole users the idle devices of lowest index, sharers the k devices with
// the least room that suffices (lowest index first among equals). Ascending. None if there are not enough; empty if the
// class asks for none.
std::optional<DeviceList> choose_devices(const Room& room, const Problem& problem, const PodClass& pod_class,
                                         NodeIndex node);

}  // namespace muster
