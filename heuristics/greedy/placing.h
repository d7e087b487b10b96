// One pass over all waiting gangs, in an order that follows the levels: first gangs within the shares, then gangs
// within the quotas, then the rest; within each by effective priority.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heuristics/greedy/census.h"
#include "heuristics/preemption/make_room.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/gang_placement.h"
#include "heuristics/state/node_choice.h"
#include "heuristics/state/stop_request.h"
#include "model/objective/fair_share.h"

namespace muster {

// Among gangs of one priority.
enum class GangOrder : std::uint8_t {
  kQueueByQueue,    // the leaf queue that is furthest below its share next; within a queue more work first, then older
  kBigFirst,        // largest pods first: what is hardest to fit
  kCpuFirst,        // most cpu per GPU first
  kOldestBigFirst,  // the same of those that have waited longest and nearly fit in total; then of the others
  kOldestFilling    // the same, without the youngest sharers of devices that no other gang would fill
};

// When room is made for what finds none.
enum class ClaimTime : std::uint8_t {
  kAtEnd,  // once everything has been tried: there is a complete plan at any interruption
  kAtOnce  // once all of the same pass and priority has been tried: better if there is time for all of it
};

struct PlacingOrder {
  GangOrder gangs = GangOrder::kQueueByQueue;
  PodOrder pods = PodOrder::kBigFirst;
  NodeRule nodes = NodeRule::kBestFit;
  ClaimTime claims = ClaimTime::kAtEnd;
  double noise = 0;        // sizes are multiplied by 1 +- noise
  std::uint64_t seed = 0;  // of the noise
};

struct PlacingInput {
  const Problem& problem;
  const FairShares& shares;
  const PlacingOrder& order;
  const std::vector<bool>& excluded;  // by gang: not to be touched
  const StopRequest& stop;
  const Census& census;
  bool walks_all = false;  // what is present is counted unit by unit, in the order of the gangs
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
PlacingOutcome place_all(const PlacingInput& input, ClusterState& state, GangPlacer& placer, RoomSearch& room);

}  // namespace muster
