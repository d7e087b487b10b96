// What is free on every node, and on its devices, once a plan is carried out. Internal to evaluation.h and the bounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/base/saturating.h"
#include "model/objective/possibilities.h"
#include "model/problem/exceeded.h"
#include "model/problem/next_snapshot.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

class FreeCapacity {
 public:
  FreeCapacity(const Problem& problem, const Plan& plan, const EndState& end_state) : problem_(problem) {
    begin_.reserve(problem.nodes.size() + 1);
    begin_.push_back(0);
    for (const NodeIndex node : problem.nodes.indices()) {
      const auto devices = static_cast<std::size_t>(problem.class_of(node).device_count);
      begin_.push_back(begin_.back() + problem.resource_count + devices);
    }
    cells_.reserve(begin_.back());
    for (const NodeIndex node : problem.nodes.indices()) {
      const NodeClass& node_class = problem.class_of(node);
      const std::vector<Amount>& reported = as_reported(problem, node_class).capacity;
      cells_.insert(cells_.end(), reported.begin(), reported.end());
      cells_.resize(cells_.size() + static_cast<std::size_t>(as_reported(problem, node_class).device_count),
                    problem.device_capacity(node));
      cells_.resize(begin_[node.value() + 1], 0);  // devices beyond those reported are never free
    }
    take_all(plan, end_state);
  }

  NodeEnd of(NodeIndex node) const {
    const std::int64_t* const first = cells_.data() + begin_[node.value()];
    const std::int64_t* const devices = first + problem_.resource_count;
    return {problem_.nodes[node].node_class, {first, devices}, {devices, cells_.data() + begin_[node.value() + 1]}};
  }

 private:
  // The cells of a pod's node are prefetched: there are more of them than the caches hold.
  void take_all(const Plan& plan, const EndState& end_state) {
    constexpr std::size_t kAhead = 16;
    const std::vector<NodeIndex>& node_of = end_state.node_of.raw();
    auto evicted = plan.evictions.begin();
    auto placed = plan.placements.begin();
    for (const PodIndex pod : problem_.pods.indices()) {
      const std::size_t ahead = pod.value() + kAhead;
      if (ahead < node_of.size() && !node_of[ahead].is_none()) fetch(node_of[ahead]);
      const bool is_evicted = evicted != plan.evictions.end() && evicted->pod == pod;
      const bool is_placed = placed != plan.placements.end() && placed->pod == pod;
      const bool stays = problem_.pods[pod].status == PodStatus::kRunning && !is_evicted;
      if (stays) take(pod, end_state.node_of[pod], problem_.devices_of(pod));
      if (is_placed) take(pod, placed->node, placed->devices);
      evicted += is_evicted ? 1 : 0;
      placed += is_placed ? 1 : 0;
    }
  }

  void fetch(NodeIndex node) const {
    const std::int64_t* const first = cells_.data() + begin_[node.value()];
    __builtin_prefetch(first, 1);
    __builtin_prefetch(cells_.data() + begin_[node.value() + 1] - 1, 1);
  }

  void take(PodIndex pod, NodeIndex node, std::span<const std::int32_t> devices) {
    const PodClass& pod_class = problem_.class_of(pod);
    std::int64_t* const amounts = cells_.data() + begin_[node.value()];
    for (std::size_t i = 0; i < problem_.resource_count; ++i)
      amounts[i] = saturating_subtract(amounts[i], pod_class.request[i]);
    if (devices.empty()) return;
    const DeviceUnits share = share_units(pod_class, problem_.class_of(node));
    std::int64_t* const rooms = amounts + problem_.resource_count;
    for (const std::int32_t device : devices) rooms[device] = saturating_subtract(rooms[device], share);
  }

  const Problem& problem_;
  std::vector<std::size_t> begin_;   // by node, and the end
  std::vector<std::int64_t> cells_;  // by node: free amounts by resource, then free units by device
};

}  // namespace muster
