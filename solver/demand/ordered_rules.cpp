#include "solver/demand/ordered_rules.h"

#include <algorithm>
#include <set>

namespace muster::formulation {

OrderedRules::OrderedRules(const Problem& problem, const Demand& demand) {
  if (!problem.has_ordered_rules()) return;
  std::set<AffinityIndex> owned_affinities;
  std::set<SpreadIndex> owned_spreads;
  for (const DemandClass& d : demand.classes) {
    if (!d.stays.is_none() || d.count == 0) continue;
    const PodClass& pod_class = problem.pod_classes[d.pod_class];
    if (!pod_class.affinity.is_none()) owned_affinities.insert(pod_class.affinity);
    for (const OwnedSpread& owned : pod_class.spread_owned) owned_spreads.insert(owned.spread);
  }
  affinities.assign(owned_affinities.begin(), owned_affinities.end());
  spreads.assign(owned_spreads.begin(), owned_spreads.end());
}

std::vector<DomainIndex> OrderedRules::domains_of(const Problem& problem, NodeIndex node) const {
  std::vector<DomainIndex> domains;
  for (const AffinityIndex affinity : affinities)
    for (const AntiAffinity& term : problem.inter_pod.affinities[affinity].terms)
      domains.push_back(term.domain_of[node]);
  for (const SpreadIndex spread : spreads) domains.push_back(problem.inter_pod.spreads[spread].domain_of[node]);
  return domains;
}

bool OrderedRules::concern(const PodClass& pod_class) const {
  const auto has = [](const auto& rules, auto rule) { return std::ranges::binary_search(rules, rule); };
  return (!pod_class.affinity.is_none() && has(affinities, pod_class.affinity)) ||
         std::ranges::any_of(pod_class.affinity_matched, [&](AffinityIndex rule) { return has(affinities, rule); }) ||
         std::ranges::any_of(pod_class.spread_owned, [&](const OwnedSpread& o) { return has(spreads, o.spread); }) ||
         std::ranges::any_of(pod_class.spread_matched, [&](SpreadIndex rule) { return has(spreads, rule); });
}

}  // namespace muster::formulation
