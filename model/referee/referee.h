// The referee: whether a plan obeys every rule of docs/semantics.md. Every plan passes it before it is written.
//
// It reads the snapshot's own names and quantities again and shares no arithmetic with the engines: no cluster state,
// no classes, no fit test. Of the problem it uses what names refer to (gangs, groups and their minimums, queues, nodes
// and devices of running pods), effective priorities, which pods are preemptible, inherited minimum run times, and the
// pods' work to tell a gang's core from its surplus. It also uses the fair shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/referee/rule.h"
#include "model/snapshot/plan.h"

namespace muster::referee {

// Whether the plan can be read at all: indices that point somewhere, lists in order. `check_plan` asks it first.
// Cost: O(placements + evictions).
bool is_well_formed(const Snapshot& snapshot, const Problem& problem, const Plan& plan);

// All violations, in the order of the rules. Empty: the plan may be written. If the form is broken (an index out of
// range, a list out of order), only that is reported, since no other rule can be checked then. Requires that snapshot,
// problem and shares belong together. Cost: O(pods + nodes x resources + placements x labels); each anti-affinity term
// is matched against every pod once; evictions cost O(pods of the gangs that they touch). Departures: a maximum flow
// for each node and resource that is short on the way, O(leaving x waiting) an augmentation. Sums over pods are counted
// on up to `threads` threads; the number does not change the result. Once `most` violations or more are found, no
// further rule is checked, nor a further unit of Not in vain, of which each that is broken takes a walk through the
// plan: thousands of them took half a minute.
std::vector<Violation> check_plan(const Snapshot& snapshot, const Problem& problem, const FairShares& shares,
                                  const Plan& plan, int threads = 1,
                                  std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace muster::referee
