#include "model/explain/blocker.h"

#include <utility>

#include "model/base/code_table.h"
#include "model/explain/reason.h"

namespace muster::explain {
namespace {

constexpr CodeTable<FilterCode, kFilterCodes> kTexts = {{{FilterCode::kUnschedulable, "Unschedulable"},
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
static_assert(is_in_order(kTexts));

}  // namespace

std::string filter_text(const Filter& filter) {
  if (filter.code == FilterCode::kInsufficient) return insufficient_text(filter.resource);
  return std::string(text_of(kTexts, filter.code));
}

std::optional<Filter> find_filter(std::string_view text) {
  const auto code = code_of(kTexts, text);
  if (code && code != FilterCode::kInsufficient) return Filter{*code};
  if (auto resource = insufficient_resource(text)) return Filter{FilterCode::kInsufficient, *std::move(resource)};
  return std::nullopt;
}

}  // namespace muster::explain
