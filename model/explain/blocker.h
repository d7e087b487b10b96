// What keeps a pod off nodes: docs/semantics.md, "What excludes each node". Codes here, text in plan lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::explain {

// In the order in which the filters are checked.
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
