#include "heuristics/cluster_state.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "model/saturating.h"

namespace muster {

namespace {

constexpr std::int32_t kPlaceBits = 31;  // devices that a place has bits for; the last bit of 32 says that it has none

}  // namespace

Place snapshot_place(const Problem& problem, PodIndex pod) {
  const auto devices = problem.devices_of(pod);
  return {problem.pods[pod].node, devices};
}

bool is_home(const ClusterState& state, PodIndex pod) {
  const Problem& problem = state.problem();
  return state.is_at(pod, problem.pods[pod].node, problem.devices_of(pod));
}

ClusterState::ClusterState(const Problem& problem, Releasing releasing)
    : problem_(&problem),
      places_(problem.pods.size()),
      usage_(problem.queues.size(), QueueAmounts{}),
      non_preemptible_usage_(problem.queues.size(), QueueAmounts{}),
      members_(problem.groups.size(), 0),
      versions_(problem.gangs.size(), 0),
      owners_(problem.anti_affinities.size()),
      matched_(problem.anti_affinities.size()) {
  buckets_ = std::clamp<std::size_t>(problem.priorities.size(), 1, kPriorityBuckets);
  usage_by_priority_.assign(problem.queues.size() * buckets_, QueueAmounts{});
  list_nodes();
  for (const AntiAffinityIndex term : problem.anti_affinities.indices()) {
    owners_[term].assign(problem.anti_affinities[term].domain_count, 0);
    matched_[term].assign(problem.anti_affinities[term].domain_count, 0);
  }
  constexpr std::size_t kAhead = 12;
  const std::vector<Pod>& pods = problem.pods.raw();
  for (const PodIndex pod : problem.pods.indices()) {
    const Pod& p = pods[pod.value()];
    const std::size_t soon = pod.value() + kAhead, later = soon + kAhead;
    if (later < pods.size() && !pods[later].node.is_none()) fetch(pods[later].node);
    if (soon < pods.size() && !pods[soon].node.is_none()) fetch_devices(pods[soon].node);
    if (p.status == PodStatus::kRunning) {
      ++nodes_[p.node].departed;
      apply(pod, held(p.node, problem.devices_of(pod)), true);
    } else if (p.status == PodStatus::kReleasing && releasing == Releasing::kHeld && !p.node.is_none()) {
      // It holds room, but it is not present: its usage is gone and its gang does not count it.
      hold_room(pod, held(p.node, problem.devices_of(pod)), true);
    } else if (p.status == PodStatus::kSucceeded) {
      ++members_[p.group];
    }
  }
  touched_.clear();
  changed_gangs_.clear();
}

void ClusterState::list_nodes() {
  constexpr std::uint32_t kSpareRoom = 4;  // pods more than run on a node, before its list has to grow
  const Problem& problem = *problem_;
  Indexed<NodeIndex, std::uint32_t> running(problem.nodes.size(), 0);
  for (const Pod& pod : problem.pods) {
    if (pod.status == PodStatus::kRunning) ++running[pod.node];
  }
  pods_on_.reserve(problem.pods.size() + kSpareRoom * problem.nodes.size());
  free_in_sum_.assign(problem.resource_count, 0);
  free_.reserve(problem.nodes.size() * problem.resource_count);
  nodes_.reserve(problem.nodes.size());
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    const auto devices = static_cast<std::uint32_t>(node_class.device_count);
    const DeviceUnits whole = problem.device_capacity(node);
    nodes_.push_back({problem.nodes[node].node_class, static_cast<std::uint32_t>(free_devices_.size()), devices,
                      node_class.device_count, 0, pods_on_.make(running[node] + kSpareRoom), 0});
    free_.insert(free_.end(), node_class.capacity.begin(), node_class.capacity.end());
    free_devices_.insert(free_devices_.end(), devices, whole);
    for (std::size_t r = 0; r < problem.resource_count; ++r)
      free_in_sum_[r] = saturating_add(free_in_sum_[r], node_class.capacity[r]);
    free_devices_in_sum_ += node_class.device_count * micro_gpu(whole, whole);
  }
}

// --- Places

ClusterState::Held ClusterState::held(NodeIndex node, std::span<const std::int32_t> devices) {
  Held place{node, 0};
  for (const std::int32_t device : devices) {
    if (device >= kPlaceBits) {
      const auto next = static_cast<std::uint32_t>(listed_.size());
      const auto [at, is_new] = listed_at_.try_emplace({devices.begin(), devices.end()}, next);
      if (is_new) listed_.emplace_back(devices);
      return {node, kListed | at->second};
    }
    place.devices |= std::uint32_t{1} << device;
  }
  return place;
}

template <class Visit>
void ClusterState::for_each_device(const Held& place, const Visit& visit) const {
  if ((place.devices & kListed) != 0) {
    for (const std::int32_t device : listed_[place.devices & ~kListed]) visit(device);
    return;
  }
  for (std::uint32_t left = place.devices; left != 0; left &= left - 1) visit(std::countr_zero(left));
}

DeviceList ClusterState::devices_of(const Held& place) const {
  if ((place.devices & kListed) != 0) return listed_[place.devices & ~kListed];
  std::array<std::int32_t, kPlaceBits> devices;
  std::size_t count = 0;
  for_each_device(place, [&](std::int32_t device) { devices[count++] = device; });
  return std::span<const std::int32_t>(devices.data(), count);
}

