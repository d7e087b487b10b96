#include "model/build/node_checking.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "model/base/parallel.h"
#include "model/base/saturating.h"
#include "model/base/words.h"
#include "model/build/stages.h"

namespace muster {

NodeChecking::NodeChecking(ProblemDraft& draft, PodsByNode&& on_nodes) : draft_(draft) {
  next_.on_nodes = std::move(on_nodes);
  if (draft.links == nullptr) return;
  last_ = draft.links->checks->get();
  next_.versions.assign(next_.on_nodes.node_count(), 0);
  next_.given.resize(next_.on_nodes.node_count());
}

bool NodeChecking::is_as_before(NodeIndex node) {
  if (!last_ || node.value() >= last_->on_nodes.node_count()) return false;
  const std::uint64_t version = draft_.links->node_versions[node.value()];
  const std::span<const PodIndex> pods = pods_on(node);
  if (last_->versions[node.value()] != version || !std::ranges::equal(last_->on_nodes.of(node), pods)) return false;
  const std::vector<std::int32_t>& given = last_->given[node.value()];
  auto next = given.begin();
  for (std::size_t at = 0; at < pods.size() && next != given.end(); ++at) {
    if (devices_asked(pods[at]) == 0 || !devices_of(pods[at]).empty()) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(devices_asked(pods[at]));
    devices_of(pods[at]).assign(next, end);
    next = end;
  }
  next_.versions[node.value()] = version;
  next_.given[node.value()] = given;
  return true;
}

std::optional<NodeChecking::Unlisted> NodeChecking::unlisted(NodeIndex node) const {
  if (draft_.links == nullptr) return std::nullopt;
  Unlisted result;
  for (const PodIndex pod : pods_on(node)) {
    const std::vector<std::int32_t>& devices = devices_of(pod);
    if (devices.empty() && devices_asked(pod) > 0) result.pods.push_back(pod);
    result.is_reordered = result.is_reordered || !std::ranges::is_sorted(devices);
  }
  return result;
}

void NodeChecking::remember(NodeIndex node, const Unlisted& unlisted) {
  if (unlisted.is_reordered) return;
  next_.versions[node.value()] = draft_.links->node_versions[node.value()];
  for (const PodIndex pod : unlisted.pods)
    std::ranges::copy(devices_of(pod), std::back_inserter(next_.given[node.value()]));
}

void NodeChecking::keep() {
  if (draft_.links != nullptr) draft_.links->checks->set(std::make_shared<const NodeChecks>(std::move(next_)));
}

// What is on each node: that it fits, and on which devices it is.

namespace {

constexpr std::int64_t kSearchSteps = 20'000;  // of the search for devices, a node; first fit needs none of them

// Running and releasing pods.
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

// The fault in the list of devices of a pod; empty: none. Requires that they ascend. `is_clear`: the pod is on these
// devices, but the node does not report some of them.
std::string wrong_listing(const ProblemDraft& draft, PodIndex pod, bool& is_clear) {
  is_clear = false;
  const std::vector<std::int32_t>& devices = draft.snapshot.pods[pod.value()].devices;
  const std::int32_t asked = draft.problem.class_of(pod).gpu.devices;
  const std::int32_t count = draft.problem.class_of(draft.problem.pods[pod].node).device_count;
  if (std::ssize(devices) != asked)
    return "it lists " + std::to_string(devices.size()) + " devices but requests " + std::to_string(asked);
  if (std::ranges::adjacent_find(devices) != devices.end()) return "a device is listed twice";
  is_clear = devices.front() >= 0;
  if (devices.front() < 0 || devices.back() >= count)
    return "its node has " + counted(count, "device") + ", numbered from 0";
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

  // The device of each need, in their order; empty if none is found. First fit, in the order given; failing that, a
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

  // The devices of one pod's needs by first fit, and takes their room; empty if there are not enough.
  std::vector<std::int32_t> take(std::span<const DeviceNeed> needs) {
    std::vector<std::int32_t> devices;
    for (std::size_t device = 0; device < free_.size() && devices.size() < needs.size(); ++device) {
      if (free_[device] >= needs.front().units) devices.push_back(static_cast<std::int32_t>(device));
    }
    if (devices.size() < needs.size()) return {};
    for (const std::int32_t device : devices) free_[static_cast<std::size_t>(device)] -= needs.front().units;
    return devices;
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

  // `excess().what` is empty if all that is on the node fits. Gives devices to all pods in either case.
  void load(NodeIndex node, std::span<const PodIndex> pods) {
    excess_ = {};
    excess_.node = node_ = node;
    misfit_.reset();
    add_resources(pods);
    assign_devices(pods);
    if (excess_.devices > 0)
      for (const PodIndex pod : pods) excess_.devices_asked += class_of(pod).gpu.devices;
  }
  const NodeExcess& excess() const { return excess_; }
  // The sum of some resource has no number.
  bool is_beyond_counting() const {
    return std::ranges::any_of(excess_.used, [](const ResourceAmount& used) { return used.amount == kLargest; });
  }
  // The same as an error.
  InputError misfit() const {
    if (misfit_) return *misfit_;
    std::string message("the running pods of node \"");
    message.append(draft_.snapshot.nodes[node_.value()].name).append("\" do not fit: ").append(excess_.what);
    return {ErrorCode::kDoesNotFit, path_to("nodes", node_.value(), ""), std::move(message)};
  }

 private:
  const PodClass& class_of(PodIndex pod) const { return draft_.problem.class_of(pod); }
  std::vector<std::int32_t>& devices_of(PodIndex pod) { return draft_.snapshot.pods[pod.value()].devices; }

  void tell(std::string_view what) {
    if (!excess_.what.empty()) excess_.what += ", ";
    excess_.what += what;
  }

  void add_resources(std::span<const PodIndex> pods) {
    sums_.assign(draft_.problem.resource_count, 0);
    for (const PodIndex pod : pods) std::ranges::transform(sums_, class_of(pod).request, sums_.begin(), saturating_add);
    for (const ResourceIndex resource : draft_.snapshot.resource_names.indices()) {
      const Amount sum = sums_[resource.value()];
      const Amount capacity = draft_.problem.class_of(node_).capacity[resource.value()];
      if (sum <= capacity && sum < kLargest) continue;
      excess_.used.push_back({resource, sum});
      tell(std::string(draft_.snapshot.resource_names[resource]) + " " + std::to_string(sum) + " of " +
           std::to_string(capacity));
    }
  }

  void assign_devices(std::span<const PodIndex> pods) {
    beyond_ = draft_.problem.class_of(node_).device_count;
    free_.assign(static_cast<std::size_t>(beyond_), draft_.problem.device_capacity(node_));
    needs_.clear();
    take_listed(pods);
    add_needs(pods, true);
    add_needs(pods, false);
    if (needs_.empty()) return;
    const std::vector<std::int32_t> devices = DeviceSearch(free_).find(needs_);
    if (devices.size() != needs_.size()) return assign_one_by_one();
    for (std::size_t i = 0; i < needs_.size(); ++i) devices_of(needs_[i].pod).push_back(devices[i]);
  }

  void take_listed(std::span<const PodIndex> pods) {
    for (const PodIndex pod : pods) {
      std::vector<std::int32_t>& devices = devices_of(pod);
      if (devices.empty()) continue;
      std::ranges::sort(devices);
      bool is_clear = false;
      if (std::string wrong = wrong_listing(draft_, pod, is_clear); !wrong.empty()) {
        if (excess_.what.empty())
          misfit_ = InputError{ErrorCode::kInvalidValue, path_to("pods", pod.value(), "gpus"), wrong};
        tell("pod \"" + std::string(draft_.snapshot.pods[pod.value()].name) + "\": " + wrong);
        excess_.devices_unclear = excess_.devices_unclear || !is_clear;
        if (!is_clear) give_beyond(pod);
      }
      if (is_clear) take_listed(pod);
    }
  }

  void take_listed(PodIndex pod) {
    const DeviceUnits units = share_units(class_of(pod), draft_.problem.class_of(node_));
    const auto count = std::ssize(free_);
    const auto room = [&](std::int32_t device) -> DeviceUnits& { return free_[static_cast<std::size_t>(device)]; };
    for (const std::int32_t device : devices_of(pod)) {
      if (device >= count || room(device) >= units) continue;
      tell("device " + std::to_string(device) + " is used more than once");
      excess_.devices_unclear = true;
      return give_beyond(pod);
    }
    for (std::int32_t& device : devices_of(pod)) {
      if (device < count) {
        room(device) -= units;
      } else {
        device = one_beyond();
      }
    }
  }

  void add_needs(std::span<const PodIndex> pods, bool whole) {
    for (const PodIndex pod : pods) {
      const GpuRequest& gpu = class_of(pod).gpu;
      if (gpu.devices == 0 || (gpu.kind == GpuRequestKind::kWhole) != whole) continue;
      if (!devices_of(pod).empty()) continue;
      const DeviceUnits units = share_units(class_of(pod), draft_.problem.class_of(node_));
      for (std::int32_t i = 0; i < gpu.devices; ++i) needs_.push_back({pod, units, i > 0});
    }
  }

  // Not all of them get devices: as many as do by first fit, large before small.
  void assign_one_by_one() {
    tell("no devices are left for pods that do not list any");
    DeviceSearch search(free_);
    for (std::size_t at = 0; at < needs_.size();) {
      const PodIndex pod = needs_[at].pod;
      const auto count = static_cast<std::size_t>(class_of(pod).gpu.devices);
      devices_of(pod) = search.take(std::span(needs_).subspan(at, count));
      if (devices_of(pod).empty()) give_beyond(pod);
      at += count;
    }
  }

  // Devices that the node does not report: each is its own.
  void give_beyond(PodIndex pod) {
    devices_of(pod).resize(static_cast<std::size_t>(class_of(pod).gpu.devices));
    std::ranges::generate(devices_of(pod), [this] { return one_beyond(); });
  }
  std::int32_t one_beyond() {
    excess_.devices = ++beyond_;
    return beyond_ - 1;
  }

  ProblemDraft& draft_;
  NodeIndex node_;
  NodeExcess excess_;
  std::optional<InputError> misfit_;  // that is not of the node, but of a pod
  std::vector<Amount> sums_;          // by resource
  std::vector<DeviceUnits> free_;
  std::int32_t beyond_ = 0;  // the first device that no pod holds
  std::vector<DeviceNeed> needs_;
};

// Pods that do not fit on some of the nodes, and the first of them that is an error.
struct Misfits {
  std::vector<NodeExcess> excesses;
  Failure failure;
};

Misfits load_nodes(ProblemDraft& draft, IndexRange<NodeIndex> nodes, NodeChecking& checking) {
  NodeLoader loader(draft);
  Misfits misfits;
  for (const NodeIndex node : nodes) {
    const std::span<const PodIndex> pods = checking.pods_on(node);
    if (pods.empty() || checking.is_as_before(node)) continue;
    const std::optional<NodeChecking::Unlisted> unlisted = checking.unlisted(node);
    loader.load(node, pods);
    if (loader.excess().what.empty()) {
      if (unlisted) checking.remember(node, *unlisted);
      continue;
    }
    if (draft.snapshot.anomalies.strict || loader.is_beyond_counting()) {
      misfits.failure = loader.misfit();
      return misfits;
    }
    misfits.excesses.push_back(loader.excess());
  }
  return misfits;
}

// Lists the devices of all pods one after the other, as the problem has them.
void list_devices(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  std::uint32_t all = 0;
  for (const PodIndex index : problem.pods.indices()) {
    Pod& pod = problem.pods[index];
    if (pod.node.is_none()) continue;
    pod.devices_count = static_cast<std::uint32_t>(draft.snapshot.pods[index.value()].devices.size());
    pod.devices_begin = std::exchange(all, all + pod.devices_count);
  }
  problem.lists.running_devices.resize(all);
  const std::size_t pods = problem.pods.size(), ranges = ranges_for(pods, draft.threads);
  parallel_for(ranges, draft.threads, [&](std::size_t range) {
    for (const PodIndex index : range_of<PodIndex>(pods, range, ranges)) {
      const Pod& pod = problem.pods[index];
      if (pod.devices_count == 0) continue;
      std::ranges::copy(draft.snapshot.pods[index.value()].devices, &problem.lists.running_devices[pod.devices_begin]);
    }
  });
}

}  // namespace

Failure assign_running_devices(ProblemDraft& draft) {
  PodsByNode by_node = pods_by_node(draft.problem);
  const std::size_t nodes = draft.problem.nodes.size(), ranges = ranges_for(by_node.pods.size(), draft.threads);
  NodeChecking checking(draft, std::move(by_node));
  std::vector<Misfits> misfits(ranges);
  parallel_for(ranges, draft.threads, [&](std::size_t range) {
    misfits[range] = load_nodes(draft, range_of<NodeIndex>(nodes, range, ranges), checking);
  });
  std::vector<NodeExcess> excesses;
  for (Misfits& part : misfits) {
    if (part.failure) return std::move(part.failure);
    std::ranges::move(part.excesses, std::back_inserter(excesses));
  }
  checking.keep();
  list_devices(draft);
  close_exceeded(draft, excesses);
  return {};
}

}  // namespace muster
