// Why a gang is left over, and why evictions did not help: docs/semantics.md, "Reasons". Codes here, text in plan
// lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::explain {

// In the order of the list in docs/semantics.md, where the first that holds is reported; those of evicted gangs last.
enum class ReasonCode : std::uint8_t {
  kNone,
  kSchedulingTimeout,
  kHeld,
  kGated,
  kNotEnoughPods,
  kUnknownQueue,
  kLimitExceeded,
  kNonPreemptibleOverQuota,
  kNeverFits,
  kNodeMismatch,
  kInsufficient,  // of a resource
  kTopologyUnsatisfied,
  kFragmented,
  kPodAffinity,
  kTopologySpread,
  kUndecided,
  kOutOfTime,
  kStale,
  kReclaimed,
  kPreempted
};

struct Reason {
  ReasonCode code = ReasonCode::kNone;
  std::string resource = {};  // of kInsufficient: its name, as in snapshots; else empty

  friend bool operator==(const Reason&, const Reason&) = default;
};

// "InsufficientGpu", "Insufficientrdma/hca", "NeverFits"; empty for kNone.
std::string reason_text(const Reason& reason);

// `makeRoom`, in the order of its list.
enum class MakeRoomCode : std::uint8_t {
  kNone,
  kNotAllowed,
  kPolicy,
  kNotEnough,
  kFairShare,
  kPriority,
  kProtected,
  kDisruptionBudget,
  kOutranked,
  kUndecided,
  kOutOfTime
};

// "NotAllowed"; empty for kNone.
std::string_view make_room_text(MakeRoomCode code);

// `InsufficientGpu`, `InsufficientCpu`, ...; extended resources by their own name.
std::string insufficient_text(std::string_view resource);

}  // namespace muster::explain