bool ClusterState::is_at(PodIndex pod, NodeIndex node, std::span<const std::int32_t> devices) const {
  const Held& place = places_[pod];
  if (place.node != node) return false;
  std::size_t i = 0;
  bool is_same = true;
  for_each_device(place, [&](std::int32_t device) {
    is_same = is_same && i < devices.size() && devices[i] == device;
    ++i;
  });
  return is_same && i == devices.size();
}

// --- Changes

MicroGpu ClusterState::micro_gpu(DeviceUnits whole, DeviceUnits units) {
  if (units <= 0) return 0;
  if (units == whole) return 1'000'000;
  const DeviceUnits mib = whole / 1'000'000;  // a whole device has so many MiB, or one where that is not known
  if (mib == 1) return units;
  return (units + mib - 1) / mib;
}

void ClusterState::put(PodIndex pod, NodeIndex node, const DeviceList& devices) {
  log_.push_back({pod, held(node, devices), true});
  apply(pod, log_.back().place, true);
}

void ClusterState::take(PodIndex pod) {
  log_.push_back({pod, places_[pod], false});
  apply(pod, log_.back().place, false);
}

void ClusterState::rollback(Checkpoint checkpoint) {
  while (log_.size() > checkpoint) {
    const Change change = log_.back();
    log_.pop_back();
    apply(change.pod, change.place, !change.put);
  }
}

void ClusterState::apply(PodIndex pod, const Held& place, bool put) {
  hold_room(pod, place, put);
  count_usage(pod, place.node, put);
  const Pod& p = problem_->pods[pod];
  members_[p.group] += put ? 1 : -1;
  ++versions_[p.gang];
  OnNode& node = nodes_[place.node];
  if (p.status == PodStatus::kRunning && p.node == place.node) node.departed += put ? -1 : 1;
  if (put) {
    pods_on_.add(node.pods, pod);
    places_[pod] = place;
  } else {
    pods_on_.remove(node.pods, pod);
    places_[pod].node = NodeIndex::none();
  }
  touched_.push_back(place.node);
  changed_gangs_.push_back(p.gang);
  ++node.version;
}

void ClusterState::hold_room(PodIndex pod, const Held& place, bool hold) {
  const PodClass& pod_class = problem_->class_of(pod);
  Amount* free = free_.data() + place.node.value() * problem_->resource_count;
  for (std::size_t r = 0; r < problem_->resource_count; ++r) {
    const Amount change = hold ? -pod_class.request[r] : pod_class.request[r];
    free[r] += change;
    free_in_sum_[r] += change;
  }
  if (place.devices != 0) {
    OnNode& node = nodes_[place.node];
    const NodeClass& node_class = problem_->node_classes[node.node_class];
    const DeviceUnits units = share_units(pod_class, node_class);
    const DeviceUnits whole = node_class.device_capacity();
    for_each_device(place, [&](std::int32_t device) {
      DeviceUnits& room = free_devices_[node.first_device + static_cast<std::uint32_t>(device)];
      const bool was_idle = room == whole;
      free_devices_in_sum_ -= micro_gpu(whole, room);
      room += hold ? -units : units;
      free_devices_in_sum_ += micro_gpu(whole, room);
      node.idle_devices += (room == whole ? 1 : 0) - (was_idle ? 1 : 0);
    });
  }
  count_anti_affinity(pod_class, place.node, hold);
}

void ClusterState::count_usage(PodIndex pod, NodeIndex node, bool put) {
  const Gang& gang = problem_->gangs[problem_->pods[pod].gang];
  if (gang.queue.is_none()) return;
  const QueueAmounts used = queue_usage(problem_->class_of(pod), problem_->class_of(node));
  const std::size_t bucket = bucket_of(gang.priority);
  for (const QueueIndex queue : problem_->queues[gang.queue].ancestors) {
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount change = put ? used[r] : -used[r];
      usage_[queue][r] += change;
      usage_by_priority_[queue.value() * buckets_ + bucket][r] += change;
      if (!gang.preemptible) non_preemptible_usage_[queue][r] += change;
    }
  }
}

std::size_t ClusterState::bucket_of(std::int32_t priority) const {
  const auto& all = problem_->priorities;  // highest first
  if (buckets_ <= 1) return 0;
  const auto rank = static_cast<std::size_t>(std::ranges::lower_bound(all, priority, std::greater<>{}) - all.begin());
  return std::min(rank, all.empty() ? 0 : all.size() - 1) * buckets_ / std::max<std::size_t>(1, all.size());
}

QueueAmounts ClusterState::usage_from(QueueIndex queue, std::int32_t priority) const {
  QueueAmounts sum{};
  for (std::size_t bucket = 0; bucket <= bucket_of(priority); ++bucket) {
    for (std::size_t r = 0; r < kQueueResources; ++r)
      sum[r] += usage_by_priority_[queue.value() * buckets_ + bucket][r];
  }
  return sum;
}

void ClusterState::count_anti_affinity(const PodClass& pod_class, NodeIndex node, bool put) {
  const auto count = [&](const std::vector<AntiAffinityIndex>& terms, auto& counters) {
    for (const AntiAffinityIndex term : terms) {
      const DomainIndex domain = problem_->anti_affinities[term].domain_of[node];
      if (!domain.is_none()) counters[term][domain.value()] += put ? 1 : -1;
    }
  };
  count(pod_class.anti_affinity_owned, owners_);
  count(pod_class.anti_affinity_matched, matched_);
}

}  // namespace muster
