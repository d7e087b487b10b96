#include "solver/portfolio/plan_memory.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/preemption/reprieve.h"
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

}  // namespace

// One recall, on a cluster state of its own.
class PlanMemory::Recall {
 public:
  Recall(const PlanMemory& memory, const Problem& problem, const FairShares& shares, const StopRequest& stop)
      : memory_(memory),
        problem_(problem),
        shares_(shares),
        stop_(stop),
        state_(problem, ClusterState::Releasing::kFreed),
        bounds_(queue_bounds(problem, state_)),
        chooser_(state_, bounds_, placement::usual_rule(problem)),
        placer_(state_, bounds_, chooser_) {
    for (const NodeIndex node : problem.nodes.indices())
      nodes_.emplace(hash_of(problem.snapshot->nodes[node.value()].name), node);
  }

  // With the evictions.
  std::optional<Candidate> whole() {
    const ClusterState before = state_;
    const preemption::EvictionRules rules(problem_, shares_, before);
    std::vector<PlannedEviction> evictions = known_evictions(rules);
    if (evictions.empty()) return std::nullopt;
    is_whole_ = true;
    for (const PlannedEviction& eviction : evictions) state_.take(eviction.pod);
    const bool do_moves_fit = std::ranges::all_of(evictions, [&](const PlannedEviction& eviction) {
      return eviction.reason != EvictionReason::kConsolidate || put(eviction.pod) ||
             put_back(state_, bounds_, eviction.pod);
    });
    if (!do_moves_fit || !place()) return std::nullopt;
    std::erase_if(evictions, [&](const PlannedEviction& eviction) {
      return state_.is_present(eviction.pod) && is_home(state_, eviction.pod);
    });
    rules.name_claimants(state_, evictions);
    if (!rules.hold(state_, evictions)) return std::nullopt;
    const OrderedPlan made = ordered_plan_of(problem_, state_, evictions);
    if (!made.unbound.empty()) return std::nullopt;
    Candidate settled = preemption::settle_rights(problem_, shares_, made.plan, stop_);
    return settled.plan.placements.empty() ? std::nullopt : std::optional(std::move(settled));
  }

  // What needs no eviction.
  std::optional<Candidate> placements() {
    if (!place()) return std::nullopt;
    placer_.fill_up(gangs_, stop_);
    Candidate candidate{plan_of(problem_, state_, {}), {}};
    candidate.levels = evaluate(problem_, shares_, candidate.plan);
    return candidate;
  }

 private:
  template <class Known>
  const Known* find(const std::vector<Known>& all, PodIndex pod) const {
    const std::uint64_t hash = hash_of(problem_.snapshot->pods[pod.value()].name);
    const auto known = std::ranges::lower_bound(all, hash, {}, &Known::pod);
    return known != all.end() && known->pod == hash ? &*known : nullptr;
  }

  // Of pods that run and may still leave.
  std::vector<PlannedEviction> known_evictions(const preemption::EvictionRules& rules) const {
    std::vector<PlannedEviction> evictions;
    if (memory_.evictions_.empty()) return evictions;
    std::unordered_map<std::uint64_t, GangIndex> gangs;
    for (const GangIndex gang : problem_.gangs.indices()) gangs.emplace(hash_of(problem_.gangs[gang].name), gang);
    for (const PodIndex pod : problem_.pods.indices()) {
      if (problem_.pods[pod].status != PodStatus::kRunning) continue;
      const KnownEviction* known = find(memory_.evictions_, pod);
      if (known == nullptr || known->reason == EvictionReason::kStale) continue;
      const auto gang = gangs.find(known->for_gang);
      if (gang == gangs.end()) continue;
      const Gang& victim = problem_.gangs[problem_.pods[pod].gang];
      const bool may_leave = known->reason == EvictionReason::kConsolidate
                                 ? victim.preemptible && fit::queue_exists(victim) && fit::may_start(victim)
                                 : rules.may_evict(problem_.pods[pod].gang);
      if (may_leave) evictions.push_back({pod, known->reason, gang->second});
    }
    return evictions;
  }

