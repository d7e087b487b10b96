// The rules of required pod affinity and of topology spread that some placeable pod has: those for which the
// formulation has rows.
#pragma once

#include <vector>

#include "model/problem/problem.h"
#include "solver/demand/demand.h"

namespace muster::formulation {

struct OrderedRules {
  OrderedRules() = default;
  // Cost: O(demand classes x rules of each).
  OrderedRules(const Problem& problem, const Demand& demand);

  bool empty() const { return affinities.empty() && spreads.empty(); }
  // The domains of the node by all of them, in a fixed order.
  std::vector<DomainIndex> domains_of(const Problem& problem, NodeIndex node) const;
  // Whether it has one of them, or one of them counts it.
  bool concern(const PodClass& pod_class) const;

  std::vector<AffinityIndex> affinities;  // ascending, as are these:
  std::vector<SpreadIndex> spreads;
};

}  // namespace muster::formulation
