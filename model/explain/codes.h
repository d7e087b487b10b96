// The codes of plan lines for why a gang is left over, why evictions did not help, and what keeps a pod off nodes:
// docs/semantics.md, "Reasons" and "What excludes each node". And their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// What keeps a pod off nodes, in the order in which the filters are checked.
enum class FilterCode : std::uint8_t {
  kUnschedulable,
  kUntoleratedTaint,
  kNodeSelector,
  kNodeAffinity,
  kVolumeNodeAffinity,
  kPodAntiAffinity,
  kPodAffinity,
  kTopologySpread,
  kGpuModel,
  kReserved,  // held for another gang
  kHostPorts,
  kInsufficientGpu,
  kInsufficientCpu,
  kInsufficientMemory,
  kInsufficient,  // of any other resource
  kInsufficientPods,
  kTopology,
  kAvailable  // no filter: the node could take the pod
};
inline constexpr std::size_t kFilterCodes = static_cast<std::size_t>(FilterCode::kAvailable) + 1;

struct Filter {
  FilterCode code = FilterCode::kAvailable;
  std::string resource = {};  // of kInsufficient: its name, as in snapshots; else empty

  friend bool operator==(const Filter&, const Filter&) = default;
};

// "InsufficientGpu", "Insufficientrdma/hca", "NodeSelector".
std::string filter_text(const Filter& filter);

// The filter with exactly this text; none if there is no such filter.
std::optional<Filter> find_filter(std::string_view text);

struct Blocker {
  Filter filter;
  std::int64_t nodes = 0;
};

}  // namespace muster::explain
