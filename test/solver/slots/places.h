// A task for solver/slots made from a snapshot: all running pods remain and may be moved, all pending gangs are placed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "solver/slots/slots.h"
#include "test/support/case.h"

namespace muster::test {

class Places {
 public:
  explicit Places(const Cluster& made) : Places(Case(made)) {}
  explicit Places(Case made)
      : cluster(std::move(made)),
        base(*cluster, ClusterState::Releasing::kFreed),
        bounds(queue_bounds(*cluster, base)) {
    const Problem& problem = *cluster;
    std::map<std::pair<GangIndex, PodClassIndex>, slots::KeptPods> running;
    std::map<GangIndex, slots::NewPods> pending;
    for (const PodIndex pod : problem.pods.indices()) {
      const Pod& p = problem.pods[pod];
      if (p.status == PodStatus::kRunning) {
        base.take(pod);
        slots::KeptPods& pods = running[{p.gang, p.pod_class}];
        pods.pods.push_back(pod);
        ++pods.kept;
        pods.cost = p.weighted_work;
      } else if (p.status == PodStatus::kPending) {
        pending[p.gang].gang = p.gang;
        pending[p.gang].pods.push_back(pod);
      }
    }
    for (auto& [key, pods] : running) kept.push_back(std::move(pods));
    for (auto& [gang, unit] : pending) placed.push_back(std::move(unit));
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  PodIndex pod(std::string_view name) const { return cluster.pod(name); }
  NodeIndex node(std::string_view name) const { return cluster.node(name); }
  slots::KeptPods& kept_with(std::string_view name) {
    return *std::ranges::find_if(
        kept, [&](const slots::KeptPods& pods) { return std::ranges::find(pods.pods, pod(name)) != pods.pods.end(); });
  }
  std::vector<bool> only(std::initializer_list<std::string_view> names) const {
    std::vector<bool> nodes(cluster->nodes.size(), false);
    for (const std::string_view name : names) nodes[node(name).value()] = true;
    return nodes;
  }

  slots::SlotTask task() const { return {*cluster, base, bounds, kept, placed, most_moves}; }
  slots::SlotResult find(cbc::Backend* backend = nullptr,
                         std::chrono::milliseconds time = std::chrono::seconds(60)) const {
    const auto now = Deadline::Clock::now();
    return slots::find_places(task(), {Deadline(now + time, false), Deadline(now + std::chrono::hours(1), false)},
                              backend)
        .value();
  }

  Case cluster;
  ClusterState base;
  QueueBounds bounds;
  std::vector<slots::KeptPods> kept;
  std::vector<slots::NewPods> placed;
  std::optional<std::int64_t> most_moves;
};

// Members of a pod that runs there and asks for `asks`, e.g. R"("gpu":{"count":2})".
inline std::string runs_on(const std::string& node, const std::string& devices, const std::string& asks) {
  return R"("node":")" + node + R"(","started":500,"gpus":[)" + devices + "]," + asks;
}

// What is wrong with a result, by sums of its own; empty: nothing.
inline std::string fault_of(const Places& places, const slots::SlotResult& result) {
  const Problem& problem = *places.cluster;
  for (std::size_t u = 0; u < places.placed.size(); ++u) {
    const bool is_homeless = std::ranges::find(result.homeless, u) != result.homeless.end();
    for (const PodIndex pod : places.placed[u].pods)
      if (result.state.is_present(pod) == is_homeless) return "a gang is not whole";
  }
  Work moved_work = 0;
  for (const slots::KeptPods& pods : places.kept) {
    std::int64_t present = 0;
    for (const PodIndex pod : pods.pods) {
      const bool is_left = std::ranges::find(result.left, pod) != result.left.end();
      const bool is_moved = std::ranges::find(result.moved, pod) != result.moved.end();
      if (result.state.is_present(pod) == is_left) return "a pod that left is present";
      present += is_left ? 0 : 1;
      if (!is_left && is_home(result.state, pod) == is_moved) return "a pod is moved that is at home";
      if (is_moved && !pods.movable) return "a pod is moved that may not be";
      if (is_moved) moved_work += pods.cost;
    }
    if (present != pods.kept) return "not as many pods remain as are kept";
  }
  if (moved_work != result.moved_work) return "the moved work is another";
  if (places.most_moves && std::ssize(result.moved) > *places.most_moves) return "too many pods are moved";
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    std::vector<Amount> free = node_class.capacity;
    std::vector<DeviceUnits> devices(static_cast<std::size_t>(node_class.device_count), node_class.device_capacity());
    for (const PodIndex pod : problem.pods.indices()) {
      if (!result.state.is_present(pod) || result.state.node_of(pod) != node) continue;
      const PodClass& pod_class = problem.class_of(pod);
      if (!pod_class.allowed[problem.nodes[node].node_class.value()]) return "a pod is where it may not be";
      for (std::size_t r = 0; r < free.size(); ++r) free[r] -= pod_class.request[r];
      const Place place = result.state.place_of(pod);
      if (std::ssize(place.devices) != pod_class.gpu.devices) return "a pod has another number of devices";
      for (const std::int32_t device : place.devices)
        devices[static_cast<std::size_t>(device)] -= share_units(pod_class, node_class);
    }
    for (const Amount amount : free)
      if (amount < 0) return "a node has too little of a resource";
    for (const DeviceUnits units : devices)
      if (units < 0) return "a device holds too much";
  }
  return "";
}

}  // namespace muster::test
