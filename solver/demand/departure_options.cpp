#include "solver/demand/departure_options.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster::formulation {
namespace {

class Search {
 public:
  Search(const Problem& problem, const preemption::EvictionRules& rules, const ClusterState& before)
      : problem_(problem), actions_(problem.snapshot->policy.actions), rules_(rules), before_(before) {}

  EvictionCandidates run() {
    find_claimants();
    find_uncounted();
    EvictionCandidates result = no_candidates(problem_);
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (!runs(gang)) continue;
      DepartureOptions leaving = leaving_of(gang);
      if (leaving.any() && uncounted_[gang.value()]) {
        result.complete = false;
        leaving = {};
      }
      result.gangs[gang] = leaving;
      result.any = result.any || leaving.any();
    }
    return result;
  }

 private:
  bool runs(GangIndex gang) const {
    return std::ranges::any_of(problem_.gangs[gang].pods, [&](PodIndex pod) {
      return problem_.pods[pod].status == PodStatus::kRunning && before_.is_present(pod);
    });
  }

  // Gangs with pods that affinity or spread count, where the formulation does not model them: without parts, see
  // solver/supply/residual_class.h.
  void find_uncounted() {
    uncounted_.assign(problem_.gangs.size(), false);
    const std::size_t nodes = problem_.nodes.size();
    const auto counted =
        static_cast<std::size_t>(std::ranges::count_if(problem_.pod_classes, &PodClass::has_ordered_rules));
    if (nodes <= kTuning.size.many_kinds && nodes * counted <= kTuning.listing.most_columns) return;
    for (const PodIndex pod : problem_.pods.indices())
      if (before_.is_present(pod) && problem_.class_of(pod).has_ordered_rules())
        uncounted_[problem_.pods[pod].gang.value()] = true;
  }

  bool may_be_placed(const Gang& gang) const { return fit::queue_exists(gang) && fit::may_start(gang); }
  bool may_be_moved(GangIndex gang) const {
    const auto& most = problem_.snapshot->policy.max_moves;
    return actions_.consolidate && (!most || *most > 0) && problem_.gangs[gang].preemptible &&
           !problem_.gangs[gang].leaves_whole && may_be_placed(problem_.gangs[gang]);
  }

  // One gang of each kind that waits and could be placed, for the rules' conditions on a claimant.
  void find_claimants() {
    using Kind = std::tuple<QueueIndex, std::int32_t, PreemptionPolicy, std::array<bool, kQueueResources>>;
    std::map<Kind, GangIndex> waiting;
    for (const GangIndex index : problem_.gangs.indices()) {
      const Gang& gang = problem_.gangs[index];
      if (!actions_.place || !may_be_placed(gang)) continue;
      const Kind kind{gang.queue, gang.priority, gang.preemption_policy, rules_.asked_for(index)};
      const bool waits = std::ranges::any_of(
          gang.pods, [&](PodIndex pod) { return fit::is_pending(problem_.pods[pod]) && !before_.is_present(pod); });
      if (waits) waiting.try_emplace(kind, index);
    }
    for (const auto& [kind, gang] : waiting) waiting_.push_back(gang);
  }

  DepartureOptions leaving_of(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    DepartureOptions leaving;
    leaving.stale = gang.stale && actions_.stale;
    if (waiting_.empty() || is_pinned(index)) return leaving;
    leaving.moved = may_be_moved(index);
    const auto [found, is_new] = evictable_.try_emplace(std::tuple{gang.queue, gang.priority, gang.preemptible}, false);
    if (is_new) found->second = may_be_evicted(index);
    leaving.evicted = found->second;
    return leaving;
  }

  // Whether a disruption budget forces all its running pods to stay.
  bool is_pinned(GangIndex gang) const {
    if (problem_.disruption_budgets.empty()) return false;
    return std::ranges::all_of(problem_.gangs[gang].pods, [&](PodIndex pod) {
      return problem_.pods[pod].status != PodStatus::kRunning || problem_.disruption_budgets.is_pinned(pod);
    });
  }

  bool may_be_evicted(GangIndex victim) const {
    if (!rules_.may_evict(victim)) return false;
    const auto preempts = [&](GangIndex claimant) { return rules_.may_preempt(claimant, victim); };
    const auto reclaims = [&](GangIndex claimant) { return rules_.may_reclaim(before_, claimant, victim); };
    return (actions_.preempt && std::ranges::any_of(waiting_, preempts)) ||
           (actions_.reclaim && std::ranges::any_of(waiting_, reclaims));
  }

  const Problem& problem_;
  const Actions& actions_;
  const preemption::EvictionRules& rules_;
  const ClusterState& before_;
  std::vector<GangIndex> waiting_;
  std::vector<bool> uncounted_;  // by gang
  std::map<std::tuple<QueueIndex, std::int32_t, bool>, bool> evictable_;
};

}  // namespace

EvictionCandidates without_moves(EvictionCandidates candidates) {
  candidates.any = false;
  for (DepartureOptions& leaving : candidates.gangs) {
    candidates.complete = candidates.complete && !leaving.moved;
    leaving.moved = false;
    candidates.any = candidates.any || leaving.any();
  }
  return candidates;
}

EvictionCandidates no_candidates(const Problem& problem) {
  return {Indexed<GangIndex, DepartureOptions>(problem.gangs.size(), DepartureOptions{}), false, true};
}

EvictionCandidates find_candidates(const Problem& problem, const preemption::EvictionRules& rules,
                                   const ClusterState& before) {
  return Search(problem, rules, before).run();
}

}  // namespace muster::formulation
