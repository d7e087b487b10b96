#include "solver/answers/plan_mix.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/preemption/reprieve.h"
#include "heuristics/state/plan_of.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"

namespace muster::answers {

Plan translated(const Problem& from, const Plan& plan, const Problem& to) {
  std::unordered_map<std::string_view, PodIndex> pods;
  std::unordered_map<std::string_view, NodeIndex> nodes;
  std::unordered_map<std::string_view, GangIndex> gangs;
  for (const PodIndex pod : to.pods.indices()) pods.emplace(to.snapshot->pods[pod.value()].name, pod);
  for (const NodeIndex node : to.nodes.indices()) nodes.emplace(to.snapshot->nodes[node.value()].name, node);
  for (const GangIndex gang : to.gangs.indices()) gangs.emplace(to.gangs[gang].name, gang);
  const auto pod_of = [&](PodIndex pod) {
    const auto found = pods.find(from.snapshot->pods[pod.value()].name);
    const bool is_same = found != pods.end() && to.pods[found->second].status == from.pods[pod].status;
    return is_same ? found->second : PodIndex::none();
  };
  Plan result;
  for (const Placement& placement : plan.placements) {
    const PodIndex pod = pod_of(placement.pod);
    const auto node = nodes.find(from.snapshot->nodes[placement.node.value()].name);
    if (!pod.is_none() && node != nodes.end())
      result.placements.push_back({pod, node->second, placement.devices, {}, 0});
  }
  for (const Eviction& eviction : plan.evictions) {
    const PodIndex pod = pod_of(eviction.pod);
    if (pod.is_none()) continue;
    GangIndex for_gang = GangIndex::none();
    if (!eviction.for_gang.is_none()) {
      const auto gang = gangs.find(from.gangs[eviction.for_gang].name);
      if (gang != gangs.end()) for_gang = gang->second;
    }
    result.evictions.push_back({pod, eviction.reason, for_gang});
  }
  normalise(result);
  return result;
}

std::optional<Candidate> checked(const Problem& problem, const FairShares& shares, Plan plan) {
  if (!referee::check_plan(*problem.snapshot, problem, shares, plan, 1, 1).empty()) return std::nullopt;
  Candidate candidate{std::move(plan), {}};
  candidate.levels = evaluate(problem, shares, candidate.plan);
  return candidate;
}

PlanMix::PlanMix(const Problem& problem, const FairShares& shares, const Plan& first, const Plan& second)
    : problem_(problem),
      shares_(shares),
      before_(problem, ClusterState::Releasing::kFreed),
      bounds_(queue_bounds(problem, before_)),
      rules_(problem, shares, before_),
      first_(decisions_of(problem, first)),
      second_(decisions_of(problem, second)) {
  find_parts();
}

PlanMix::Decisions PlanMix::decisions_of(const Problem& problem, const Plan& plan) {
  Decisions decisions(problem.pods.size());
  for (const Placement& placement : plan.placements) decisions[placement.pod].placement = &placement;
  for (const Eviction& eviction : plan.evictions) decisions[eviction.pod].eviction = &eviction;
  return decisions;
}

// For which gang a pod leaves, and after which others it starts, follows from the plan as a whole.
bool PlanMix::is_equal(const Decision& a, const Decision& b) {
  if ((a.eviction == nullptr) != (b.eviction == nullptr) || (a.placement == nullptr) != (b.placement == nullptr))
    return false;
  return a.placement == nullptr ||
         (a.placement->node == b.placement->node && a.placement->devices == b.placement->devices);
}

// Gangs that differ are joined by the nodes on which they differ, and by the evictions for them.
void PlanMix::find_parts() {
  std::map<NodeIndex, GangIndex> on_node;
  std::map<GangIndex, GangIndex> joined;  // to another gang of the part, or to itself
  const auto first_of = [&](GangIndex gang) {
    joined.emplace(gang, gang);
    while (joined[gang] != gang) gang = joined[gang];
    return gang;
  };
  const auto join = [&](GangIndex a, GangIndex b) { joined[first_of(a)] = first_of(b); };
  const auto note_node = [&](NodeIndex node, GangIndex gang) {
    const auto [known, is_new] = on_node.emplace(node, gang);
    if (!is_new) join(gang, known->second);
  };
  for (const PodIndex pod : problem_.pods.indices()) {
    if (is_equal(first_[pod], second_[pod])) continue;
    const GangIndex gang = problem_.pods[pod].gang;
    first_of(gang);
    for (const Decision* decision : {&first_[pod], &second_[pod]}) {
      if (decision->placement != nullptr) note_node(decision->placement->node, gang);
      if (decision->eviction == nullptr) continue;
      note_node(problem_.pods[pod].node, gang);
      if (!decision->eviction->for_gang.is_none()) join(gang, decision->eviction->for_gang);
    }
  }
  std::map<GangIndex, GangSet> by_first;
  for (const auto& [gang, other] : joined) by_first[first_of(other)].insert(gang);
  for (auto& [gang, part] : by_first) parts_.push_back(std::move(part));
}

GangSet PlanMix::all() const {
  GangSet all;
  for (const GangSet& part : parts_) all.insert(part.begin(), part.end());
  return all;
}

GangSet PlanMix::of_other_presence() const {
  const auto is_there = [&](PodIndex pod, const Decision& decision) {
    return decision.placement != nullptr ||
           (decision.eviction == nullptr && problem_.pods[pod].status == PodStatus::kRunning);
  };
  GangSet gangs;
  for (const PodIndex pod : problem_.pods.indices())
    if (is_there(pod, first_[pod]) != is_there(pod, second_[pod])) gangs.insert(problem_.pods[pod].gang);
  return gangs;
}

bool PlanMix::place(ClusterState& state, const Placement& placement) const {
  const PodClass& pod_class = problem_.class_of(placement.pod);
  if (!can_place_in_some_order(state, bounds_, placement.pod, placement.node)) return false;
  if (!fit::devices_at(room_of(state, placement.node), problem_, pod_class, placement.node, placement.devices))
    return false;
  state.put(placement.pod, placement.node, placement.devices);
  return true;
}

std::optional<Candidate> PlanMix::with(const GangSet& of_second) const {
  GangSet in_the_way;
  std::optional<Plan> plan = unchecked(of_second, in_the_way);
  return plan ? checked(problem_, shares_, *std::move(plan)) : std::nullopt;
}

std::optional<Candidate> PlanMix::first_by_right(const StopRequest& stop) const {
  GangSet in_the_way;
  std::optional<Plan> plan = unchecked({}, in_the_way);
  if (!plan) return std::nullopt;
  if (std::optional<Candidate> as_it_is = checked(problem_, shares_, *plan)) return as_it_is;
  return checked(problem_, shares_, preemption::settle_rights(problem_, shares_, *plan, stop).plan);
}

std::optional<Plan> PlanMix::unchecked(const GangSet& of_second, GangSet& in_the_way) const {
  ClusterState state = before_;
  std::vector<PlannedEviction> evictions;
  std::vector<const Placement*> of_first, others;
  for (const PodIndex pod : problem_.pods.indices()) {
    const bool is_second = of_second.contains(problem_.pods[pod].gang);
    const Decision& decision = is_second ? second_[pod] : first_[pod];
    if (decision.placement != nullptr) (is_second ? others : of_first).push_back(decision.placement);
    if (decision.eviction == nullptr) continue;
    evictions.push_back({pod, decision.eviction->reason, decision.eviction->for_gang});
    state.take(pod);
  }
  const auto fits = [&](const Placement* placement) { return place(state, *placement); };
  if (!std::ranges::all_of(of_first, fits)) return std::nullopt;
  placement::NodeChooser chooser(state, bounds_, placement::usual_rule(problem_));
  placement::GangPlacer placer(state, bounds_, chooser);
  std::erase_if(others, fits);
  for (const Placement* placement : others) {
    if (placer.place_pod(placement->pod)) continue;
    for (const PodIndex other : state.pods_on(placement->node)) {
      const GangIndex gang = problem_.pods[other].gang;
      if (!is_equal(first_[other], second_[other]) && !of_second.contains(gang)) in_the_way.insert(gang);
    }
    return std::nullopt;
  }
  std::erase_if(evictions, [&](const PlannedEviction& eviction) {
    return state.is_present(eviction.pod) && is_home(state, eviction.pod);
  });
  if (!evictions.empty()) rules_.name_claimants(state, evictions);
  OrderedPlan made = ordered_plan_of(problem_, state, evictions);
  return made.unbound.empty() ? std::optional(std::move(made.plan)) : std::nullopt;
}

GangSet PlanMix::with_what_is_in_the_way(GangSet of_second, const StopRequest& stop) const {
  while (!(stop && stop())) {
    GangSet in_the_way;
    std::optional<Plan> plan = unchecked(of_second, in_the_way);
    if (plan && checked(problem_, shares_, *std::move(plan))) return of_second;
    if (in_the_way.empty()) break;
    of_second.insert(in_the_way.begin(), in_the_way.end());
  }
  return all();
}

}  // namespace muster::answers
