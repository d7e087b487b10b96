// Policies of other schedulers, for comparison: their orders, with this project's rules and fit test.
#pragma once

#include <cstdint>

#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::policies {

enum class FifoRule : std::uint8_t {
  kStrict,   // a gang that does not fit stops its queue
  kBackfill  // a gang that does not fit is passed over
};

// First in, first out: all gangs by age, all or nothing, each pod on the node that it fills best; only stale gangs are
// evicted. Priorities are ignored; limits, quotas and all other rules of docs/semantics.md hold. Each leaf has its own
// queue, as the virtual clusters of the Philly trace have (Jeon et al., USENIX ATC 2019, section 2.3), so that a gang
// that does not fit does not block other tenants. Cost: one choice of a node for each pod.
Plan solve_fifo(const Problem& problem, const FairShares& shares, FifoRule rule);

// The order of the KAI Scheduler. Allocate: the queue next in line, level by level from the roots (under its fair share
// before over it; within quota with its next job before beyond it; by priority; by the smaller dominant share with that
// job; without it; first named), and of its gangs the one of highest priority, oldest first; gangs that do not fit are
// skipped; nodes by bin-packing. Then room is made in the same order for the remaining gangs: consolidate, preempt,
// reclaim.
//
// Source: github.com/NVIDIA/KAI-Scheduler, docs/fairness, docs/developer/scheduler-concepts.md and
// plugins/proportion/queue_order. Differences: a claim tries moving, preempting and reclaiming before the next gang has
// its turn (there each is an action over all gangs), and is kept only if the levels improve; victims are the cheapest
// by this project's measure. Cost: that of one start of solve_greedy.
Plan solve_in_kai_order(const Problem& problem, const FairShares& shares);

}  // namespace muster::policies
