#include "solver/column_generation/node_items.h"

#include <algorithm>
#include <numeric>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::column_generation {

NodeItems::NodeItems(const formulation::ConfigurationInput& input, const formulation::ResidualClass& of)
    : in(input), residual(of) {
  MUSTER_REQUIRE(of.residents.empty());
  const NodeClass& node_class = in.problem.node_classes[of.node_class];
  const DeviceUnits capacity = (node_class.device_memory_mib == 0 ? 1 : node_class.device_memory_mib) * 1'000'000;
  DeviceUnits grain = capacity;
  for (formulation::DemandIndex d : of.demands) {
    const PodClass& pod_class = in.problem.pod_classes[in.demand.classes[d].pod_class];
    if (pod_class.gpu.kind == GpuRequestKind::kFraction || pod_class.gpu.kind == GpuRequestKind::kMemory)
      grain = std::gcd(grain, share_units(pod_class, node_class));
  }
  grain = std::max(grain, capacity / kTuning.pricing.grains);
  for (DeviceUnits units : of.free_devices) {
    if (units == capacity)
      ++idle;
    else
      partial_levels.push_back(static_cast<std::int32_t>((units + grain - 1) / grain));
  }
  idle_level = static_cast<std::int32_t>((capacity + grain - 1) / grain);
  items.reserve(of.demands.size());
  for (std::size_t at = 0; at < of.demands.size(); ++at) {
    const formulation::DemandIndex d = of.demands[at];
    const PodClass& pod_class = in.problem.pod_classes[in.demand.classes[d].pod_class];
    NodeItem item{d, &pod_class, static_cast<double>(of.stock[at])};
    for (std::size_t r = 0; r < of.free.size(); ++r)
      if (pod_class.request[r] > 0)
        item.most = std::min(item.most, static_cast<double>(of.free[r] / pod_class.request[r]));
    if (pod_class.gpu.kind == GpuRequestKind::kWhole) {
      item.whole = pod_class.gpu.devices;
    } else if (pod_class.gpu.kind != GpuRequestKind::kNone) {
      item.devices = pod_class.gpu.devices;
      item.size = static_cast<std::int32_t>(share_units(pod_class, node_class) / grain);
    }
    items.push_back(item);
  }
  for (std::size_t r = 0; r < of.free.size(); ++r) {
    double wanted = 0;
    for (const NodeItem& item : items) wanted += item.most * static_cast<double>(item.pod_class->request[r]);
    if (wanted <= static_cast<double>(of.free[r])) continue;
    resources.push_back(r);
    free.push_back(static_cast<double>(of.free[r]));
  }
  request.reserve(items.size() * resources.size());
  for (const NodeItem& item : items)
    for (std::size_t r : resources) request.push_back(static_cast<double>(item.pod_class->request[r]));
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].size > 0 && items[i].size <= idle_level) by_size.push_back(i);
}

double NodeItems::highest_multiplier(std::size_t resource, const std::vector<double>& price) const {
  double high = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (request_of(i, resource) > 0) high = std::max(high, price[items[i].demand.value()] / request_of(i, resource));
  return high;
}

}  // namespace muster::column_generation
