// The order in which placements are bound, so that each passes required pod affinity and topology spread as
// kube-scheduler checks them: against the pods that are bound by then.
//
// A pod that has such a rule may need others before it, and a pod that is only matched may block those after it. So
// pods that have rules are bound as soon as they pass, and those that have none when no other passes. If one constraint
// applies to all pods that it counts, this finds an order whenever one exists: whichever pod is bound next, one that
// goes to the emptiest domain left passes. If several rules interfere, an order is searched for.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/inter_pod_counts.h"
#include "model/problem/problem.h"

namespace muster {

// An order of binding by search, for cases in which interfering rules make the obvious orders fail.
//
// What may be bound next depends only on the set of bound pods, not on their order. So the search goes from set to set,
// and never twice from a dead end; pods of one class on one node are equivalent.
struct Binding {
  PodIndex pod;
  NodeIndex node;
};

// Whether the pod passes its affinity and spread next to the present pods.
bool passes(const Problem& problem, const InterPodCounts& present, const Binding& binding);

class BindingSearch {
 public:
  BindingSearch(const Problem& problem, InterPodCounts present) : problem_(problem), present_(std::move(present)) {}

  // All of them in an order in which each passes; empty if it has found none, or if there are more than kMostPods.
  // Cost: O(HeuristicsTuning::binding_checks).
  std::vector<Binding> order(const std::vector<Binding>& waiting);

 private:
  // Equivalent pods, and how many of them are bound.
  struct Kind {
    std::vector<Binding> pods;
    std::size_t bound = 0;
    bool is_matched = false;  // by a rule of any pod: that it is bound may be in the way
  };
  static constexpr std::size_t kMostPods = 1'000;  // each is a step deeper on the stack

  bool bind_rest();
  bool bind_next(Kind& kind);
  bool may_come(const Kind& kind);
  void count(const Binding& binding, bool put);
  std::uint64_t hash_of_bound() const;

  const Problem& problem_;
  InterPodCounts present_;
  std::vector<Kind> kinds_;
  std::vector<Binding> bound_;
  std::size_t left_ = 0;
  std::int64_t checks_ = 0;
  std::unordered_set<std::uint64_t> dead_ends_;  // sets of what is bound
};

// The pods that run and stay where they are, by the rules.
InterPodCounts staying_inter_pod(const ClusterState& end_state);
// Pods that run now and are evicted or moved. Pods that are already releasing do not count in any spread.
InterPodCounts leaving_inter_pod(const ClusterState& end_state);
// Placements of the state that depend on the order of binding, by name of the pod.
std::vector<Binding> ordered_bindings(const ClusterState& end_state);

class BindingSequence {
 public:
  // Whether a pod that passes next to the present pods may be bound then, as far as leaving pods are concerned.
  using MayBind = std::function<bool(const Binding&, const InterPodCounts& present)>;

  BindingSequence(const Problem& problem, InterPodCounts present) : problem_(&problem), present_(std::move(present)) {}

  // Binds as many as it can; if it cannot bind all, returns the rest in their order. Cost: O(bindings x rounds); a
  // round binds at least one.
  std::vector<Binding> bind(std::vector<Binding> waiting, const MayBind& may_bind);
  // The same, with a search if that leaves any unbound, unless there are too many.
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
  InterPodCounts present_;
  std::vector<Binding> bound_;
};

// Whether the pod has an affinity that no present pod matches.
bool would_be_first(const Problem& problem, const InterPodCounts& present, PodIndex pod);

// Whether all that the state places can be bound in some order. Cost: O(pods), and that of the sequence.
bool has_binding_order(const ClusterState& end_state);

}  // namespace muster
