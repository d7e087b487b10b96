// Whole nodes and gangs that stay together: what a plan places is put down anew where that leaves more nodes whole.
//
// What the plan places, evicts and moves stays the same; only places change, so no level before `wholeNodes` does.
// Other places come from best fit decreasing over all that may move, from emptying one node at a time into nodes that
// are in use anyway, and from one gang at a time on the nodes that hold most of it. Running the result through it again
// changes nothing, unless it was stopped or came to the end of its work, which is limited by the size of the cluster.
#pragma once

#include <optional>

#include "heuristics/greedy.h"
#include "model/fair_share.h"
#include "model/problem.h"
#include "model/wholeness.h"

namespace muster {

struct Gathered {
  std::optional<Candidate> better;  // none: nothing better was found
  bool is_complete = true;          // it was not stopped, and did not come to the end of its work
};

// Better than `incumbent` by the levels, and feasible where that is. `bounds`: of the levels of wholeness, given the
// incumbent's levels; nothing is tried where they are reached. `stop` may be empty. Requires a policy that packs.
// Cost: O(pods placed x choice of a node), and for each node that is emptied O(its pods x nodes in use).
Gathered gather(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                const WholenessValues& bounds, const StopRequest& stop);

}  // namespace muster
