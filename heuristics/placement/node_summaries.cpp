#include "heuristics/placement/node_summaries.h"

#include <algorithm>
#include <limits>

namespace muster::placement {

NodeSummary requested_by(const PodClass& pod_class) {
  constexpr Amount kNothing = std::numeric_limits<Amount>::min();
  const auto if_any = [](Amount request) { return request > 0 ? request : kNothing; };
  NodeSummary requested{if_any(pod_class.request[kCpu.value()]),
                        if_any(pod_class.request[kMemory.value()]),
                        kNothing,
                        std::numeric_limits<std::int32_t>::min(),
                        0,
                        NodeClassIndex::none()};
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) requested.idle = pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) requested.share = pod_class.gpu.share;
  return requested;
}

TypicalCpu::TypicalCpu(const Problem& problem, const Indexed<PodClassIndex, std::int64_t>& pending) {
  Amount cpu = 0, gpus = 0;
  for (const PodClassIndex index : problem.pod_classes.indices()) {
    const PodClass& pod_class = problem.pod_classes[index];
    if (pod_class.gpu.devices == 0) continue;
    cpu += pending[index] * pod_class.request[kCpu.value()];
    gpus += pending[index] * std::max<Work>(1, pod_class.work / 1000);
  }
  if (gpus > 0) per_gpu_ = cpu / gpus;
}

std::int32_t TypicalCpu::stranded(std::int64_t idle_devices, Amount free_cpu) const {
  if (per_gpu_ <= 0) return 0;
  const std::int64_t gpus = 1000 * idle_devices - 1000 * std::max<Amount>(0, free_cpu) / per_gpu_;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus, 0, std::numeric_limits<std::int32_t>::max()));
}

void NodeSummaries::begin() {
  const Problem& problem = state_.problem();
  summaries_.clear();
  summaries_.reserve(problem.nodes.size());
  for (const NodeIndex node : problem.nodes.indices()) summaries_.push_back(summary_of(node));
}

NodeSummary NodeSummaries::summary_of(NodeIndex node) const {
  constexpr std::int64_t kMillion = 1'000'000;
  const Problem& problem = state_.problem();
  const auto free = state_.free(node);
  const DeviceUnits per_millionth = problem.device_capacity(node) / kMillion;
  DeviceUnits most = 0;
  for (const DeviceUnits units : state_.free_devices(node)) most = std::max(most, units);
  const std::int32_t idle = state_.idle_devices(node);
  return {free[kCpu.value()],
          free[kMemory.value()],
          most / per_millionth,
          idle,
          typical_.stranded(idle, free[kCpu.value()]),
          problem.nodes[node].node_class};
}

}  // namespace muster::placement
