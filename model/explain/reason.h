// Why a gang is left over, and why evictions did not help: docs/semantics.md, "Reasons". Codes here, text in plan
// lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/explain/reasons_need.h"
#include "model/explain/reasons_room.h"
#include "model/problem/problem.h"

namespace muster::explain {

// In the order of the list in docs/semantics.md, where the first that holds is reported; those of evicted gangs last.
enum class ReasonCode : std::uint8_t {
  kNone,
  kSchedulingTimeout,
  kHeld,
  kGated,
  kNotEnoughPods,
  kUnknownQueue,
  kReserved,
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
inline constexpr std::size_t kReasonCodes = static_cast<std::size_t>(ReasonCode::kPreempted) + 1;

struct Reason {
  ReasonCode code = ReasonCode::kNone;
  std::string resource = {};  // of kInsufficient: its name, as in snapshots; else empty

  friend bool operator==(const Reason&, const Reason&) = default;
};

// "InsufficientGpu", "Insufficientrdma/hca", "NeverFits"; empty for kNone.
std::string reason_text(const Reason& reason);

// The reason with exactly this text; none if there is no such reason.
std::optional<Reason> find_reason(std::string_view text);

// `makeRoom`, in the order of its list.
enum class MakeRoomCode : std::uint8_t {
  kNone,
  kNotAllowed,
  kPolicy,
  kNotEnough,
  kFairShare,
  kNoShares,
  kPriority,
  kProtected,
  kDisruptionBudget,
  kOutranked,
  kUndecided,
  kOutOfTime
};
inline constexpr std::size_t kMakeRoomCodes = static_cast<std::size_t>(MakeRoomCode::kOutOfTime) + 1;

// "NotAllowed"; empty for kNone.
std::string_view make_room_text(MakeRoomCode code);

// The code with this text; none if there is no such code.
std::optional<MakeRoomCode> find_make_room(std::string_view text);

// `InsufficientGpu`, `InsufficientCpu`, ...; extended resources by their own name.
std::string insufficient_text(std::string_view resource);

// The resource of which insufficient_text makes exactly this text; none if there is no such resource.
std::optional<std::string> insufficient_resource(std::string_view text);

// What a reason is about: a gang, what it still lacks, and what decides the answer.
struct ReasonSubject {
  GangIndex gang;
  bool left_over = true;         // its minimum does not run; else one surplus pod is asked about
  GangNeed need;                 // what is still missing
  std::vector<GangNeed> others;  // what would do as well
  std::vector<GangNeed> wholes;  // the whole minimum, as if nothing ran: any of these
  bool has_topology = false, has_anti_affinity = false, has_present = false;
  bool is_simple() const { return need.items.size() == 1 && !has_topology && !has_anti_affinity; }
};

// Cost: O(pods log pods) of the gang, for each way to its minimum.
ReasonSubject reason_subject(const Problem& problem, const AfterPlan& end, GangIndex gang, bool left_over);

// Gangs with equal signatures have equal reasons. Empty: the gang has no equals. Gangs with subgroups that require
// levels, and those bound to where their pods run, have none.
std::string signature(const Problem& problem, const ReasonSubject& subject);

// The same without a subject, for gangs that consist of one leaf group of equal, waiting pods; none for other gangs.
// Cost: O(pods) of the gang.
std::optional<std::array<std::uint64_t, 8>> plain_signature(const Problem& problem, const AfterPlan& end,
                                                            GangIndex gang);

}  // namespace muster::explain
