#include "heuristics/state/groups.h"

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

}  // namespace muster