  // Where it was placed, if it fits there, next to those of its gang that are there.
  bool put(PodIndex pod) {
    const KnownPlacement* known = find(memory_.placements_, pod);
    const auto node = known != nullptr ? nodes_.find(known->node) : nodes_.end();
    if (node == nodes_.end()) return false;
    const bool fits = is_whole_ ? can_place_in_some_order(state_, bounds_, pod, node->second)
                                : can_place(state_, bounds_, pod, node->second);
    if (!fits) return false;
    const PodClass& pod_class = problem_.class_of(pod);
    const bool same = std::ssize(known->devices) == pod_class.gpu.devices &&
                      fit::devices_at(room_of(state_, node->second), problem_, pod_class, node->second, known->devices);
    return put_back(state_, bounds_, pod,
                    {node->second, same ? known->devices : chooser_.devices_for(pod, node->second)});
  }

  // Whether any gang is placed that was before.
  bool place() {
    gangs_ = in_order(problem_);
    std::erase_if(gangs_,
                  [&](GangIndex gang) { return !placer_.may_place(gang) || !fit::min_resources(state_, gang); });
    bool any = false;
    for (const GangIndex gang : gangs_) {
      if (stop_ && stop_()) return false;
      const ClusterState::Checkpoint before = state_.checkpoint();
      for (const PodIndex pod : problem_.gangs[gang].pods) {
        if (fit::is_pending(problem_.pods[pod])) put(pod);
      }
      if (state_.checkpoint() == before) continue;
      if (is_satisfied(state_, gang) || placer_.place_minimum(gang))
        any = true;
      else
        state_.rollback(before);
    }
    return any;
  }

  const PlanMemory& memory_;
  const Problem& problem_;
  const FairShares& shares_;
  const StopRequest& stop_;
  ClusterState state_;
  QueueBounds bounds_;
  placement::NodeChooser chooser_;
  placement::GangPlacer placer_;
  std::unordered_map<std::uint64_t, NodeIndex> nodes_;
  std::vector<GangIndex> gangs_;  // in the order in which they are placed
  bool is_whole_ = false;         // with evictions; the order in which pods are bound is found in the end
};

std::optional<Candidate> PlanMemory::recall(const Problem& problem, const FairShares& shares, const StopRequest& stop) {
  const bool anyone_stale = problem.snapshot->policy.actions.stale &&
                            std::ranges::any_of(problem.gangs, [](const Gang& gang) { return gang.stale; });
  if (placements_.empty() || anyone_stale) return std::nullopt;
  if (!is_sorted_) {
    std::ranges::sort(placements_, {}, &KnownPlacement::pod);
    std::ranges::sort(evictions_, {}, &KnownEviction::pod);
  }
  is_sorted_ = true;
  if (auto whole = Recall(*this, problem, shares, stop).whole()) return whole;
  return Recall(*this, problem, shares, stop).placements();
}

void PlanMemory::keep(const Problem& problem, const Plan& plan) {
  const auto pod_hash = [&](PodIndex pod) { return hash_of(problem.snapshot->pods[pod.value()].name); };
  placements_.clear();
  placements_.reserve(plan.placements.size());
  for (const Placement& placement : plan.placements)
    placements_.push_back(
        {pod_hash(placement.pod), hash_of(problem.snapshot->nodes[placement.node.value()].name), placement.devices});
  evictions_.clear();
  for (const Eviction& eviction : plan.evictions) {
    const GangIndex gang = eviction.for_gang;
    const std::uint64_t for_gang = gang.is_none() ? 0 : hash_of(problem.gangs[gang].name);
    evictions_.push_back({pod_hash(eviction.pod), for_gang, eviction.reason});
  }
  is_sorted_ = false;
  is_given_ = false;
}

void PlanMemory::keep(const StartPlan& plan) {
  placements_.clear();
  for (const StartPlan::Placement& placement : plan.placements)
    placements_.push_back({hash_of(placement.pod), hash_of(placement.node), placement.devices});
  evictions_.clear();
  for (const StartPlan::Eviction& eviction : plan.evictions)
    evictions_.push_back({hash_of(eviction.pod), hash_of(eviction.for_gang), eviction.reason});
  is_sorted_ = false;
  is_given_ = true;
}

}  // namespace muster::portfolio
