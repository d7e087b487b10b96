// The search on some nodes by themselves: one improving step after another.
#pragma once

#include <vector>

#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/search_part.h"
#include "heuristics/local_search/trial.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"

namespace muster::local_search {

// The steps that were found, each of which builds on those before it. A pure function of its input, except `stop`.
std::vector<Step> improve_part(const SearchScope& scope, const ClusterState& state, const SearchPart& part,
                               const StopRequest& stop);

}  // namespace muster::local_search
