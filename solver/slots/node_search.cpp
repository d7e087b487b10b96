#include "solver/slots/node_search.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "heuristics/state/fit.h"

namespace muster::slots {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// Of a device with the capacity; a share of several devices counts on each.
MicroGpu micro_gpu(const PodClass& pod_class) {
  const GpuRequest& gpu = pod_class.gpu;
  return gpu.kind == GpuRequestKind::kNone ? 0 : std::max<MicroGpu>(1, pod_class.smallest_gpu_usage);
}

}  // namespace

NodeSearch::NodeSearch(const DealtState& dealt) : dealt_(dealt) {
  Amount cores = 0;
  MicroGpu devices = 0;
  const auto count = [&](PodIndex pod) {
    const PodClass& pod_class = dealt.problem().class_of(pod);
    const MicroGpu gpu = micro_gpu(pod_class);
    if (gpu == 0) return;
    cores += pod_class.request[kCpu.value()];
    devices += gpu;
  };
  for (const KeptPods& kept : dealt.task().kept) std::ranges::for_each(kept.pods, count);
  for (const NewPods& unit : dealt.task().placed) std::ranges::for_each(unit.pods, count);
  const MicroGpu whole = devices / kMillion;
  if (whole > 0) cores_of_device_ = cores / whole;
}

std::int64_t NodeSearch::rest_of_cores(NodeIndex node, Amount request, std::int64_t idle) const {
  const Amount rest = dealt_.state().free(node)[kCpu.value()] - request;
  return std::abs(rest - idle * cores_of_device_);
}

std::optional<NodeSearch::Score> NodeSearch::score(PodIndex pod, NodeIndex node) const {
  const Problem& problem = dealt_.problem();
  const ClusterState& state = dealt_.state();
  const PodClass& pod_class = problem.class_of(pod);
  const std::int64_t idle = state.idle_devices(node);
  const Amount cores = pod_class.request[kCpu.value()];
  const GpuRequest& size = dealt_.kinds().sizes()[dealt_.kinds().size_of(pod)];
  if (size.kind == GpuRequestKind::kNone) return Score{0, idle, rest_of_cores(node, cores, idle)};
  if (is_whole(size)) {
    if (idle < size.devices) return std::nullopt;
    const std::int64_t left = idle - size.devices;
    return Score{0, left, rest_of_cores(node, cores, left)};
  }
  const NodeClass& node_class = problem.class_of(node);
  const DeviceUnits units = share_units(pod_class, node_class), whole = node_class.device_capacity();
  DeviceUnits rest = whole;  // of the tightest device, or of all that it takes if it takes several
  std::int32_t found = 0;
  for (const DeviceUnits free : state.free_devices(node)) {
    if (free < units || free >= whole) continue;
    ++found;
    rest = std::min(rest, free - units);
  }
  const std::int64_t opened = std::max<std::int64_t>(0, size.devices - found);
  if (opened > idle) return std::nullopt;
  const std::int64_t order = opened > 0 ? idle : rest * kMillion / whole;
  return Score{opened, order, rest_of_cores(node, cores, idle - opened)};
}

std::optional<NodeIndex> NodeSearch::find(PodIndex pod) {
  const Problem& problem = dealt_.problem();
  const RankIndex rank = dealt_.kinds().rank(pod);
  const std::vector<NodeIndex>& touched = dealt_.state().changes().touched();
  if (std::exchange(rank_, rank) != rank) {
    best_.clear();
    for (const NodeIndex node : problem.nodes.indices()) list(pod, node);
    std::ranges::make_heap(best_, std::ranges::greater());
    read_ = touched.size();
  }
  for (; read_ < touched.size(); ++read_)
    if (list(pod, touched[read_])) std::ranges::push_heap(best_, std::ranges::greater());
  std::vector<Listed> others;  // that it does not fit on, though it may be so of another pod of the rank
  std::optional<NodeIndex> found;
  while (!best_.empty()) {
    const Listed& first = best_.front();
    const bool is_valid = first.version == dealt_.state().version(first.node);
    if (is_valid && dealt_.fits(pod, first.node)) {
      found = first.node;
      break;
    }
    std::ranges::pop_heap(best_, std::ranges::greater());
    if (is_valid) others.push_back(best_.back());
    best_.pop_back();
  }
  for (const Listed& other : others) {
    best_.push_back(other);
    std::ranges::push_heap(best_, std::ranges::greater());
  }
  return found;
}

bool NodeSearch::list(PodIndex pod, NodeIndex node) {
  const std::optional<Score> now = score(pod, node);
  if (now) best_.push_back({*now, node, dealt_.state().version(node)});
  return now.has_value();
}

bool NodeSearch::lacks_only_resources(PodIndex pod) const {
  const Problem& problem = dealt_.problem();
  const Filter& filter = dealt_.kinds().filter_of(pod);
  const PodClass& pod_class = problem.class_of(pod);
  return std::ranges::any_of(problem.nodes.indices(), [&](NodeIndex node) {
    const Room room = room_of(dealt_.state(), node);
    return filter.accepts(problem, node) && fit::devices(room, problem, pod_class, node);
  });
}

}  // namespace muster::slots
