// Destroys a part of the placements in a neighbourhood.
#pragma once

#include "heuristics/local_search/part/gangs.h"
#include "heuristics/local_search/part/neighbourhood.h"
#include "heuristics/local_search/part/trial.h"
#include "heuristics/local_search/part/waiting_pods.h"
#include "heuristics/local_search/random_source.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// The gang that is to leave is destroyed whole; of all other pods that may move a random part, of a random size. Pods
// that may be dropped wait from then on.
class DestroyOperator {
 public:
  // All must outlive it.
  DestroyOperator(const Problem& problem, PartGangs& gangs, WaitingPods& waiting, RandomSource& random)
      : problem_(problem), gangs_(gangs), waiting_(waiting), random_(random) {}

  // Requires a trial that is empty except for `leaving`. Cost: O(pods on the nodes).
  void apply(Neighbourhood& neighbourhood, Trial& trial);

 private:
  void add(const PartNode::Occupant& occupant, NodeIndex node, Trial& trial);

  const Problem& problem_;
  PartGangs& gangs_;
  WaitingPods& waiting_;
  RandomSource& random_;
};

}  // namespace muster::local_search
