#include "solver/demand/anti_affinity.h"

#include <algorithm>
#include <iterator>

namespace muster::formulation {
namespace {

bool contains(const std::vector<AntiAffinityIndex>& terms, AntiAffinityIndex term) {
  return std::ranges::binary_search(terms, term);
}

bool has_wide_domain(const Problem& problem, const AntiAffinity& term) {
  std::vector<std::int32_t> nodes(term.domain_count, 0);
  for (NodeIndex node : problem.nodes.indices())
    if (const DomainIndex domain = term.domain_of[node]; !domain.is_none() && ++nodes[domain.value()] > 1) return true;
  return false;
}

}  // namespace

AntiAffinityRules::AntiAffinityRules(const Problem& problem, const ClusterState& state)
    : problem_(problem),
      state_(state),
      may_open_(problem.inter_pod.affinities.size(), 1),
      owners_(problem.inter_pod.anti_affinities.size()),
      matched_(problem.inter_pod.anti_affinities.size()) {
  for (AntiAffinityIndex term : problem.inter_pod.anti_affinities.indices()) {
    owners_[term].assign(problem.inter_pod.anti_affinities[term].domain_count, 0);
    matched_[term].assign(problem.inter_pod.anti_affinities[term].domain_count, 0);
    spans_nodes_ = spans_nodes_ || has_wide_domain(problem, problem.inter_pod.anti_affinities[term]);
  }
  if (problem.inter_pod.anti_affinities.empty()) return;
  for (PodIndex pod : problem.pods.indices()) {
    if (!state.is_present(pod)) continue;
    const NodeIndex node = state.node_of(pod);
    const auto count = [&](const std::vector<AntiAffinityIndex>& terms, auto& counts) {
      for (AntiAffinityIndex term : terms) {
        const DomainIndex domain = problem.inter_pod.anti_affinities[term].domain_of[node];
        if (!domain.is_none()) ++counts[term][domain.value()];
      }
    };
    count(problem.class_of(pod).anti_affinity_owned, owners_);
    count(problem.class_of(pod).anti_affinity_matched, matched_);
  }
  const auto has_pods = [](const std::vector<std::int32_t>& counts) {
    return std::ranges::any_of(counts, [](std::int32_t pods) { return pods > 0; });
  };
  std::vector<bool> has_owners, has_matched;
  std::ranges::transform(owners_, std::back_inserter(has_owners), has_pods);
  std::ranges::transform(matched_, std::back_inserter(has_matched), has_pods);
  const auto those_in = [](const std::vector<bool>& used, const std::vector<AntiAffinityIndex>& terms) {
    std::vector<AntiAffinityIndex> result;
    std::ranges::copy_if(terms, std::back_inserter(result),
                         [&](AntiAffinityIndex term) -> bool { return used[term.value()]; });
    return result;
  };
  for (const PodClass& pod_class : problem.pod_classes) {
    repelling_.push_back(those_in(has_matched, pod_class.anti_affinity_owned));
    repelled_.push_back(those_in(has_owners, pod_class.anti_affinity_matched));
  }
}

bool AntiAffinityRules::owns(PodClassIndex pod_class, AntiAffinityIndex term) const {
  return contains(problem_.pod_classes[pod_class].anti_affinity_owned, term);
}

bool AntiAffinityRules::matches(PodClassIndex pod_class, AntiAffinityIndex term) const {
  return contains(problem_.pod_classes[pod_class].anti_affinity_matched, term);
}

bool AntiAffinityRules::excludes(PodClassIndex pod_class, NodeIndex node) const {
  const auto met = [&](const std::vector<AntiAffinityIndex>& terms, const auto& counts) {
    return std::any_of(terms.begin(), terms.end(), [&](AntiAffinityIndex term) {
      const DomainIndex domain = problem_.inter_pod.anti_affinities[term].domain_of[node];
      return !domain.is_none() && counts[term][domain.value()] > 0;
    });
  };
  const bool has_terms = pod_class.value() < repelling_.size();
  return (has_terms && (met(repelling_[pod_class], matched_) || met(repelled_[pod_class], owners_))) ||
         is_closed(pod_class, node);
}

// A node without the labels; or one in whose domain no matching pod stays, and none can be placed before the class
// itself.
bool AntiAffinityRules::is_closed(PodClassIndex index, NodeIndex node) const {
  const PodClass& pod_class = problem_.pod_classes[index];
  const auto is_not_eligible = [&](const OwnedSpread& owned) {
    return problem_.inter_pod.spreads[owned.spread].domain_of[node].is_none();
  };
  if (std::ranges::any_of(pod_class.spread_owned, is_not_eligible)) return true;
  if (pod_class.affinity.is_none()) return false;
  const std::vector<AntiAffinity>& terms = problem_.inter_pod.affinities[pod_class.affinity].terms;
  bool is_anchored = true;
  for (std::size_t term = 0; term < terms.size(); ++term) {
    const DomainIndex domain = terms[term].domain_of[node];
    if (domain.is_none()) return true;
    is_anchored = is_anchored && state_.inter_pod().affine(pod_class.affinity, term, domain) > 0;
  }
  return !is_anchored && may_open_[pod_class.affinity] == 0;
}

bool AntiAffinityRules::conflict(PodClassIndex a, PodClassIndex b, NodeIndex node) const {
  const auto clash = [&](PodClassIndex owner, PodClassIndex other) {
    const std::vector<AntiAffinityIndex>& terms = problem_.pod_classes[owner].anti_affinity_owned;
    return std::any_of(terms.begin(), terms.end(), [&](AntiAffinityIndex term) {
      return matches(other, term) && !problem_.inter_pod.anti_affinities[term].domain_of[node].is_none();
    });
  };
  return clash(a, b) || clash(b, a);
}

std::vector<DemandIndex> AntiAffinityRules::demands_with_terms(const Demand& demand) {
  // If a matching pod stays for good, only a pod that stays or does not have the affinity itself opens a domain; else
  // the first pod does.
  for (const AffinityIndex affinity : problem_.inter_pod.affinities.indices()) {
    may_open_[affinity] = 0;
    const bool any_stays = state_.inter_pod().affine_anywhere(affinity) > 0;
    for (const DemandIndex d : demand.classes.indices()) {
      const PodClass& pod_class = problem_.pod_classes[demand.classes[d].pod_class];
      const bool may_stay = !demand.classes[d].stays.is_none();
      const bool opens = std::ranges::binary_search(pod_class.affinity_matched, affinity) &&
                         (may_stay || !any_stays || pod_class.affinity != affinity);
      if (opens) may_open_[affinity] = 1;
    }
  }
  std::vector<DemandIndex> result;
  for (DemandIndex d : demand.classes.indices()) {
    const PodClass& pod_class = problem_.pod_classes[demand.classes[d].pod_class];
    if (pod_class.has_inter_pod_rules()) result.push_back(d);
  }
  return result;
}

}  // namespace muster::formulation
