// The rules of required pod affinity and of topology spread that something has which may be placed: those that the
// formulation has rows for.
#pragma once

#include <vector>

#include "model/problem.h"
#include "solver/demand.h"

namespace muster {

struct OrderedRules {
  OrderedRules() = default;
  // Cost: O(demand classes x rules of each).
  OrderedRules(const Problem& problem, const Demand& demand);

  bool empty() const { return affinities.empty() && spreads.empty(); }
  // The domains of the node by all of them, in a fixed order.
  std::vector<DomainIndex> domains_of(const Problem& problem, NodeIndex node) const;
  // Whether it has one of them, or is counted by one.
  bool concern(const PodClass& pod_class) const;

  std::vector<AffinityIndex> affinities;  // ascending, as are these:
  std::vector<SpreadIndex> spreads;
};

}  // namespace muster
