// A gang's minimum, recursively through its subgroups, in a given state (rule Gang, and Whole gangs); and whether pods
// may return to where they were.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/problem/problem.h"

namespace muster {

// Whether the group's minimum is present (or succeeded). Cost: O(groups below it).
bool is_satisfied(const ClusterState& state, GroupIndex group);
bool is_satisfied(const ClusterState& state, GangIndex gang);
// The same with the caller's counts in place of the state's: `members[g]` of each leaf group.
bool is_satisfied(const Problem& problem, const Indexed<GroupIndex, std::int32_t>& members, GroupIndex group);
// Whether a pod of the gang is present. Cost: O(groups).
bool is_anything_present(const ClusterState& state, GangIndex gang);
// How many pods of the group are present (succeeded ones count).
std::int32_t members_below(const ClusterState& state, GroupIndex group);
// Calls visit(pod) for every pod of the group and the groups below it.
template <class Visit>
void for_each_pod(const Problem& problem, GroupIndex group, const Visit& visit) {
  for (const PodIndex pod : problem.groups[group].pods) visit(pod);
  for (const GroupIndex child : problem.groups[group].children) for_each_pod(problem, child, visit);
}

// Rule Exceeded: whether a pod still fits where the snapshot runs it.
//
// Whether a pod that is not present fits on the node and devices where the snapshot runs it. On a node whose pods
// exceed what it reports, it fits if no placed pod takes any of the resources and devices that it needs. Cost:
// O(resources + devices), on such a node O(pods on the node x resources), too.
bool has_room_at_home(const ClusterState& state, PodIndex pod);

// Puts the pod on the place where the snapshot runs it, or on the given place where it was before. False: some rule
// forbids it, and nothing has changed. Requires that the pod is not present. Cost: that of the fit test; if an
// anti-affinity is in the way O(pods), and O(pods of the group) if its group requires a topology level.
bool put_back(ClusterState& state, const QueueBounds& bounds, PodIndex pod);
bool put_back(ClusterState& state, const QueueBounds& bounds, PodIndex pod, const Place& place);

}  // namespace muster
