// Whether sums alone tell what fits: then gangs can be chosen before any of them is placed.
#pragma once

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::greedy {

// They do where nodes with devices are alike and idle, and all waiting pods use devices. Of the numbers of whole
// devices that pods ask for each divides the next, and the last that of a node, so that the largest placed first leave
// no gap; nor does any of them take more of another resource than its devices' part of the node. Sharers have to fill
// devices (pack_sharers), and what they take of other resources is not examined. `state`: before anything is placed.
// Cost: O(nodes x resources + groups + pods + pod classes x classes of nodes).
bool have_exact_sums(const Problem& problem, const ClusterState& state);

}  // namespace muster::greedy
