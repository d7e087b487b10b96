#include "heuristics/placement/node_summaries.h"

#include <algorithm>
#include <limits>

#include "model/base/saturating.h"

namespace muster::placement {

NodeSummary requested_by(const PodClass& pod_class) {
  constexpr Amount kNothing = std::numeric_limits<Amount>::min();
  const auto if_any = [](Amount request) { return request > 0 ? request : kNothing; };
  NodeSummary requested{if_any(pod_class.request[kCpu.value()]),
                        if_any(pod_class.request[kMemory.value()]),
                        kNothing,
                        std::numeric_limits<std::int32_t>::min(),
                        0,
                        0,
                        NodeClassIndex::none()};
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) requested.idle = pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) requested.share = pod_class.gpu.share;
  return requested;
}

TypicalRequest::TypicalRequest(const Problem& problem, const Indexed<PodClassIndex, std::int64_t>& pending) {
  Amount cpu = 0, memory = 0, gpus = 0;
  Work work = 0;
  for (const PodClassIndex index : problem.pod_classes.indices()) {
    const PodClass& pod_class = problem.pod_classes[index];
    if (pod_class.gpu.devices == 0) continue;
    cpu += pending[index] * pod_class.request[kCpu.value()];
    memory += pending[index] * pod_class.request[kMemory.value()];
    gpus += pending[index] * std::max<Work>(1, pod_class.work / 1000);
    work += pending[index] * pod_class.work;
  }
  if (gpus > 0) per_gpu_ = cpu / gpus;
  if (work < 1000) return;
  cpu_per_room_ = cpu / (work / 1000);
  memory_per_room_ = memory / (work / 1000);
}

std::int32_t TypicalRequest::stranded(std::int64_t idle_devices, Amount free_cpu) const {
  if (per_gpu_ <= 0) return 0;
  const std::int64_t gpus = 1000 * idle_devices - 1000 * std::max<Amount>(0, free_cpu) / per_gpu_;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus, 0, std::numeric_limits<std::int32_t>::max()));
}

std::int64_t TypicalRequest::lacking(std::int64_t room, Amount free_cpu, Amount free_memory) const {
  const auto lacks = [&](Amount free, Amount each) {
    return each > 0 ? std::max<std::int64_t>(0, room - saturating_multiply(1000, std::max<Amount>(0, free)) / each) : 0;
  };
  return std::max(lacks(free_cpu, cpu_per_room_), lacks(free_memory, memory_per_room_));
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
  DeviceUnits most = 0, all = 0;
  for (const DeviceUnits units : state_.free_devices(node)) {
    most = std::max(most, units);
    all += units;
  }
  const std::int32_t idle = state_.idle_devices(node);
  return {free[kCpu.value()],
          free[kMemory.value()],
          most / per_millionth,
          idle,
          typical_.stranded(idle, free[kCpu.value()]),
          static_cast<std::int32_t>(all / (1000 * per_millionth)),
          problem.nodes[node].node_class};
}

}  // namespace muster::placement
