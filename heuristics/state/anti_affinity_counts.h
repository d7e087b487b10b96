// How many pods in each domain own a term of required pod anti-affinity, or match it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// Cheap to copy.
class AntiAffinityCounts {
 public:
  explicit AntiAffinityCounts(const Problem& problem)
      : owners_(problem.inter_pod.anti_affinities.size()), matched_(problem.inter_pod.anti_affinities.size()) {
    for (const AntiAffinityIndex term : problem.inter_pod.anti_affinities.indices()) {
      owners_[term].assign(problem.inter_pod.anti_affinities[term].domain_count, 0);
      matched_[term].assign(problem.inter_pod.anti_affinities[term].domain_count, 0);
    }
  }

  std::int32_t owners(AntiAffinityIndex term, DomainIndex domain) const { return owners_[term][domain.value()]; }
  std::int32_t matched(AntiAffinityIndex term, DomainIndex domain) const { return matched_[term][domain.value()]; }

  // A pod of the class comes to the node (`by` 1) or leaves it (-1). Cost: O(terms that it owns or matches).
  void count(const Problem& problem, const PodClass& pod_class, NodeIndex node, std::int32_t by) {
    for (const AntiAffinityIndex term : pod_class.anti_affinity_owned) count(problem, term, node, by, owners_);
    for (const AntiAffinityIndex term : pod_class.anti_affinity_matched) count(problem, term, node, by, matched_);
  }

 private:
  using Counts = Indexed<AntiAffinityIndex, std::vector<std::int32_t>>;  // by domain
  static void count(const Problem& problem, AntiAffinityIndex term, NodeIndex node, std::int32_t by, Counts& counts) {
    const DomainIndex domain = problem.inter_pod.anti_affinities[term].domain_of[node];
    if (!domain.is_none()) counts[term][domain.value()] += by;
  }

  Counts owners_, matched_;
};

}  // namespace muster
