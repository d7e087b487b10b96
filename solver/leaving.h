// Which running gangs a plan may take pods from, and how: the victims of the formulation.
#pragma once

#include "heuristics/cluster_state.h"
#include "heuristics/eviction_rules.h"
#include "model/index.h"
#include "model/problem.h"

namespace muster {

struct Leaving {
  bool evicted = false;  // by preempt or reclaim, for somebody that waits
  bool moved = false;
  bool stale = false;     // it is completed or has to go
  bool excluded = false;  // nothing of it is placed: it has gone as stale
  bool any() const { return evicted || moved || stale; }
};

struct Leavers {
  Indexed<GangIndex, Leaving> gangs;
  bool any = false;
  // Whether everybody that may leave by the rules is among them. Pods that run against their anti-affinity within a
  // domain of several nodes are held where they are; as are those that affinity or spread counts, where nodes are more
  // than kManyRooms, or pairs of a node and a class of such pods more than kMostNodeColumns.
  bool complete = true;
};

// By the snapshot alone: the actions, who is preemptible, who waits, priorities within a queue, and who is above share
// or quota. Whoever stands in nobody's way stays. `before`: the snapshot as it is. Cost: O(pods + kinds of claimants x
// kinds of victims), a kind being a queue, a priority and what is asked for.
Leavers find_leavers(const Problem& problem, const EvictionRules& rules, const ClusterState& before);
// Nobody.
Leavers no_leavers(const Problem& problem);

}  // namespace muster
