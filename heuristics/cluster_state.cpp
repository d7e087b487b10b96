#include "heuristics/cluster_state.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/saturating.h"

namespace muster {

Place snapshot_place(const Problem& problem, PodIndex pod) {
  const auto devices = problem.devices_of(pod);
  return {problem.pods[pod].node, devices};
}

bool is_home(const ClusterState& state, PodIndex pod) {
  const Place& place = state.place_of(pod);
  return place.node == state.problem().pods[pod].node &&
         std::ranges::equal(place.devices, state.problem().devices_of(pod));
}

ClusterState::ClusterState(const Problem& problem, Releasing releasing)
    : problem_(&problem),
      places_(problem.pods.size()),
      usage_(problem.queues.size(), QueueAmounts{}),
      non_preemptible_usage_(problem.queues.size(), QueueAmounts{}),
      members_(problem.groups.size(), 0),
      departed_(problem.nodes.size(), 0),
      versions_(problem.gangs.size(), 0),
      pods_on_(problem.nodes.size()),
      owners_(problem.anti_affinities.size()),
      matched_(problem.anti_affinities.size()) {
  buckets_ = std::clamp<std::size_t>(problem.priorities.size(), 1, kPriorityBuckets);
  usage_by_priority_.assign(problem.queues.size() * buckets_, QueueAmounts{});
  node_versions_.assign(problem.nodes.size(), 0);
  free_in_sum_.assign(problem.resource_count, 0);
  free_.reserve(problem.nodes.size() * problem.resource_count);
  device_begin_.push_back(0);
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    free_.insert(free_.end(), node_class.capacity.begin(), node_class.capacity.end());
    const auto devices = static_cast<std::size_t>(node_class.device_count);
    free_devices_.insert(free_devices_.end(), devices, problem.device_capacity(node));
    device_begin_.push_back(static_cast<std::uint32_t>(free_devices_.size()));
    idle_devices_.push_back(node_class.device_count);
    for (std::size_t r = 0; r < problem.resource_count; ++r)
      free_in_sum_[r] = saturating_add(free_in_sum_[r], node_class.capacity[r]);
    free_devices_in_sum_ += node_class.device_count * micro_gpu(node, problem.device_capacity(node));
  }
  for (const AntiAffinityIndex term : problem.anti_affinities.indices()) {
    owners_[term].assign(problem.anti_affinities[term].domain_count, 0);
    matched_[term].assign(problem.anti_affinities[term].domain_count, 0);
  }
  for (const PodIndex pod : problem.pods.indices()) {
    const Pod& p = problem.pods[pod];
    if (p.status == PodStatus::kRunning) {
      ++departed_[p.node];
      apply(pod, snapshot_place(problem, pod), true);
    } else if (p.status == PodStatus::kReleasing && releasing == Releasing::kHeld && !p.node.is_none()) {
      // It holds room, but it is not present: its usage is gone and its gang does not count it.
      hold_room(pod, snapshot_place(problem, pod), true);
    } else if (p.status == PodStatus::kSucceeded) {
      ++members_[p.group];
    }
  }
  touched_.clear();
  changed_gangs_.clear();
}

MicroGpu ClusterState::micro_gpu(NodeIndex node, DeviceUnits units) const {
  if (units <= 0) return 0;
  const DeviceUnits whole = problem_->device_capacity(node);
  if (units == whole) return 1'000'000;
  const DeviceUnits mib = whole / 1'000'000;  // a whole device has so many MiB, or one where that is not known
  if (mib == 1) return units;
  return (units + mib - 1) / mib;
}

void ClusterState::put(PodIndex pod, NodeIndex node, const DeviceList& devices) {
  log_.push_back({pod, {node, devices}, true});
  apply(pod, log_.back().place, true);
}

void ClusterState::take(PodIndex pod) {
  log_.push_back({pod, places_[pod], false});
  apply(pod, log_.back().place, false);
}

void ClusterState::rollback(Checkpoint checkpoint) {
  while (log_.size() > checkpoint) {
    const Change change = std::move(log_.back());
    log_.pop_back();
    apply(change.pod, change.place, !change.put);
  }
}

void ClusterState::apply(PodIndex pod, const Place& place, bool put) {
  hold_room(pod, place, put);
  count_usage(pod, place.node, put);
  const Pod& p = problem_->pods[pod];
  members_[p.group] += put ? 1 : -1;
  ++versions_[p.gang];
  if (p.status == PodStatus::kRunning && p.node == place.node) departed_[place.node] += put ? -1 : 1;
  std::vector<PodIndex>& here = pods_on_[place.node];
  if (put) {
    here.push_back(pod);
  } else {
    here.erase(std::ranges::find(here, pod));
  }
  if (put) {
    places_[pod] = place;
  } else {
    places_[pod].node = NodeIndex::none();
  }
  touched_.push_back(place.node);
  changed_gangs_.push_back(p.gang);
  ++node_versions_[place.node];
}

void ClusterState::hold_room(PodIndex pod, const Place& place, bool hold) {
  const PodClass& pod_class = problem_->class_of(pod);
  Amount* free = free_.data() + place.node.value() * problem_->resource_count;
  for (std::size_t r = 0; r < problem_->resource_count; ++r) {
    const Amount change = hold ? -pod_class.request[r] : pod_class.request[r];
    free[r] += change;
    free_in_sum_[r] += change;
  }
  if (!place.devices.empty()) {
    const DeviceUnits units = share_units(pod_class, problem_->class_of(place.node));
    const DeviceUnits whole = problem_->device_capacity(place.node);
    for (const std::int32_t device : place.devices) {
      DeviceUnits& room = free_devices_[device_begin_[place.node.value()] + static_cast<std::uint32_t>(device)];
      const bool was_idle = room == whole;
      free_devices_in_sum_ -= micro_gpu(place.node, room);
      room += hold ? -units : units;
      free_devices_in_sum_ += micro_gpu(place.node, room);
      idle_devices_[place.node.value()] += (room == whole ? 1 : 0) - (was_idle ? 1 : 0);
    }
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
