#include "solver/formulation/departure_options.h"

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
      : problem_(problem), actions_(problem.snapshot->policy.actions), rules_(rules), before_(before) {
    for (const NodeIndex node : problem.nodes.indices()) all_nodes_.push_back(node);
  }

  EvictionCandidates run() {
    find_claimants();
    find_clashing();
    EvictionCandidates result = no_candidates(problem_);
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (!runs(gang)) continue;
      DepartureOptions leaving = leaving_of(gang);
      if (leaving.any() && clashes_[gang.value()]) {
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

  // Gangs with pods that own a term next to others that match it, in a domain of several nodes.
  void find_clashing() {
    clashes_.assign(problem_.gangs.size(), false);
    // Without parts (see solver/formulation/residual_class.h) the formulation does not model the pods that affinity and
    // spread count.
    const std::size_t nodes = problem_.nodes.size();
    const auto counted =
        static_cast<std::size_t>(std::ranges::count_if(problem_.pod_classes, &PodClass::has_ordered_rules));
    const bool may_count = nodes <= kTuning.size.many_kinds && nodes * counted <= kTuning.listing.most_columns;
    for (const PodIndex pod : problem_.pods.indices()) {
      if (!before_.is_present(pod)) continue;
      const PodClass& pod_class = problem_.class_of(pod);
      if (pod_class.has_ordered_rules() && !may_count) clashes_[problem_.pods[pod].gang.value()] = true;
      const auto clashes = [&](AntiAffinityIndex term) { return clashes_by(term, pod_class, before_.node_of(pod)); };
      if (std::ranges::any_of(pod_class.anti_affinity_owned, clashes) ||
          std::ranges::any_of(pod_class.anti_affinity_matched, clashes))
        clashes_[problem_.pods[pod].gang.value()] = true;
    }
  }

  bool clashes_by(AntiAffinityIndex term, const PodClass& pod_class, NodeIndex node) {
    const DomainIndex domain = problem_.inter_pod.anti_affinities[term].domain_of[node];
    if (domain.is_none()) return false;
    const bool owns = std::ranges::count(pod_class.anti_affinity_owned, term) > 0,
               matches = std::ranges::count(pod_class.anti_affinity_matched, term) > 0;
    const std::int32_t others_matched = before_.anti_affinity().matched(term, domain) - (matches ? 1 : 0),
                       others_own = before_.anti_affinity().owners(term, domain) - (owns ? 1 : 0);
    return ((owns && others_matched > 0) || (matches && others_own > 0)) && has_several_nodes(term, domain);
  }

  bool has_several_nodes(AntiAffinityIndex term, DomainIndex domain) {
    const auto [found, is_new] = has_several_nodes_.try_emplace({term, domain}, false);
    if (is_new) {
      const DomainMap& domain_of = problem_.inter_pod.anti_affinities[term].domain_of;
      found->second = std::ranges::count_if(all_nodes_, [&](NodeIndex node) { return domain_of[node] == domain; }) > 1;
    }
    return found->second;
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
  std::vector<bool> clashes_;  // by gang
  std::vector<NodeIndex> all_nodes_;
  std::map<std::pair<AntiAffinityIndex, DomainIndex>, bool> has_several_nodes_;
  std::map<std::tuple<QueueIndex, std::int32_t, bool>, bool> evictable_;
};

}  // namespace

EvictionCandidates no_candidates(const Problem& problem) {
  return {Indexed<GangIndex, DepartureOptions>(problem.gangs.size(), DepartureOptions{}), false, true};
}

EvictionCandidates find_candidates(const Problem& problem, const preemption::EvictionRules& rules,
                                   const ClusterState& before) {
  return Search(problem, rules, before).run();
}

}  // namespace muster::formulation
