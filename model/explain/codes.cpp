#include "model/explain/codes.h"

#include <cctype>
#include <utility>

#include "model/base/code_table.h"
#include "model/problem/problem.h"

namespace muster::explain {

namespace {

constexpr CodeTable<ReasonCode, kReasonCodes> kReasons = {
    {{ReasonCode::kNone, ""},
     {ReasonCode::kSchedulingTimeout, "SchedulingTimeout"},
     {ReasonCode::kHeld, "Held"},
     {ReasonCode::kGated, "Gated"},
     {ReasonCode::kNotEnoughPods, "NotEnoughPods"},
     {ReasonCode::kUnknownQueue, "UnknownQueue"},
     {ReasonCode::kReserved, "Reserved"},
     {ReasonCode::kLimitExceeded, "LimitExceeded"},
     {ReasonCode::kNonPreemptibleOverQuota, "NonPreemptibleOverQuota"},
     {ReasonCode::kNeverFits, "NeverFits"},
     {ReasonCode::kNodeMismatch, "NodeMismatch"},
     {ReasonCode::kInsufficient, "Insufficient"},
     {ReasonCode::kTopologyUnsatisfied, "TopologyUnsatisfied"},
     {ReasonCode::kFragmented, "Fragmented"},
     {ReasonCode::kPodAffinity, "PodAffinity"},
     {ReasonCode::kTopologySpread, "TopologySpread"},
     {ReasonCode::kUndecided, "Undecided"},
     {ReasonCode::kOutOfTime, "OutOfTime"},
     {ReasonCode::kStale, "Stale"},
     {ReasonCode::kReclaimed, "Reclaimed"},
     {ReasonCode::kPreempted, "Preempted"}}};
static_assert(is_in_order(kReasons));

constexpr CodeTable<MakeRoomCode, kMakeRoomCodes> kMakeRooms = {{{MakeRoomCode::kNone, ""},
                                                                 {MakeRoomCode::kNotAllowed, "NotAllowed"},
                                                                 {MakeRoomCode::kPolicy, "Policy"},
                                                                 {MakeRoomCode::kNotEnough, "NotEnough"},
                                                                 {MakeRoomCode::kFairShare, "FairShare"},
                                                                 {MakeRoomCode::kNoShares, "NoShares"},
                                                                 {MakeRoomCode::kPriority, "Priority"},
                                                                 {MakeRoomCode::kProtected, "Protected"},
                                                                 {MakeRoomCode::kDisruptionBudget, "DisruptionBudget"},
                                                                 {MakeRoomCode::kOutranked, "Outranked"},
                                                                 {MakeRoomCode::kUndecided, "Undecided"},
                                                                 {MakeRoomCode::kOutOfTime, "OutOfTime"}}};
static_assert(is_in_order(kMakeRooms));

constexpr std::string_view kInsufficientText = text_of(kReasons, ReasonCode::kInsufficient);

constexpr CodeTable<FilterCode, kFilterCodes> kFilters = {{{FilterCode::kUnschedulable, "Unschedulable"},
                                                           {FilterCode::kUntoleratedTaint, "UntoleratedTaint"},
                                                           {FilterCode::kNodeSelector, "NodeSelector"},
                                                           {FilterCode::kNodeAffinity, "NodeAffinity"},
                                                           {FilterCode::kVolumeNodeAffinity, "VolumeNodeAffinity"},
                                                           {FilterCode::kPodAntiAffinity, "PodAntiAffinity"},
                                                           {FilterCode::kPodAffinity, "PodAffinity"},
                                                           {FilterCode::kTopologySpread, "TopologySpread"},
                                                           {FilterCode::kGpuModel, "GpuModel"},
                                                           {FilterCode::kReserved, "Reserved"},
                                                           {FilterCode::kHostPorts, "HostPorts"},
                                                           {FilterCode::kInsufficientGpu, "InsufficientGpu"},
                                                           {FilterCode::kInsufficientCpu, "InsufficientCpu"},
                                                           {FilterCode::kInsufficientMemory, "InsufficientMemory"},
                                                           {FilterCode::kInsufficient, "Insufficient"},
                                                           {FilterCode::kInsufficientPods, "InsufficientPods"},
                                                           {FilterCode::kTopology, "Topology"},
                                                           {FilterCode::kAvailable, "Available"}}};
static_assert(is_in_order(kFilters));

}  // namespace

std::string reason_text(const Reason& reason) {
  if (reason.code == ReasonCode::kInsufficient) return insufficient_text(reason.resource);
  return std::string(text_of(kReasons, reason.code));
}

std::optional<Reason> find_reason(std::string_view text) {
  const auto code = code_of(kReasons, text);
  if (code && code != ReasonCode::kInsufficient) return Reason{*code};
  if (auto resource = insufficient_resource(text)) return Reason{ReasonCode::kInsufficient, *std::move(resource)};
  return std::nullopt;
}

std::string_view make_room_text(MakeRoomCode code) { return text_of(kMakeRooms, code); }

std::optional<MakeRoomCode> find_make_room(std::string_view text) { return code_of(kMakeRooms, text); }

std::string insufficient_text(std::string_view resource) {
  std::string name(resource);
  const bool built_in =
      name == "gpu" || name == "cpu" || name == "memory" || name == "pods" || name == kHostPortResource;
  if (built_in) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return std::string(kInsufficientText) + name;
}

std::optional<std::string> insufficient_resource(std::string_view text) {
  if (!text.starts_with(kInsufficientText)) return std::nullopt;
  const std::string name(text.substr(kInsufficientText.size()));
  std::string small = name;
  if (!small.empty()) small[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(small[0])));
  for (const std::string& resource : {small, name}) {
    if (insufficient_text(resource) == text) return resource;
  }
  return std::nullopt;
}

std::string filter_text(const Filter& filter) {
  if (filter.code == FilterCode::kInsufficient) return insufficient_text(filter.resource);
  return std::string(text_of(kFilters, filter.code));
}

std::optional<Filter> find_filter(std::string_view text) {
  const auto code = code_of(kFilters, text);
  if (code && code != FilterCode::kInsufficient) return Filter{*code};
  if (auto resource = insufficient_resource(text)) return Filter{FilterCode::kInsufficient, *std::move(resource)};
  return std::nullopt;
}

}  // namespace muster::explain
