// Which running gangs a plan may take pods from, and how: the victims of the formulation.
#pragma once

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::formulation {

struct DepartureOptions {
  bool evicted = false;  // by preempt or reclaim, for a waiting gang
  bool moved = false;
  bool stale = false;  // it must be completed or evicted
  bool any() const { return evicted || moved || stale; }
};

struct EvictionCandidates {
  Indexed<GangIndex, DepartureOptions> gangs;
  bool any = false;
  // Whether all pods that may leave by the rules are among them. Pods that affinity or spread counts are held where
  // they are if there are more than SizeTuning::many_kinds nodes, or more than ListingTuning::most_columns pairs of a
  // node and a class of such pods.
  bool complete = true;
};

// By the snapshot alone: the actions, preemptibility, the waiting gangs, priorities within a queue, and the queues
// above share or quota. Pods that are in no gang's way stay. `before`: the snapshot as it is. Cost: O(pods + kinds of
// claimants x kinds of victims), a kind being a queue, a priority and what is asked for.
EvictionCandidates find_candidates(const Problem& problem, const preemption::EvictionRules& rules,
                                   const ClusterState& before);
// Those of them that may be evicted, or must leave; not complete if any others could be moved.
EvictionCandidates without_moves(EvictionCandidates candidates);
// No candidates.
EvictionCandidates no_candidates(const Problem& problem);

}  // namespace muster::formulation
