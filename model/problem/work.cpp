#include "model/problem/work.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/base/saturating.h"

namespace muster {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kThousand = 1'000;

bool accepts(const PodSpec& spec, const DeviceKind& kind) {
  return spec.gpu_models.empty() || std::ranges::find(spec.gpu_models, kind.model) != spec.gpu_models.end();
}

Work share_work_of(Amount amount, Amount total, Work total_gpu_work) {
  if (total <= 0) return 0;
  return saturate(Wide{amount} * total_gpu_work / total);
}

}  // namespace

std::vector<DeviceKind> device_kinds(const Snapshot& snapshot) {
  std::vector<DeviceKind> kinds;
  const auto order = [](const DeviceKind& kind) { return std::tuple(kind.memory_mib, kind.model); };
  for (const SnapshotNode& node : snapshot.nodes) {
    if (node.gpu_count == 0 || node.gpu_memory_mib == 0) continue;
    const DeviceKind kind{node.gpu_model, node.gpu_memory_mib};
    const auto at = std::ranges::lower_bound(kinds, order(kind), {}, order);
    if (at == kinds.end() || order(*at) != order(kind)) kinds.insert(at, kind);
  }
  return kinds;
}

std::int64_t reference_device_mib(const PodSpec& spec, std::span<const DeviceKind> kinds) {
  std::int64_t smallest_accepted = 0;
  for (const DeviceKind& kind : kinds) {
    if (!accepts(spec, kind)) continue;
    if (kind.memory_mib >= spec.gpu.share) return kind.memory_mib;
    if (smallest_accepted == 0) smallest_accepted = kind.memory_mib;
  }
  if (smallest_accepted != 0) return smallest_accepted;
  return kinds.empty() ? 0 : kinds.front().memory_mib;
}

MicroGpu gpu_usage(const GpuRequest& request, std::int64_t device_mib) {
  switch (request.kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kFraction:
      return request.share * request.devices;
    case GpuRequestKind::kMemory:
      if (device_mib > 0)
        return saturating_multiply(divide_rounded(Wide{request.share} * kMillion, device_mib), request.devices);
      break;
    case GpuRequestKind::kWhole:
      break;
  }
  return request.devices * kMillion;
}

Work device_work(const GpuRequest& request, std::int64_t device_mib) {
  const Wide thousandths = Wide{request.devices} * kThousand;
  switch (request.kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kFraction:
      return divide_rounded(thousandths * request.share, kMillion);
    case GpuRequestKind::kMemory:
      if (device_mib > 0) return divide_rounded(thousandths * request.share, device_mib);
      break;
    case GpuRequestKind::kWhole:
      break;
  }
  return request.devices * kThousand;
}

Work dominant_share_work(Amount cpu, Amount memory, const QueueAmounts& total, Work total_gpu_work) {
  return std::max(share_work_of(cpu, total[kQueueCpu], total_gpu_work),
                  share_work_of(memory, total[kQueueMemory], total_gpu_work));
}

Work weighted(Work work, double weight) {
  if (weight == 1 || work == 0) return work;
  const long double product = std::floor(static_cast<long double>(work) * static_cast<long double>(weight) + 0.5L);
  return product >= static_cast<long double>(kLargest) ? kLargest : std::max<Work>(1, static_cast<Work>(product));
}

DeviceUnits share_units(const GpuRequest& gpu, const NodeClass& node_class) {
  const std::int64_t mib = node_class.device_memory_mib;
  const DeviceUnits whole = (mib == 0 ? 1 : mib) * kMillion;
  switch (gpu.kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kWhole:
      return whole;
    case GpuRequestKind::kFraction:
      return gpu.share * (whole / kMillion);
    case GpuRequestKind::kMemory:
      return mib == 0 ? whole + 1 : saturating_multiply(gpu.share, kMillion);
  }
  return 0;
}

QueueAmounts queue_usage(const PodClass& pod_class, const NodeClass& node_class) {
  const MicroGpu gpu =
      pod_class.gpu.kind == GpuRequestKind::kMemory
          ? saturating_add(gpu_usage(pod_class.gpu, node_class.device_memory_mib), pod_class.mig_gpu_usage)
          : pod_class.smallest_gpu_usage;
  return {gpu, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]};
}

Work mig_slice_work(std::string_view resource_name) {
  constexpr std::string_view kPrefix = "nvidia.com/mig-";
  constexpr std::int64_t kSlices = 7;
  if (!resource_name.starts_with(kPrefix)) return 0;
  resource_name.remove_prefix(kPrefix.size());
  const std::size_t digits = resource_name.find_first_not_of("0123456789");
  if (digits == 0 || digits > 2 || !resource_name.substr(digits).starts_with("g.")) return 0;
  std::int64_t slices = 0;
  for (const char digit : resource_name.substr(0, digits)) slices = 10 * slices + (digit - '0');
  return (kThousand * slices + kSlices - 1) / kSlices;
}

}  // namespace muster
