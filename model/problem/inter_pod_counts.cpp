#include "model/problem/inter_pod_counts.h"

#include <algorithm>

namespace muster {

InterPodCounts::InterPodCounts(const Problem& problem)
    : affine_(problem.inter_pod.affinities.size()), spreads_(problem.inter_pod.spreads.size()) {
  for (const AffinityIndex affinity : problem.inter_pod.affinities.indices()) {
    for (const AntiAffinity& term : problem.inter_pod.affinities[affinity].terms)
      affine_[affinity].by_term.emplace_back(term.domain_count, 0);
  }
  for (const SpreadIndex spread : problem.inter_pod.spreads.indices()) {
    const std::size_t domains = problem.inter_pod.spreads[spread].domain_count;
    spreads_[spread].in.assign(domains, 0);
    spreads_[spread].domains.assign(1, static_cast<std::int32_t>(domains));
  }
}

void InterPodCounts::count(const Problem& problem, const PodClass& pod_class, NodeIndex node, bool put) {
  for (const AffinityIndex affinity : pod_class.affinity_matched) {
    Affine& affine = affine_[affinity];
    bool is_in_any = false;
    for (std::size_t term = 0; term < affine.by_term.size(); ++term) {
      const DomainIndex domain = problem.inter_pod.affinities[affinity].terms[term].domain_of[node];
      if (domain.is_none()) continue;
      is_in_any = true;
      affine.by_term[term][domain.value()] += put ? 1 : -1;
    }
    if (is_in_any) affine.anywhere += put ? 1 : -1;
  }
  for (const SpreadIndex spread : pod_class.spread_matched) {
    const DomainIndex domain = problem.inter_pod.spreads[spread].domain_of[node];
    if (!domain.is_none()) change(spreads_[spread], domain, put);
  }
}

void InterPodCounts::change(SpreadCount& spread, DomainIndex domain, bool put) {
  std::int32_t& pods = spread.in[domain.value()];
  --spread.domains[static_cast<std::size_t>(pods)];
  pods += put ? 1 : -1;
  const auto now = static_cast<std::size_t>(pods);
  if (now >= spread.domains.size()) spread.domains.resize(now + 1, 0);
  ++spread.domains[now];
  if (pods < spread.least) {
    spread.least = pods;
  } else if (spread.domains[static_cast<std::size_t>(spread.least)] == 0) {
    ++spread.least;  // only the domain that has grown was there
  }
}

bool meets_affinity(const InterPodCounts& present, const Problem& problem, const PodClass& pod_class, NodeIndex node) {
  if (pod_class.affinity.is_none()) return true;
  const std::vector<AntiAffinity>& terms = problem.inter_pod.affinities[pod_class.affinity].terms;
  bool is_met = true;
  for (std::size_t term = 0; term < terms.size(); ++term) {
    const DomainIndex domain = terms[term].domain_of[node];
    if (domain.is_none()) return false;
    is_met = is_met && present.affine(pod_class.affinity, term, domain) > 0;
  }
  return is_met || (present.affine_anywhere(pod_class.affinity) == 0 &&
                    std::ranges::binary_search(pod_class.affinity_matched, pod_class.affinity));
}

namespace {

// `more(spread, domain)`: pods that may be in the domain in addition to the present ones.
template <class More>
bool meets_spread_with(const InterPodCounts& present, const Problem& problem, const PodClass& pod_class, NodeIndex node,
                       const More& more) {
  return std::ranges::all_of(pod_class.spread_owned, [&](const OwnedSpread& owned) {
    const Spread& rule = problem.inter_pod.spreads[owned.spread];
    const DomainIndex domain = rule.domain_of[node];
    if (domain.is_none()) return false;
    const bool has_enough = rule.domain_count >= static_cast<std::size_t>(rule.min_domains);
    const std::int64_t least = has_enough ? present.least(owned.spread) : 0;
    const std::int64_t there = present.spread(owned.spread, domain) + more(owned.spread, domain);
    return there + (owned.counts_itself ? 1 : 0) - least <= rule.max_skew;
  });
}

}  // namespace

bool meets_spread(const InterPodCounts& present, const Problem& problem, const PodClass& pod_class, NodeIndex node) {
  return meets_spread_with(present, problem, pod_class, node, [](SpreadIndex, DomainIndex) { return 0; });
}

// A leaving pod does not raise the minimum over the domains: it may be gone already.
bool meets_spread_beside(const InterPodCounts& leaving, const InterPodCounts& present, const Problem& problem,
                         const PodClass& pod_class, NodeIndex node) {
  return meets_spread_with(present, problem, pod_class, node,
                           [&](SpreadIndex spread, DomainIndex domain) { return leaving.spread(spread, domain); });
}

}  // namespace muster
