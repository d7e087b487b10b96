// Plans by single-pod policies: waiting pods are taken in order, each pod is placed on the node with the highest score
// of the policy, and no running pod is moved or evicted for it.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/policies/online_policy.h"
#include "heuristics/state/candidate.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::policies {

struct OneByOneOptions {
  OnlinePolicyKind policy = OnlinePolicyKind::kFgd;
  // The pods to place, in this order; empty: all, by priority (highest first), then by time waited (longest first),
  // then by position, which is the order of kube-scheduler's queue.
  std::vector<GangIndex> order;
  // Polled before each gang; gangs that are not reached stay pending. May be empty.
  StopRequest stop;
  // Nodes of equal score are taken in one order, drawn by this seed. The order has an effect: FGD scores most nodes
  // equally for pods without devices, and by position it leaves 1.5 % more of the cluster idle on one trace than was
  // published.
  std::uint64_t seed = 1;
};

// Every rule of semantics.md holds: a gang's minimum is placed whole or not at all, its other pods where they fit.
// Capacity still held by releasing pods is not used. Stale gangs that cannot be completed are evicted first, as in any
// plan. FGD's typical pods are the snapshot's expected workload, or all its pods if it gives none. The same answer for
// the same problem and seed. Cost: for each pod one check of every node, and one score for each node that changed since
// the last request for its class.
Plan solve_one_by_one(const Problem& problem, const OneByOneOptions& options);

}  // namespace muster::policies
