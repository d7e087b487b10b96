#include "heuristics/state/groups.h"

#include <algorithm>
#include <vector>

#include "model/base/require.h"
#include "model/problem/exceeded.h"

namespace muster {

namespace {

template <class Members>
bool satisfied(const Problem& problem, GroupIndex group_index, const Members& members) {
  const Group& group = problem.groups[group_index];
  if (group.is_leaf()) return members(group_index) >= group.minimum;
  std::int32_t count = 0;
  for (const GroupIndex child : group.children) count += satisfied(problem, child, members) ? 1 : 0;
  return count >= group.minimum;
}

}  // namespace

bool is_satisfied(const ClusterState& state, GroupIndex group) {
  return satisfied(state.problem(), group, [&](GroupIndex leaf) { return state.members(leaf); });
}

bool is_satisfied(const ClusterState& state, GangIndex gang) {
  return is_satisfied(state, state.problem().gangs[gang].root);
}

bool is_satisfied(const Problem& problem, const Indexed<GroupIndex, std::int32_t>& members, GroupIndex group) {
  return satisfied(problem, group, [&](GroupIndex leaf) { return members[leaf]; });
}

bool is_anything_present(const ClusterState& state, GangIndex gang) {
  for (const PodIndex pod : state.problem().gangs[gang].pods) {
    if (state.is_present(pod)) return true;
  }
  return false;
}

std::int32_t members_below(const ClusterState& state, GroupIndex group) {
  const Group& g = state.problem().groups[group];
  std::int32_t count = g.is_leaf() ? state.members(group) : 0;
  for (const GroupIndex child : g.children) count += members_below(state, child);
  return count;
}

bool has_room_at_home(const ClusterState& state, PodIndex pod) {
  const Problem& problem = state.problem();
  const PodClass& pod_class = problem.class_of(pod);
  const Place home = snapshot_place(problem, pod);
  const Room room = room_of(state, home.node);
  if (!is_exceeded(problem.class_of(home.node)) && problem.host_port_count() == 0)
    return fit::capacity(room, pod_class) && fit::devices_at(room, problem, pod_class, home.node, home.devices);
  const auto is_left_alone = [&](const auto& takes) {
    return std::ranges::none_of(state.pods_on(home.node), [&](PodIndex other) {
      const bool is_placed = problem.pods[other].status != PodStatus::kRunning || !is_home(state, other);
      return is_placed && takes(other);
    });
  };
  for (std::size_t r = 0; r < room.free.size(); ++r) {
    if (pod_class.request[r] == 0 || pod_class.request[r] <= room.free[r]) continue;
    if (!is_left_alone([&](PodIndex other) { return problem.class_of(other).request[r] > 0; })) return false;
  }
  const DeviceUnits units = home.devices.empty() ? 0 : share_units(pod_class, problem.class_of(home.node));
  return std::ranges::all_of(home.devices, [&](std::int32_t device) {
    if (units <= room.devices[static_cast<std::size_t>(device)]) return true;
    return is_left_alone([&](PodIndex other) {
      const DeviceList devices = state.place_of(other).devices;
      return std::ranges::find(devices, device) != devices.end();
    });
  });
}

namespace {

// Whether an anti-affinity with a placed pod keeps the pod from coming back to its node. Pods that ran next to each
// other, whatever their terms, may continue.
bool is_kept_out(const ClusterState& state, PodIndex pod, NodeIndex node) {
  const Problem& problem = state.problem();
  if (problem.pods[pod].node != node) return true;
  const auto forbids = [&](const std::vector<AntiAffinityIndex>& mine, const std::vector<AntiAffinityIndex>& theirs,
                           NodeIndex there) {
    return std::ranges::any_of(mine, [&](AntiAffinityIndex term) {
      const auto& domain_of = problem.inter_pod.anti_affinities[term].domain_of;
      return std::ranges::find(theirs, term) != theirs.end() && !domain_of[node].is_none() &&
             domain_of[node] == domain_of[there];
    });
  };
  const PodClass& pod_class = problem.class_of(pod);
  for (const PodIndex other : problem.pods.indices()) {
    if (other == pod || !state.is_present(other) || (!fit::is_pending(problem.pods[other]) && is_home(state, other)))
      continue;
    const PodClass& other_class = problem.class_of(other);
    const NodeIndex there = state.node_of(other);
    if (forbids(pod_class.anti_affinity_owned, other_class.anti_affinity_matched, there) ||
        forbids(pod_class.anti_affinity_matched, other_class.anti_affinity_owned, there))
      return true;
  }
  return false;
}

// Whether the pod, at the place, shares one domain with the placed pods of its groups that require a level; with all
// present pods of them if it is placed itself. A pod counts as placed also if it is on other devices of its node.
bool keeps_topology(const ClusterState& state, PodIndex pod, const Place& place) {
  const Problem& problem = state.problem();
  const Node& node = problem.nodes[place.node];
  const bool is_placed = place != snapshot_place(problem, pod);
  for (GroupIndex group = problem.pods[pod].group; !group.is_none(); group = problem.groups[group].parent) {
    const TopologyLevelIndex level = problem.groups[group].required_level;
    if (level.is_none()) continue;
    bool keeps = true;
    for_each_pod(problem, group, [&](PodIndex other) {
      if (other == pod || !state.is_present(other) || (!is_placed && is_home(state, other))) return;
      const DomainIndex domain = problem.nodes[state.node_of(other)].domains[level.value()];
      keeps = keeps && domain == node.domains[level.value()];
    });
    if (!keeps) return false;
  }
  return true;
}

}  // namespace

bool put_back(ClusterState& state, const QueueBounds& bounds, PodIndex pod) {
  return put_back(state, bounds, pod, snapshot_place(state.problem(), pod));
}

bool put_back(ClusterState& state, const QueueBounds& bounds, PodIndex pod, const Place& place) {
  MUSTER_REQUIRE_SLOW(!state.is_present(pod));
  const Problem& problem = state.problem();
  const PodClass& pod_class = problem.class_of(pod);
  const bool is_at_home = problem.pods[pod].status == PodStatus::kRunning && place == snapshot_place(problem, pod);
  const Room room = room_of(state, place.node);
  if (!(is_at_home
            ? has_room_at_home(state, pod)
            : fit::capacity(room, pod_class) && fit::devices_at(room, problem, pod_class, place.node, place.devices)))
    return false;
  if (!fit::anti_affinity(state, pod_class, place.node) && is_kept_out(state, pod, place.node)) return false;
  if (!keeps_topology(state, pod, place)) return false;
  const Gang& gang = problem.gangs[problem.pods[pod].gang];
  if (!gang.queue.is_none() && !has_queue_room(state, bounds, gang, pod_class, place.node)) return false;
  state.put(pod, place.node, place.devices);
  return true;
}

}  // namespace muster
