#include "solver/portfolio/plan_memory.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/plan_of.h"
#include "model/objective/evaluation.h"

namespace muster::portfolio {
namespace {

std::uint64_t hash_of(std::string_view name) { return std::hash<std::string_view>{}(name); }

// Gangs in the order in which they are filled up: higher priorities first, then older ones.
std::vector<GangIndex> in_order(const Problem& problem) {
  std::vector<GangIndex> gangs;
  for (const GangIndex gang : problem.gangs.indices()) gangs.push_back(gang);
  std::ranges::stable_sort(gangs, [&](GangIndex a, GangIndex b) {
    const Gang &g = problem.gangs[a], &h = problem.gangs[b];
    return g.priority != h.priority ? g.priority > h.priority : g.times.seniority > h.times.seniority;
  });
  return gangs;
}

// Whether its pods may be put on any places one by one: constraints between pods are left to the placer.
bool may_be_put_anywhere(const Problem& problem, const Gang& gang) {
  return std::ranges::all_of(gang.groups,
                             [&](GroupIndex group) { return problem.groups[group].required_level.is_none(); });
}

}  // namespace

const PlanMemory::Known* PlanMemory::find(const Problem& problem, PodIndex pod) const {
  const std::uint64_t hash = hash_of(problem.snapshot->pods[pod.value()].name);
  const auto known = std::ranges::lower_bound(placements_, hash, {}, &Known::pod);
  return known != placements_.end() && known->pod == hash ? &*known : nullptr;
}

std::optional<Candidate> PlanMemory::recall(const Problem& problem, const FairShares& shares, const StopRequest& stop) {
  const bool anyone_stale = problem.snapshot->policy.actions.stale &&
                            std::ranges::any_of(problem.gangs, [](const Gang& gang) { return gang.stale; });
  if (placements_.empty() || anyone_stale) return std::nullopt;
  if (!is_sorted_) std::ranges::sort(placements_, {}, &Known::pod);
  is_sorted_ = true;
  std::unordered_map<std::uint64_t, NodeIndex> nodes;
  for (const NodeIndex node : problem.nodes.indices())
    nodes.emplace(hash_of(problem.snapshot->nodes[node.value()].name), node);
  ClusterState state(problem, ClusterState::Releasing::kFreed);
  const QueueBounds bounds = queue_bounds(problem, state);
  placement::NodeChooser chooser(state, bounds, placement::usual_rule(problem));
  placement::GangPlacer placer(state, bounds, chooser);
  std::vector<GangIndex> gangs = in_order(problem);
  std::erase_if(gangs, [&](GangIndex gang) { return !placer.may_place(gang) || !fit::min_resources(state, gang); });
  bool any = false;
  for (const GangIndex gang : gangs) {
    if (stop && stop()) return std::nullopt;
    if (!may_be_put_anywhere(problem, problem.gangs[gang])) continue;
    const ClusterState::Checkpoint before = state.checkpoint();
    for (const PodIndex pod : problem.gangs[gang].pods) {
      if (!fit::is_pending(problem.pods[pod])) continue;
      const Known* known = find(problem, pod);
      const auto node = known != nullptr ? nodes.find(known->node) : nodes.end();
      if (node == nodes.end() || !can_place(state, bounds, pod, node->second)) continue;
      const PodClass& pod_class = problem.class_of(pod);
      const bool same = std::ssize(known->devices) == pod_class.gpu.devices &&
                        fit::devices_at(room_of(state, node->second), problem, pod_class, node->second, known->devices);
      state.put(pod, node->second, same ? known->devices : chooser.devices_for(pod, node->second));
    }
    if (state.checkpoint() == before) continue;
    if (is_satisfied(state, gang) || placer.place_minimum(gang))
      any = true;
    else
      state.rollback(before);
  }
  if (!any) return std::nullopt;
  placer.fill_up(gangs, stop);
  Candidate candidate{plan_of(problem, state, {}), {}};
  candidate.levels = evaluate(problem, shares, candidate.plan);
  return candidate;
}

void PlanMemory::keep(const Problem& problem, const Plan& plan) {
  placements_.clear();
  placements_.reserve(plan.placements.size());
  for (const Placement& placement : plan.placements)
    placements_.push_back({hash_of(problem.snapshot->pods[placement.pod.value()].name),
                           hash_of(problem.snapshot->nodes[placement.node.value()].name), placement.devices});
  is_sorted_ = false;
  is_given_ = false;
}

void PlanMemory::keep(const std::vector<StartPlacement>& placements) {
  placements_.clear();
  placements_.reserve(placements.size());
  for (const StartPlacement& placement : placements)
    placements_.push_back({hash_of(placement.pod), hash_of(placement.node), placement.devices});
  is_sorted_ = false;
  is_given_ = true;
}

}  // namespace muster::portfolio
