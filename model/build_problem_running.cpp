// What is on each node: that it fits, and on which devices it is.
#include <algorithm>
#include <numeric>
#include <utility>

#include "model/build_problem_stages.h"
#include "model/parallel.h"
#include "model/saturating.h"

namespace muster {
namespace {

constexpr std::int64_t kSearchSteps = 20'000;  // of the search for devices, a node; first fit needs none of them

InputError does_not_fit(const ProblemDraft& draft, NodeIndex node, std::string_view what) {
  std::string message("what runs on node \"");
  message.append(draft.snapshot.nodes[node.value()].name).append("\" does not fit: ").append(what);
  return {"DoesNotFit", path_to("nodes", node.value(), ""), std::move(message)};
}

// Running and releasing pods by node, ascending: of node n `pods[begin[n] .. begin[n + 1]]`.
struct PodsByNode {
  std::vector<std::size_t> begin;
  std::vector<PodIndex> pods;

  std::span<const PodIndex> of(NodeIndex node) const {
    return {pods.data() + begin[node.value()], pods.data() + begin[node.value() + 1]};
  }
};

PodsByNode pods_by_node(const Problem& problem) {
  PodsByNode result;
  result.begin.assign(problem.nodes.size() + 1, 0);
  for (const Pod& pod : problem.pods) {
    if (!pod.node.is_none()) ++result.begin[pod.node.value() + 1];
  }
  std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
  result.pods.resize(result.begin.back());
  std::vector<std::size_t> next = result.begin;
  for (const PodIndex pod : problem.pods.indices()) {
    const NodeIndex node = problem.pods[pod].node;
    if (!node.is_none()) result.pods[next[node.value()]++] = pod;
  }
  return result;
}

Failure check_listed_devices(const ProblemDraft& draft, PodIndex pod) {
  const std::vector<std::int32_t>& devices = draft.snapshot.pods[pod.value()].devices;
  const std::int32_t asked = draft.problem.class_of(pod).gpu.devices;
  const std::int32_t count = draft.problem.class_of(draft.problem.pods[pod].node).device_count;
  const auto error = [&](std::string message) {
    return InputError{"InvalidValue", path_to("pods", pod.value(), "gpus"), std::move(message)};
  };
  if (std::ssize(devices) != asked) {
    return error("it lists " + std::to_string(devices.size()) + " devices and asks for " + std::to_string(asked));
  }
  if (devices.front() < 0 || devices.back() >= count)
    return error("its node has " + std::to_string(count) + " devices, counted from 0");
  if (std::ranges::adjacent_find(devices) != devices.end()) return error("a device is listed twice");
  return {};
}

// One device that a pod is to get.
struct DeviceNeed {
  PodIndex pod;
  DeviceUnits units = 0;
  bool continues = false;  // a further device of the same pod as the need before
};

// Devices for the pods of one node that list none.
class DeviceSearch {
 public:
  explicit DeviceSearch(std::vector<DeviceUnits> free) : free_(std::move(free)) {}

  // The device of each need, in their order; empty where none is found. First fit, in the order given; failing that, a
  // search over the needs, large before small, which gives up after kSearchSteps.
  std::vector<std::int32_t> find(std::vector<DeviceNeed>& needs) {
    chosen_.assign(needs.size(), -1);
    steps_left_ = std::ssize(needs);
    backtracks_ = false;
    if (place(needs, 0)) return chosen_;
    std::ranges::stable_sort(needs, [](const DeviceNeed& a, const DeviceNeed& b) {
      return a.units != b.units ? a.units > b.units : a.pod < b.pod;
    });
    chosen_.assign(needs.size(), -1);
    steps_left_ = kSearchSteps;
    backtracks_ = true;
    return place(needs, 0) ? chosen_ : std::vector<std::int32_t>{};
  }

 private:
  bool place(const std::vector<DeviceNeed>& needs, std::size_t at) {
    if (at == needs.size()) return true;
    const std::int32_t first = needs[at].continues ? chosen_[at - 1] + 1 : 0;
    for (std::int32_t device = first; device < std::ssize(free_); ++device) {
      DeviceUnits& room = free_[static_cast<std::size_t>(device)];
      if (room < needs[at].units) continue;
      room -= needs[at].units;
      chosen_[at] = device;
      if (--steps_left_ >= 0 && place(needs, at + 1)) return true;
      free_[static_cast<std::size_t>(device)] += needs[at].units;
      if (!backtracks_ || steps_left_ < 0) return false;
    }
    return false;
  }

  std::vector<DeviceUnits> free_;
  std::vector<std::int32_t> chosen_;
  std::int64_t steps_left_ = 0;
  bool backtracks_ = false;
};

// One node after the other.
class NodeLoader {
 public:
  explicit NodeLoader(ProblemDraft& draft) : draft_(draft) {}

  Failure load(NodeIndex node, std::span<const PodIndex> pods) {
    node_ = node;
    if (Failure failure = check_resources(pods)) return failure;
    if (Failure failure = assign_devices(pods)) return failure;
    for (const PodIndex pod : pods) {
      draft_.problem.pods[pod].devices_count =
          static_cast<std::uint32_t>(draft_.snapshot.pods[pod.value()].devices.size());
    }
    return {};
  }

