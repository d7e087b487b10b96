// Plans by single-pod policies: what waits is taken in order, each pod goes to the node that the policy scores highest,
// and nothing that runs is moved or evicted for it.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/greedy.h"
#include "heuristics/online_policy.h"
#include "model/plan.h"
#include "model/problem.h"

namespace muster {

struct OneByOneOptions {
  OnlinePolicyKind policy = OnlinePolicyKind::kFgd;
  // Those that are tried, in this order; empty: all, by priority (highest first), then by time waited (longest first),
  // then by position, which is the order of kube-scheduler's queue.
  std::vector<GangIndex> order;
  // Asked before each gang; what is not reached stays pending. May be empty.
  StopRequest stop;
  // Nodes of equal score are taken in one order, drawn by this seed. It matters: to FGD most nodes are alike for pods
  // without devices, and by position it leaves 1.5 % more of the cluster idle on one trace than was published.
  std::uint64_t seed = 1;
};

// Every rule of semantics.md holds: a gang's minimum is placed whole or not at all, its other pods where they fit.
// Room that is still held by releasing pods is not used. Stale gangs that cannot
// be completed are evicted first, as any plan has to. FGD's typical pods are the snapshot's expected workload, or all
// its pods where it gives none. The same answer for the same problem and seed. Cost: for each pod one look at every
// node, and one score for each node that changed since its class was asked for last.
Plan solve_one_by_one(const Problem& problem, const OneByOneOptions& options);

}  // namespace muster
