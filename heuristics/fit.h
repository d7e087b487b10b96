// The fit test: every rule of docs/semantics.md that a single placement can break, one function a rule, named as the
// rule.
//
// All of them look at a ClusterState and change nothing. Rules that speak of whole gangs or of evictions are elsewhere:
// the minimum in groups.h, topology in gang_placement.h, evictions in eviction_rules.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/cluster_state.h"
#include "model/problem.h"

namespace muster {

// Upper bounds of what queues may use, by queue and resource: the limit, or what the snapshot already uses where that
// is more ("or does not grow"). kNoBound where there is none.
inline constexpr Amount kNoBound = std::numeric_limits<Amount>::max();
struct QueueBounds {
  Indexed<QueueIndex, QueueAmounts> usage;            // Limit
  Indexed<QueueIndex, QueueAmounts> non_preemptible;  // Quota of the non-preemptible
};
// Cost: O(queues). `before`: the snapshot as it is.
QueueBounds queue_bounds(const Problem& problem, const ClusterState& before);

// What is free on one node, as a state has it or as a caller has reduced it.
struct Room {
  std::span<const Amount> free;
  std::span<const DeviceUnits> devices;
};
Room room_of(const ClusterState& state, NodeIndex node);

namespace fit {

// Whether anything of the gang may be placed at all: a leaf queue that exists, not timed out, the `place` action.
bool queue_exists(const Gang& gang);
bool timeout(const Gang& gang);
// Whether the pod is one that may be newly placed: pending, not gated.
bool is_pending(const Pod& pod);

// Node: cordon, taints, selector, required affinity, models (PodClass::allowed).
bool node(const Problem& problem, const PodClass& pod_class, NodeIndex node);
// Node: required anti-affinity against what is present.
bool anti_affinity(const ClusterState& state, const PodClass& pod_class, NodeIndex node);
// Capacity of counted resources.
bool capacity(const Room& room, const PodClass& pod_class);
// Capacity of devices: enough idle ones, or enough with room for the share.
bool devices(const Room& room, const Problem& problem, const PodClass& pod_class, NodeIndex node);
// Limit, on every queue on the way to the root.
bool limit(const ClusterState& state, const QueueBounds& bounds, const Gang& gang, const QueueAmounts& added);
// Quota of the non-preemptible, on every queue on the way to the root.
bool quota(const ClusterState& state, const QueueBounds& bounds, const Gang& gang, const QueueAmounts& added);
// minResources: what is free or freed where the gang's pods could go, each gang by itself, so that what pods that
// waited hold now counts as free. Nothing is asked once one of its pods runs. Cost: O(nodes + pods), where the gang
// asks for it.
bool min_resources(const ClusterState& state, GangIndex gang);

}  // namespace fit

// Whether one pod may be put on a node beside all that is present: all rules above but those of gangs.
bool can_place(const ClusterState& state, const QueueBounds& bounds, PodIndex pod, NodeIndex node);

// The devices that a pod of the class takes: whole users the idle devices of lowest index, sharers the k devices with
// the least room that suffices (lowest index first among equals). Ascending. None where there are not enough; empty
// where the class asks for none.
std::optional<std::vector<std::int32_t>> choose_devices(const Room& room, const Problem& problem,
                                                        const PodClass& pod_class, NodeIndex node);

}  // namespace muster
