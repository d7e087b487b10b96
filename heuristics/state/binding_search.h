// An order of binding by search, for cases in which interfering rules make the obvious orders fail.
//
// What may be bound next depends only on the set of bound pods, not on their order. So the search goes from set to set,
// and never twice from a dead end; pods of one class on one node are equivalent.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/problem/inter_pod_counts.h"
#include "model/problem/problem.h"

namespace muster {

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

}  // namespace muster
