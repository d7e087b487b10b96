// One pass over all waiting gangs, in an order that follows the levels: first gangs within the shares, then gangs
// within the quotas, then the rest; within each by effective priority.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/placement/gang_placement.h"
#include "heuristics/preemption/planner.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"

namespace muster::greedy {

struct PlacingInput {
  const Problem& problem;
  const FairShares& shares;
  const PlacingOrder& order;
  const std::vector<bool>& excluded;  // by gang: not to be touched
  const StopRequest& stop;
  const InitialWork& initial;
  bool walks_all = false;                    // what is present is counted unit by unit, in the order of the gangs
  bool adds_to_plan = false;                 // pods that wait in the snapshot may be placed already
  std::function<void()> before_claims = {};  // called once all that fits is placed, if claims come at the end
};

enum class PlacingOutcome : std::uint8_t {
  kComplete,
  kStopped,      // it was asked to
  kOrderMatters  // not all that is present lies within the shares: restart with `walks_all`
};

// Places what fits next to what is present; gangs that do not fit claim room, once all gangs of their priority have
// been tried. Cost: O(waiting log waiting) gangs and one choice of a node for each pod placed, and the claims; if all
// gangs have to be walked, O(gangs log gangs).
PlacingOutcome place_all(const PlacingInput& input, ClusterState& state, placement::GangPlacer& placer,
                         preemption::PreemptionPlanner& room);

}  // namespace muster::greedy
