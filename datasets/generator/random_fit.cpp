#include "datasets/generator/random_fit.h"

#include <algorithm>
#include <utility>

#include "model/base/require.h"

namespace muster::generator {

IdleCapacity::IdleCapacity(const std::vector<InstanceNode>& nodes) : nodes_(nodes) {
  free_.reserve(nodes.size());
  for (const InstanceNode& node : nodes) {
    free_.push_back({node.cpu_milli, node.memory_mib, node.pods, devices_.size()});
    devices_.insert(devices_.end(), static_cast<std::size_t>(node.gpu_count),
                    std::max<std::int64_t>(node.gpu_memory_mib, 1) * 1'000'000);
  }
}

std::int64_t IdleCapacity::device_capacity(std::int32_t node) const {
  return std::max<std::int64_t>(nodes_[static_cast<std::size_t>(node)].gpu_memory_mib, 1) * 1'000'000;
}

std::int64_t IdleCapacity::device_need(std::int32_t node, const GpuRequest& gpu) const {
  switch (gpu.kind) {
    case GpuRequestKind::kFraction:
      return gpu.share * (device_capacity(node) / 1'000'000);
    case GpuRequestKind::kMemory:
      return gpu.share * 1'000'000;
    case GpuRequestKind::kWhole:
    case GpuRequestKind::kNone:
      break;
  }
  return device_capacity(node);
}

std::vector<std::int32_t> IdleCapacity::devices_with_room(std::int32_t node, const GpuRequest& gpu) const {
  std::vector<std::int32_t> found;
  const std::int64_t need = device_need(node, gpu);
  const std::size_t first = free_[static_cast<std::size_t>(node)].first_device;
  for (std::int32_t i = 0; i < nodes_[static_cast<std::size_t>(node)].gpu_count; ++i) {
    if (devices_[first + static_cast<std::size_t>(i)] >= need) found.push_back(i);
  }
  return found;
}

bool IdleCapacity::fits(std::int32_t node, const PodShape& shape) const {
  const InstanceNode& host = nodes_[static_cast<std::size_t>(node)];
  const Free& free = free_[static_cast<std::size_t>(node)];
  if (shape.cpu_milli > free.cpu_milli || shape.memory_mib > free.memory_mib || free.pods < 1) return false;
  if (host.tainted && !shape.tolerates_taint) return false;
  if (!shape.pool.empty() && shape.pool != host.pool) return false;
  if (!shape.gpu_models.empty() && !std::ranges::binary_search(shape.gpu_models, host.gpu_model)) return false;
  if (shape.gpu.kind == GpuRequestKind::kNone) return true;
  if (shape.gpu.kind == GpuRequestKind::kMemory && host.gpu_memory_mib == 0) return false;
  return devices_with_room(node, shape.gpu).size() >= static_cast<std::size_t>(shape.gpu.devices);
}

RandomPlace IdleCapacity::take(std::int32_t node, const PodShape& shape, Random& random) {
  MUSTER_REQUIRE_SLOW(fits(node, shape));
  Free& free = free_[static_cast<std::size_t>(node)];
  free.cpu_milli -= shape.cpu_milli;
  free.memory_mib -= shape.memory_mib;
  free.pods -= 1;
  RandomPlace place{node, {}};
  if (shape.gpu.kind == GpuRequestKind::kNone) return place;
  std::vector<std::int32_t> candidates = devices_with_room(node, shape.gpu);
  for (std::int32_t i = 0; i < shape.gpu.devices; ++i) {
    const std::size_t drawn = random.below(candidates.size());
    place.devices.push_back(candidates[drawn]);
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(drawn));
  }
  std::ranges::sort(place.devices);
  const std::int64_t need = device_need(node, shape.gpu);
  for (const std::int32_t device : place.devices)
    devices_[free.first_device + static_cast<std::size_t>(device)] -= need;
  return place;
}

void IdleCapacity::give_back(const RandomPlace& place, const PodShape& shape) {
  Free& free = free_[static_cast<std::size_t>(place.node)];
  free.cpu_milli += shape.cpu_milli;
  free.memory_mib += shape.memory_mib;
  free.pods += 1;
  const std::int64_t need = device_need(place.node, shape.gpu);
  for (const std::int32_t device : place.devices)
    devices_[free.first_device + static_cast<std::size_t>(device)] += need;
}

namespace {

bool is_taken_by(const std::vector<RandomPlace>& places, std::int32_t node) {
  return std::ranges::any_of(places, [&](const RandomPlace& place) { return place.node == node; });
}

}  // namespace

std::optional<std::vector<RandomPlace>> random_fit(IdleCapacity& room, const PodShape& shape, std::int32_t count,
                                                   NodeRange range, Random& random) {
  if (range.size() == 0) return std::nullopt;
  std::vector<RandomPlace> places;
  for (std::int32_t pod = 0; pod < count; ++pod) {
    int probes = 0;
    for (; probes < kProbes; ++probes) {
      const std::int32_t node = range.begin + static_cast<std::int32_t>(random.below(range.size()));
      if (!room.fits(node, shape) || (shape.one_a_node && is_taken_by(places, node))) continue;
      places.push_back(room.take(node, shape, random));
      break;
    }
    if (probes == kProbes) {
      for (const RandomPlace& place : places) room.give_back(place, shape);
      return std::nullopt;
    }
  }
  return places;
}

}  // namespace muster::generator
