#include "heuristics/state/groups.h"

#include <algorithm>

#include "heuristics/state/fit.h"
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

}  // namespace muster
