#include "solver/engine/repair.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/state/binding_order.h"
#include "heuristics/state/groups.h"

namespace muster::engine {

void Repair::bring_back(ClusterState& state, const std::vector<PlannedEviction>& evictions,
                        const Deadline& deadline) const {
  std::map<std::pair<std::int64_t, GangIndex>, std::vector<PodIndex>> by_gang;  // higher priorities first
  for (const PlannedEviction& eviction : evictions) {
    const GangIndex gang = problem_.pods[eviction.pod].gang;
    if (eviction.reason != EvictionReason::kStale)
      by_gang[{-static_cast<std::int64_t>(problem_.gangs[gang].priority), gang}].push_back(eviction.pod);
  }
  for (bool again = true; again;) {
    again = false;
    for (const auto& [key, pods] : by_gang) {
      if (deadline.passed()) return;
      again = bring_back(state, key.second, pods) || again;
    }
  }
}

bool Repair::bring_back(ClusterState& state, GangIndex gang, const std::vector<PodIndex>& pods) const {
  const ClusterState::Checkpoint before = state.checkpoint();
  bool any = false, all = true;
  for (const PodIndex pod : pods) {
    const Place home = snapshot_place(problem_, pod);
    if (state.is_present(pod) && state.place_of(pod) == home) continue;
    const ClusterState::Checkpoint here = state.checkpoint();
    if (state.is_present(pod)) state.take(pod);
    if (fits_at_home(state, pod, home)) {
      state.put(pod, home.node, home.devices);
      any = true;
    } else {
      state.rollback(here);
      all = all && state.is_present(pod);
    }
  }
  if (any && (all || is_satisfied(state, gang)) && keeps_min_resources(state) && keeps_domains(state, gang) &&
      has_binding_order(state))
    return true;
  state.rollback(before);
  return false;
}

// A partial return must not split a gang that was moved to another domain.
bool Repair::keeps_domains(const ClusterState& state, GangIndex gang) const {
  return std::ranges::all_of(problem_.gangs[gang].groups, [&](GroupIndex group) {
    const TopologyLevelIndex level = problem_.groups[group].required_level;
    std::optional<DomainIndex> common;
    bool is_together = true;
    for_each_pod(problem_, group, [&](PodIndex pod) {
      if (level.is_none() || !state.is_present(pod)) return;
      const DomainIndex domain = problem_.nodes[state.node_of(pod)].domains[level.value()];
      is_together = is_together && !domain.is_none() && domain == common.value_or(domain);
      common = domain;
    });
    return is_together;
  });
}

bool Repair::keeps_min_resources(const ClusterState& state) const {
  return std::ranges::all_of(demand_.gang_classes, [&](const formulation::GangClass& gang_class) {
    const GangIndex gang = gang_class.gangs.front();
    return !gang_class.lacks_resources || !is_anything_present(state, gang) || fit::min_resources(state, gang);
  });
}

bool Repair::fits_at_home(const ClusterState& state, PodIndex pod, const Place& home) const {
  const PodClass& pod_class = problem_.class_of(pod);
  if (!has_room_at_home(state, pod) || !fit::anti_affinity(state, pod_class, home.node)) return false;
  const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
  return has_queue_room(state, bounds_, gang, pod_class, home.node);
}

// Gangs with waiting pods, higher priorities first and then larger ones.
std::vector<GangIndex> Repair::waiting(const ClusterState& state) const {
  std::vector<std::pair<Work, GangIndex>> left;
  for (const formulation::GangClass& gang_class : demand_.gang_classes)
    for (GangIndex gang : gang_class.gangs) {
      Work work = 0;
      for (PodIndex pod : problem_.gangs[gang].pods)
        if (problem_.pods[pod].status == PodStatus::kPending && !state.is_present(pod))
          work += problem_.pods[pod].weighted_work;
      if (work > 0) left.emplace_back(work, gang);
    }
  std::stable_sort(left.begin(), left.end(), [&](const auto& a, const auto& b) {
    const std::int32_t p = problem_.gangs[a.second].priority, q = problem_.gangs[b.second].priority;
    return p != q ? p > q : a.first > b.first;
  });
  std::vector<GangIndex> gangs;
  for (const auto& [work, gang] : left) gangs.push_back(gang);
  return gangs;
}

void Repair::fill_up(ClusterState& state, const Deadline& deadline) const {
  placement::NodeChooser chooser(state, bounds_, placement::usual_rule(problem_));
  placement::GangPlacer placer(state, bounds_, chooser);
  placer.fill_up(waiting(state), [&] { return deadline.passed(); });
}

}  // namespace muster::engine
