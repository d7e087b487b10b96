// Which gangs use what a waiting gang could use, and what keeps each of them from being evicted for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "solver/answers/waiting_gang.h"

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

}  // namespace muster::answers
