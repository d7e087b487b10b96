#include "model/explain/supply_sums.h"

#include <algorithm>
#include <span>
#include <utility>

#include "model/base/saturating.h"
#include "model/problem/exceeded.h"

namespace muster::explain {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// Parts of devices (millionths, up) and MiB that are free on `units_free`.
void add_devices(std::span<const std::int64_t> units_free, DeviceUnits capacity, std::int64_t device_mib,
                 SupplySum& sum) {
  for (const std::int64_t units : units_free) {
    if (units <= 0) continue;
    sum.gpu += static_cast<MicroGpu>((static_cast<Wide>(units) * kMillion + capacity - 1) / capacity);
    if (device_mib > 0) sum.memory_mib += units / kMillion;
  }
}

void add(const SupplySum& part, std::int64_t times, SupplySum& sum) {
  for (std::size_t r = 0; r < part.amounts.size(); ++r) {
    sum.amounts[r] = saturating_add(sum.amounts[r], saturating_multiply(part.amounts[r], times));
  }
  sum.gpu = saturating_add(sum.gpu, saturating_multiply(part.gpu, times));
  sum.memory_mib = saturating_add(sum.memory_mib, saturating_multiply(part.memory_mib, times));
}

// The least of a device's part, in millionths, that one share of the class takes on the nodes that it may use.
MicroGpu least_share(const Problem& problem, const PodClass& pod_class) {
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) return kMillion;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) return pod_class.gpu.share;
  MicroGpu least = kMillion;
  for (const NodeClass& node_class : problem.node_classes) {
    if (node_class.device_memory_mib < pod_class.gpu.share || node_class.device_memory_mib == 0) continue;
    least = std::min<MicroGpu>(
        least, static_cast<MicroGpu>(static_cast<Wide>(pod_class.gpu.share) * kMillion / node_class.device_memory_mib));
  }
  return least;
}

}  // namespace

DemandSum demand_of(const Problem& problem, const std::vector<NeedItem>& items) {
  DemandSum sum;
  sum.amounts.assign(problem.resource_count, 0);
  for (const NeedItem& item : items) {
    const PodClass& pod_class = problem.pod_classes[item.pod_class];
    const std::int64_t pods = std::ssize(item.pods);
    for (std::size_t r = 0; r < sum.amounts.size(); ++r) {
      sum.amounts[r] = saturating_add(sum.amounts[r], saturating_multiply(pod_class.request[r], pods));
    }
    if (pod_class.gpu.kind == GpuRequestKind::kNone) continue;
    const std::int64_t shares = saturating_multiply(pods, pod_class.gpu.devices);
    sum.gpu = saturating_add(sum.gpu, saturating_multiply(shares, least_share(problem, pod_class)));
    if (pod_class.gpu.kind == GpuRequestKind::kMemory) {
      sum.memory_mib = saturating_add(sum.memory_mib, saturating_multiply(shares, pod_class.gpu.share));
    } else {
      sum.memory_only = false;
    }
  }
  return sum;
}

std::string first_short(const Problem& problem, const DemandSum& demand, const SupplySum& supply) {
  if (demand.memory_only ? demand.memory_mib > supply.memory_mib : demand.gpu > supply.gpu) return "gpu";
  const auto is_short = [&](ResourceIndex r) {
    return demand.amounts[r.value()] > 0 && demand.amounts[r.value()] > supply.amounts[r.value()];
  };
  if (is_short(kCpu)) return "cpu";
  if (is_short(kMemory)) return "memory";
  if (const ResourceIndex count = device_count_resource(problem); !count.is_none() && is_short(count)) return "gpu";
  if (const ResourceIndex other = first_other(problem, is_short); !other.is_none())
    return std::string(problem.resource_name(other));
  for (std::size_t r = problem.resource_count - problem.host_port_count(); r < problem.resource_count; ++r) {
    if (is_short(ResourceIndex(r))) return std::string(problem.resource_name(ResourceIndex(r)));
  }
  return is_short(kPods) ? "pods" : "";
}

SupplySums::SupplySums(const Problem& problem, const RemainingCapacity& remaining) : problem_(problem) {
  for (const NodeClass& node_class : problem.node_classes) {
    SupplySum free = nothing();
    for (const NodeIndex node : node_class.nodes) {
      const std::span<const std::int64_t> amounts = remaining.free(node);
      for (std::size_t r = 0; r < amounts.size(); ++r) {
        free.amounts[r] = saturating_add(free.amounts[r], std::max<Amount>(amounts[r], 0));
      }
      add_devices(remaining.devices(node), problem.device_capacity(node), node_class.device_memory_mib, free);
    }
    free_by_class_.push_back(std::move(free));
    SupplySum capacity = nothing();
    capacity.amounts = as_reported(problem, node_class).capacity;
    capacity.gpu = as_reported(problem, node_class).device_count * kMillion;
    capacity.memory_mib = as_reported(problem, node_class).device_count * node_class.device_memory_mib;
    SupplySum all = nothing();
    add(capacity, std::ssize(node_class.nodes), all);
    capacity_by_class_.push_back(std::move(all));
  }
}

template <class Counts>
SupplySum SupplySums::sum_of(const std::vector<SupplySum>& parts, const Counts& counts) const {
  SupplySum sum = nothing();
  for (const NodeClassIndex node_class : problem_.node_classes.indices()) {
    if (counts(node_class)) add(parts[node_class.value()], 1, sum);
  }
  return sum;
}

SupplySum SupplySums::free(const std::vector<PodClassIndex>& classes) const {
  return sum_of(free_by_class_, [&](NodeClassIndex node_class) {
    return std::ranges::any_of(
        classes, [&](PodClassIndex pod_class) { return problem_.pod_classes[pod_class].allowed[node_class.value()]; });
  });
}

const SupplySum& SupplySums::free_for(PodClassIndex pod_class) {
  const auto at = free_for_.find(pod_class);
  if (at != free_for_.end()) return at->second;
  return free_for_[pod_class] = free({pod_class});
}

SupplySum SupplySums::capacity(const std::vector<PodClassIndex>& classes, bool with_filters) const {
  return sum_of(capacity_by_class_, [&](NodeClassIndex node_class) {
    if (problem_.node_classes[node_class].nodes.empty()) return false;
    return !with_filters || std::ranges::any_of(classes, [&](PodClassIndex pod_class) {
      return passes_unless_held(problem_, problem_.pod_classes[pod_class], node_class);
    });
  });
}

}  // namespace muster::explain
