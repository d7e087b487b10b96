// Whole nodes and gangs that stay together: placements of the plan are changed if that leaves more nodes whole.
//
// The set of placed, evicted and moved pods stays the same; only places change, so no level before `wholeNodes` does.
// Other places come from best fit decreasing over all movable pods, from emptying one node at a time into nodes that
// are in use anyway, and from one gang at a time on the nodes that hold most of it. Running the result through it again
// changes nothing, unless it was stopped or reached its limit of work, which depends on the size of the cluster.
#pragma once

#include <optional>

#include "heuristics/state/candidate.h"
#include "model/objective/fair_share.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster::local_search {

struct Repacked {
  std::optional<Candidate> better;  // none: nothing better was found
  bool is_complete = true;          // it was not stopped, and did not reach its limit of work
};

// Better than `incumbent` by the levels, and feasible if that is. `bounds`: of the levels of wholeness, given the
// incumbent's levels; nothing is tried if they are reached. `stop` may be empty. Requires a policy that packs. Cost:
// O(pods placed x choice of a node), and for each node that is emptied O(its pods x nodes in use).
Repacked repack(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                const WholenessValues& bounds, const StopRequest& stop);

}  // namespace muster::local_search
