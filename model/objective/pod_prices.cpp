#include "model/objective/pod_prices.h"

#include <algorithm>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/node_end.h"
#include "model/problem/work.h"

namespace muster {
namespace {

constexpr std::int64_t kThousand = 1'000;

// No more than the pod takes of GPUs, in thousandths.
std::int64_t least_volume(const PodClass& pod_class) {
  std::int64_t volume = pod_class.mig_gpu_usage / kThousand;
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) volume += kThousand * pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction)
    volume += pod_class.gpu.devices * pod_class.gpu.share / kThousand;
  return volume;
}

// By whole devices: `of_size[x]` for a pod with x of them.
PodPrice by_devices(const Problem& problem, std::vector<std::int64_t> of_size) {
  std::vector<std::int64_t> most(of_size.size(), 0);  // on this many idle devices
  for (std::size_t idle = 1; idle < most.size(); ++idle) {
    for (std::size_t size = 1; size <= idle; ++size)
      most[idle] = std::max(most[idle], of_size[size] + most[idle - size]);
  }
  return {[of_size = std::move(of_size)](const PodClass& pod_class) {
            const auto size = static_cast<std::size_t>(whole_devices(pod_class));
            return size < of_size.size() ? of_size[size] : std::int64_t{0};
          },
          [&problem, most = std::move(most)](const NodeEnd& node) {
            const DeviceUnits whole = problem.node_classes[node.node_class].device_capacity();
            const auto idle = std::ranges::count_if(node.free_devices, [&](DeviceUnits free) { return free >= whole; });
            return most[static_cast<std::size_t>(idle)];
          }};
}

PodPrice by_volume(const Problem& problem) {
  std::vector<std::pair<ResourceIndex, Work>> slices;
  for (const ResourceIndex resource : problem.snapshot->resource_names.indices()) {
    const Work slice = mig_slice_work(problem.snapshot->resource_names[resource]);
    if (slice > 0) slices.emplace_back(resource, slice);
  }
  return {least_volume, [&problem, slices = std::move(slices)](const NodeEnd& node) {
            const DeviceUnits whole = problem.node_classes[node.node_class].device_capacity();
            std::int64_t volume = 0;
            for (const DeviceUnits free : node.free_devices)
              volume += free == whole ? kThousand
                                      : static_cast<std::int64_t>(
                                            (Wide{std::max<DeviceUnits>(0, free)} * kThousand + whole - 1) / whole);
            for (const auto& [resource, slice] : slices) {
              const Amount free = std::max<Amount>(0, node.free[resource.value()]);
              volume = saturating_add(volume, saturating_multiply(slice, free));
            }
            return volume;
          }};
}

PodPrice by_resource(std::size_t resource) {
  return {[resource](const PodClass& pod_class) { return pod_class.request[resource]; },
          [resource](const NodeEnd& node) { return std::max<Amount>(0, node.free[resource]); }};
}

}  // namespace

std::int64_t whole_devices(const PodClass& pod_class) {
  return pod_class.gpu.kind == GpuRequestKind::kWhole ? pod_class.gpu.devices : 0;
}

std::vector<PodPrice> pod_prices(const Problem& problem, const std::set<std::int64_t>& sizes) {
  std::vector<PodPrice> prices{by_volume(problem), by_resource(kCpu.value()), by_resource(kMemory.value())};
  std::int64_t most = 0;
  for (const NodeClass& node_class : problem.node_classes) most = std::max<std::int64_t>(most, node_class.device_count);
  if (most > kTuning.bounds.priced_devices) return prices;
  std::set<std::vector<std::int64_t>> known;
  for (std::int64_t step = 2; step <= most; ++step) {
    std::vector<std::int64_t> at_least(static_cast<std::size_t>(most) + 1, 0), rounded = at_least;
    for (const std::int64_t size : sizes) {
      if (size <= 0 || size > most) continue;
      at_least[static_cast<std::size_t>(size)] = size >= step ? 1 : 0;
      rounded[static_cast<std::size_t>(size)] = size * step / (most + 1);
    }
    for (const std::vector<std::int64_t>& of_size : {at_least, rounded}) {
      const bool any = std::ranges::any_of(of_size, [](std::int64_t price) { return price > 0; });
      if (any && known.insert(of_size).second) prices.push_back(by_devices(problem, of_size));
    }
  }
  return prices;
}

}  // namespace muster
