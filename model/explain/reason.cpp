#include "model/explain/reason.h"

#include <array>
#include <cctype>

#include "model/problem/problem.h"

namespace muster::explain {
namespace {

constexpr std::array<std::string_view, 20> kReasonNames = {"",
                                                           "SchedulingTimeout",
                                                           "Held",
                                                           "Gated",
                                                           "NotEnoughPods",
                                                           "UnknownQueue",
                                                           "LimitExceeded",
                                                           "NonPreemptibleOverQuota",
                                                           "NeverFits",
                                                           "NodeMismatch",
                                                           "Insufficient",
                                                           "TopologyUnsatisfied",
                                                           "Fragmented",
                                                           "PodAffinity",
                                                           "TopologySpread",
                                                           "Undecided",
                                                           "OutOfTime",
                                                           "Stale",
                                                           "Reclaimed",
                                                           "Preempted"};
static_assert(kReasonNames.size() == static_cast<std::size_t>(ReasonCode::kPreempted) + 1);

constexpr std::array<std::string_view, 11> kMakeRoomNames = {"",          "NotAllowed", "Policy",    "NotEnough",
                                                             "FairShare", "Priority",   "Protected", "DisruptionBudget",
                                                             "Outranked", "Undecided",  "OutOfTime"};
static_assert(kMakeRoomNames.size() == static_cast<std::size_t>(MakeRoomCode::kOutOfTime) + 1);

}  // namespace

std::string reason_text(const Reason& reason) {
  if (reason.code == ReasonCode::kInsufficient) return insufficient_text(reason.resource);
  return std::string(kReasonNames[static_cast<std::size_t>(reason.code)]);
}

std::string_view make_room_text(MakeRoomCode code) { return kMakeRoomNames[static_cast<std::size_t>(code)]; }

std::string insufficient_text(std::string_view resource) {
  std::string name(resource);
  const bool built_in =
      name == "gpu" || name == "cpu" || name == "memory" || name == "pods" || name == kHostPortResource;
  if (built_in) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "Insufficient" + name;
}

}  // namespace muster::explain
