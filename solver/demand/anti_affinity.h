// Required anti-affinity for the formulation: which pod classes exclude which. For affinity and spread it knows the
// nodes that no order of binding opens; for the rest see solver/rows/ordered_rows.h.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"
#include "solver/demand/demand.h"

namespace muster::formulation {

class AntiAffinityRules {
 public:
  // Counts the pods of the problem that run and stay in `state`, by term and domain.
  AntiAffinityRules(const Problem& problem, const ClusterState& state);

  // Whether a running pod keeps the class off the node, or affinity or spread does so whatever else is placed.
  bool excludes(PodClassIndex pod_class, NodeIndex node) const;
  // Whether two pods, one of each class (or two of one class), may not share a domain of some term; `node` has to lie
  // in one.
  bool conflict(PodClassIndex a, PodClassIndex b, NodeIndex node) const;
  // Whether some term that involves a pending class has a domain of several nodes.
  bool spans_nodes() const { return spans_nodes_; }
  // Demand classes that some node may be closed to, ascending. Examines which pods could anchor which of them.
  std::vector<DemandIndex> demands_with_terms(const Demand& demand);

 private:
  bool owns(PodClassIndex pod_class, AntiAffinityIndex term) const;
  bool matches(PodClassIndex pod_class, AntiAffinityIndex term) const;

  bool is_closed(PodClassIndex pod_class, NodeIndex node) const;

  const Problem& problem_;
  const ClusterState& state_;
  Indexed<AffinityIndex, std::uint8_t> may_open_;  // something that waits may open another domain
  Indexed<AntiAffinityIndex, std::vector<std::int32_t>> owners_, matched_;  // by domain
  // The terms of a class that it owns and that match present pods; those that match it and that present pods own. Empty
  // if there are no terms.
  Indexed<PodClassIndex, std::vector<AntiAffinityIndex>> repelling_, repelled_;
  bool spans_nodes_ = false;
};

}  // namespace muster::formulation
