// How many pods that are present match each rule of required pod affinity and of topology spread, by domain.
//
// Only pods that run (and stay) or are placed count: a leaving pod anchors no other pod and is not part of a spread.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

class InterPodCounts {
 public:
  explicit InterPodCounts(const Problem& problem);

  // The pod comes to the node, or leaves it. Cost: O(rules that it matches).
  void count(const Problem& problem, const PodClass& pod_class, NodeIndex node, bool put);

  // Pods in the domain of one of its terms that match all of them.
  std::int32_t affine(AffinityIndex affinity, std::size_t term, DomainIndex domain) const {
    return affine_[affinity].by_term[term][domain.value()];
  }
  // Those in any domain of any of its terms, each once.
  std::int32_t affine_anywhere(AffinityIndex affinity) const { return affine_[affinity].anywhere; }
  std::int32_t spread(SpreadIndex spread, DomainIndex domain) const { return spreads_[spread].in[domain.value()]; }
  // The least of all eligible domains.
  std::int32_t least(SpreadIndex spread) const { return spreads_[spread].least; }

 private:
  struct Affine {
    std::vector<std::vector<std::int32_t>> by_term;
    std::int32_t anywhere = 0;
  };
  struct SpreadCount {
    std::vector<std::int32_t> in;       // by domain
    std::vector<std::int32_t> domains;  // by number of pods: that many domains have it
    std::int32_t least = 0;
  };
  static void change(SpreadCount& spread, DomainIndex domain, bool put);

  Indexed<AffinityIndex, Affine> affine_;
  Indexed<SpreadIndex, SpreadCount> spreads_;
};

// Whether the rules permit one more pod of the class: see fit::affinity and fit::spread.
bool meets_affinity(const InterPodCounts& present, const Problem& problem, const PodClass& pod_class, NodeIndex node);
bool meets_spread(const InterPodCounts& present, const Problem& problem, const PodClass& pod_class, NodeIndex node);
// Whether the pod meets its spread both while the pods that `leaving` counts are still there, and once they are gone.
bool meets_spread_beside(const InterPodCounts& leaving, const InterPodCounts& present, const Problem& problem,
                         const PodClass& pod_class, NodeIndex node);

}  // namespace muster
