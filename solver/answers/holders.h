// Which gangs use what a waiting gang could use, and what keeps each of them from being evicted for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/explain/blockers.h"
#include "solver/answers/experiment.h"
#include "solver/answers/standing.h"

namespace muster::answers {

// Of a gang's pods on nodes that suit the waiting gang. The first that holds, in this order.
enum class Hold : std::uint8_t {
  kPlacedNow,  // this plan places them: they come before the waiting gang
  kNotPreemptible,
  kFairShare,         // their queue is within its share, or the waiting gang's would exceed its own
  kNoShares,          // so it is, but what the waiting gang lacks has no shares
  kPriority,          // they are in the same queue, and their priority is not lower
  kProtected,         // they have not run for the minimum run time of their queue
  kDisruptionBudget,  // or `protect` of the policy selects them
  kNotAllowed,        // the policy does not allow the action
  kMayBeEvicted
};
inline constexpr std::size_t kHolds = static_cast<std::size_t>(Hold::kMayBeEvicted) + 1;

// For programs: "placedNow", "notPreemptible", ...
std::string_view hold_name(Hold hold);

struct Holder {
  GangIndex gang;
  Hold hold = Hold::kMayBeEvicted;
  std::int64_t pods = 0, nodes = 0;
  QueueAmounts usage{};
};

// Those that use most of what the gang asks for first: GPUs if it asks for some, else memory. Cost: O(pods log pods).
std::vector<Holder> holders(const WaitingGang& gang, const FairShares& shares);

// GPUs that are free once the plan is carried out, by what keeps the waiting pods off them.
struct StrandedCapacity {
  // The filter that the waiting class of pods which comes furthest meets on the node: kAvailable if some pod would fit,
  // but not its gang or its queue; `detail` as in BlockerTally.
  explain::FilterCode filter = explain::FilterCode::kAvailable;
  std::string detail;
  std::int64_t nodes = 0;
  MicroGpu gpus = 0;       // free on these nodes, parts of devices included
  std::int64_t whole = 0;  // devices that are entirely free
};

// Most GPUs first; empty if no GPU is free or no pod waits for one. Cost: O(nodes x classes of waiting pods).
std::vector<StrandedCapacity> stranded_capacity(const Run& run);

// GPUs that are free in all.
MicroGpu free_gpus(const Run& run);

}  // namespace muster::answers
