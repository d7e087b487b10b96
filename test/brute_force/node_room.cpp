#include "test/brute_force/node_room.h"

#include <algorithm>

#include "model/problem/exceeded.h"

namespace muster::brute_force {
namespace {

// Puts arriving pods on devices, one after another.
class DeviceSearch {
 public:
  DeviceSearch(const Problem& problem, const Cast& cast, NodeIndex node)
      : problem_(problem), cast_(cast), node_(node), node_class_(problem.class_of(node)) {
    devices_.resize(static_cast<std::size_t>(node_class_.device_count));
    const auto reported = static_cast<std::size_t>(as_reported(problem, node_class_).device_count);
    for (std::size_t d = 0; d < reported; ++d) devices_[d].free = problem.device_capacity(node);
  }

  void stay(ActorSet set) {
    for_each_actor(set, [this](std::size_t actor) {
      const PodIndex pod = cast_.actors[actor].pod;
      for (const std::int32_t device : problem_.devices_of(pod)) at(device).free -= units(pod);
    });
    for (Device& device : devices_) device.free_at_first = device.free;
  }
  // Distinguishes the devices by the pods that leave them.
  void leave(ActorSet set) {
    tells_moves_ = true;
    for_each_actor(set, [this](std::size_t actor) {
      for (const std::int32_t device : problem_.devices_of(cast_.actors[actor].pod)) at(device).left_by |= only(actor);
    });
  }

  // Calls visit(arrangement) for every way until that returns true; whether it did.
  template <class Visit>
  bool search(ActorSet come, const Visit& visit) {
    if (come == 0) return visit(puts_);
    const auto actor = static_cast<std::size_t>(std::countr_zero(come));
    const PodClass& pod_class = problem_.class_of(cast_.actors[actor].pod);
    if (pod_class.gpu.kind == GpuRequestKind::kMemory && node_class_.device_memory_mib == 0) return false;
    puts_.push_back({actor, {}});
    const bool done = choose(actor, pod_class.gpu.devices, 0, come & (come - 1), visit);
    puts_.pop_back();
    return done;
  }

 private:
  struct Device {
    DeviceUnits free = 0, free_at_first = 0;
    ActorSet left_by = 0, taken_by = 0;
    bool is_like(const Device& other) const {
      return free_at_first == other.free_at_first && left_by == other.left_by && taken_by == other.taken_by;
    }
  };
  Device& at(std::int32_t device) { return devices_[static_cast<std::size_t>(device)]; }
  DeviceUnits units(PodIndex pod) const { return share_units(problem_.class_of(pod), node_class_); }

  bool stands_there_already(const Put& put) const {
    return tells_moves_ && cast_.actors[put.actor].home == node_ &&
           std::ranges::equal(put.devices, problem_.devices_of(cast_.actors[put.actor].pod));
  }

  template <class Visit>
  bool choose(std::size_t actor, std::int32_t missing, std::int32_t first, ActorSet rest, const Visit& visit) {
    if (missing == 0) return !stands_there_already(puts_.back()) && search(rest, visit);
    const DeviceUnits share = units(cast_.actors[actor].pod);
    for (std::int32_t d = first; d < node_class_.device_count; ++d) {
      Device& device = at(d);
      if (device.free < share) continue;
      // Of devices that are alike the first ones are taken; one that this pod has taken is not like them any more.
      bool is_first = true;
      for (std::int32_t e = 0; e < d; ++e) is_first = is_first && !at(e).is_like(device);
      if (!is_first) continue;
      device.free -= share;
      device.taken_by |= only(actor);
      puts_.back().devices.push_back(d);
      const bool done = choose(actor, missing - 1, d + 1, rest, visit);
      puts_.back().devices.pop_back();
      device.taken_by &= ~only(actor);
      device.free += share;
      if (done) return true;
    }
    return false;
  }

  const Problem& problem_;
  const Cast& cast_;
  NodeIndex node_;
  const NodeClass& node_class_;
  std::vector<Device> devices_;
  Arrangement puts_;
  bool tells_moves_ = false;
};

}  // namespace

// Of resources that no arriving pod asks for, the staying pods may hold more than there is.
bool NodeResidual::resources_fit(NodeIndex node, ActorSet stay, ActorSet come) const {
  const std::vector<Amount>& capacity = as_reported(problem_, problem_.class_of(node)).capacity;
  for (std::size_t r = 0; r < capacity.size(); ++r) {
    Amount coming = 0, sum = 0;
    const auto request = [&](std::size_t actor) { return problem_.class_of(cast_.actors[actor].pod).request[r]; };
    for_each_actor(come, [&](std::size_t actor) { coming += request(actor); });
    for_each_actor(stay | come, [&](std::size_t actor) { sum += request(actor); });
    if (coming > 0 && sum > capacity[r]) return false;
  }
  return true;
}

bool NodeResidual::fits(NodeIndex node, ActorSet stay, ActorSet come) {
  const std::uint64_t key = (std::uint64_t{node.value()} << 32U) | (std::uint64_t{stay} << 16U) | come;
  const auto [at, is_new] = known_.try_emplace(key, false);
  if (!is_new) return at->second;
  if (!resources_fit(node, stay, come)) return false;
  DeviceSearch search(problem_, cast_, node);
  search.stay(stay);
  return at->second = search.search(come, [](const Arrangement&) { return true; });
}

std::vector<Arrangement> NodeResidual::arrangements(NodeIndex node, ActorSet stay, ActorSet come) const {
  std::vector<Arrangement> all;
  if (!resources_fit(node, stay, come)) return all;
  DeviceSearch search(problem_, cast_, node);
  search.stay(stay);
  search.leave(cast_.at_home[node] & ~stay);
  search.search(come, [&all](const Arrangement& arrangement) {
    all.push_back(arrangement);
    return false;
  });
  return all;
}

}  // namespace muster::brute_force
