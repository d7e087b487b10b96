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

// EASY backfilling: as solve_fifo, but the first gang of each leaf that does not fit is the head of its queue. It is to
// start at the first expected end at which it fits, within quotas and limits by GPUs and on nodes by devices, and gangs
// after it start only if they are expected to end by then or leave it what it needs. A gang that fits at no expected
// end, such as one that asks for more than its quota, is no head; the next one is. Without expected durations, it is
// solve_fifo with FifoRule::kBackfill. The rule Reserved keeps gangs back on its own: a policy whose `reserveAfter` is
// not `never` makes another policy of this one.
//
// Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995. Cost: that of solve_fifo, and Reservations::reserve
// for each queue.
Plan solve_easy(const Problem& problem, const FairShares& shares);

// Gangs by GPUs x expected duration, the least first, those that are not preemptible before the others; gangs that do
// not fit are passed over. Only stale gangs are evicted. With exact durations it is the order with the least mean wait
// of one machine (Smith 1956), and no policy that anyone can have. Cost: as solve_fifo.
Plan solve_shortest_first(const Problem& problem, const FairShares& shares);

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
