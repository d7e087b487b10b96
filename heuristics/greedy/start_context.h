// What all starts of greedy begin with, and only read.
#pragma once

#include "heuristics/greedy/initial_work.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/leading_levels.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::greedy {

struct StartContext {
  // All must outlive it. `plan`: see GreedyOptions::from. The same for any number of threads. Cost: O(nodes + pods x
  // (resources + devices of the pod)).
  StartContext(const Problem& of, const FairShares& fair_shares, int threads, const Plan* plan = nullptr);
  StartContext(const StartContext&) = delete;  // its members refer to each other
  StartContext& operator=(const StartContext&) = delete;

  const Problem& problem;
  const FairShares& shares;
  const Plan* from;    // may be null
  ClusterState state;  // the snapshot as it is
  QueueBounds bounds;
  bool could_evict;  // whether any running pod could be evicted, or moved, under the policy
  preemption::EvictionRules rules;
  InitialWork initial;
  LeadingLevels levels;
};

}  // namespace muster::greedy
