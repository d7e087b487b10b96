// In which order placements are bound, so that each passes required pod affinity and topology spread as kube-scheduler
// looks at them: against what is bound by then.
//
// A pod that has such a rule may need others before it, and one that is only matched may do harm to those after it. So
// pods that have rules are bound as soon as they pass, and those that have none when no other passes. With one
// constraint for all pods that it counts this finds an order wherever there is one: whichever pod is bound next, one
// that goes to the emptiest domain left passes. Where several rules interfere, it is searched for (binding_search.h).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "heuristics/binding_search.h"
#include "heuristics/cluster_state.h"
#include "model/company_counts.h"
#include "model/problem.h"

namespace muster {

// What runs and stays where it is, by the rules.
CompanyCounts staying_company(const ClusterState& end_state);
// What runs now, and is evicted or moved. What is releasing already counts in no spread.
CompanyCounts leaving_company(const ClusterState& end_state);
// Placements of the state to which it matters when they are bound, by name of the pod.
std::vector<Binding> ordered_bindings(const ClusterState& end_state);

class BindingSequence {
 public:
  // Whether a pod that passes beside what is present may be bound then, as far as pods go that leave.
  using MayBind = std::function<bool(const Binding&, const CompanyCounts& present)>;

  BindingSequence(const Problem& problem, CompanyCounts present) : problem_(&problem), present_(std::move(present)) {}

  // Binds as many as it can; those that are left, in their order, where it cannot bind all. Cost: O(bindings x rounds);
  // a round binds at least one.
  std::vector<Binding> bind(std::vector<Binding> waiting, const MayBind& may_bind);
  // The same, with a search where that leaves any, if there are not too many.
  std::vector<Binding> bind_by_search(const std::vector<Binding>& waiting);
  const std::vector<Binding>& bound() const { return bound_; }

 private:
  std::vector<Binding> bind_once(std::vector<Binding> waiting, const MayBind& may_bind);
  bool passes(const Binding& binding, const MayBind& may_bind) const {
    return muster::passes(*problem_, present_, binding) && (!may_bind || may_bind(binding, present_));
  }
  bool helps(const Binding& other, const std::vector<Binding>& waiting, const MayBind& may_bind);
  void put(const Binding& binding);
  std::vector<Binding> bind_rules(const std::vector<Binding>& waiting, const MayBind& may_bind);

  const Problem* problem_;
  CompanyCounts present_;
  std::vector<Binding> bound_;
};

// Whether the pod has an affinity that nothing present matches.
bool would_be_first(const Problem& problem, const CompanyCounts& present, PodIndex pod);

// Whether all that the state places can be bound in some order. Cost: O(pods), and that of the sequence.
bool has_binding_order(const ClusterState& end_state);

}  // namespace muster