 private:
  const PodClass& class_of(PodIndex pod) const { return draft_.problem.class_of(pod); }

  Failure check_resources(std::span<const PodIndex> pods) {
    sums_.assign(draft_.problem.resource_count, 0);
    for (const PodIndex pod : pods) std::ranges::transform(sums_, class_of(pod).request, sums_.begin(), saturating_add);
    for (const ResourceIndex resource : draft_.snapshot.resource_names.indices()) {
      const Amount sum = sums_[resource.value()];
      const Amount capacity = draft_.problem.class_of(node_).capacity[resource.value()];
      if (sum <= capacity) continue;
      std::string what(draft_.snapshot.resource_names[resource]);
      what.append(", ").append(std::to_string(sum)).append(" of ").append(std::to_string(capacity));
      return does_not_fit(draft_, node_, what);
    }
    return {};
  }

  Failure assign_devices(std::span<const PodIndex> pods) {
    free_.assign(static_cast<std::size_t>(draft_.problem.class_of(node_).device_count),
                 draft_.problem.device_capacity(node_));
    needs_.clear();
    if (Failure failure = take_listed(pods)) return failure;
    add_needs(pods, true);
    add_needs(pods, false);
    if (needs_.empty()) return {};
    const std::vector<std::int32_t> devices = DeviceSearch(free_).find(needs_);
    if (devices.size() != needs_.size())
      return does_not_fit(draft_, node_, "no devices are left for pods that list none");
    for (std::size_t i = 0; i < needs_.size(); ++i)
      draft_.snapshot.pods[needs_[i].pod.value()].devices.push_back(devices[i]);
    return {};
  }

  Failure take_listed(std::span<const PodIndex> pods) {
    for (const PodIndex pod : pods) {
      std::vector<std::int32_t>& devices = draft_.snapshot.pods[pod.value()].devices;
      if (devices.empty()) continue;
      std::ranges::sort(devices);
      if (Failure failure = check_listed_devices(draft_, pod)) return failure;
      const DeviceUnits units = share_units(class_of(pod), draft_.problem.class_of(node_));
      for (const std::int32_t device : devices) {
        DeviceUnits& room = free_[static_cast<std::size_t>(device)];
        room -= units;
        if (room < 0)
          return does_not_fit(draft_, node_, "device " + std::to_string(device) + " is taken more than once");
      }
    }
    return {};
  }

  void add_needs(std::span<const PodIndex> pods, bool whole) {
    for (const PodIndex pod : pods) {
      const GpuRequest& gpu = class_of(pod).gpu;
      if (gpu.devices == 0 || (gpu.kind == GpuRequestKind::kWhole) != whole) continue;
      if (!draft_.snapshot.pods[pod.value()].devices.empty()) continue;
      const DeviceUnits units = share_units(class_of(pod), draft_.problem.class_of(node_));
      for (std::int32_t i = 0; i < gpu.devices; ++i) needs_.push_back({pod, units, i > 0});
    }
  }

  ProblemDraft& draft_;
  NodeIndex node_;
  std::vector<Amount> sums_;  // by resource
  std::vector<DeviceUnits> free_;
  std::vector<DeviceNeed> needs_;
};

Failure load_nodes(ProblemDraft& draft, IndexRange<NodeIndex> nodes, const PodsByNode& by_node) {
  NodeLoader loader(draft);
  for (const NodeIndex node : nodes) {
    const std::span<const PodIndex> pods = by_node.of(node);
    if (pods.empty()) continue;
    if (Failure failure = loader.load(node, pods)) return failure;
  }
  return {};
}

// Lists the devices of all pods one after the other, as the problem has them. Requires that they are counted.
void list_devices(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  std::uint32_t all = 0;
  for (Pod& pod : problem.pods) {
    if (!pod.node.is_none()) pod.devices_begin = std::exchange(all, all + pod.devices_count);
  }
  problem.running_devices.resize(all);
  const std::size_t pods = problem.pods.size(), ranges = ranges_for(pods, draft.threads);
  parallel_for(ranges, draft.threads, [&](std::size_t range) {
    for (const PodIndex index : range_of<PodIndex>(pods, range, ranges)) {
      const Pod& pod = problem.pods[index];
      if (pod.devices_count == 0) continue;
      std::ranges::copy(draft.snapshot.pods[index.value()].devices, &problem.running_devices[pod.devices_begin]);
    }
  });
}

}  // namespace

Failure assign_running_devices(ProblemDraft& draft) {
  const PodsByNode by_node = pods_by_node(draft.problem);
  const std::size_t nodes = draft.problem.nodes.size(), ranges = ranges_for(by_node.pods.size(), draft.threads);
  std::vector<Failure> failures(ranges);
  parallel_for(ranges, draft.threads, [&](std::size_t range) {
    failures[range] = load_nodes(draft, range_of<NodeIndex>(nodes, range, ranges), by_node);
  });
  for (Failure& failure : failures) {
    if (failure) return std::move(failure);
  }
  list_devices(draft);
  return {};
}

}  // namespace muster
