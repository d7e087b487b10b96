#include "heuristics/state/cluster_state.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>

#include "model/base/parallel.h"
#include "model/base/saturating.h"
#include "model/problem/exceeded.h"

namespace muster {

namespace {

constexpr std::int32_t kPlaceBits = 31;  // devices that a place has bits for; the last of 32 bits: none

bool holds_room(const Pod& pod, ClusterState::Releasing releasing) {
  if (pod.status == PodStatus::kRunning) return true;
  return pod.status == PodStatus::kReleasing && releasing == ClusterState::Releasing::kHeld && !pod.node.is_none();
}

}  // namespace

Place snapshot_place(const Problem& problem, PodIndex pod) {
  const auto devices = problem.devices_of(pod);
  return {problem.pods[pod].node, devices};
}

bool is_home(const ClusterState& state, PodIndex pod) {
  const Problem& problem = state.problem();
  return state.is_at(pod, problem.pods[pod].node, problem.devices_of(pod));
}

ClusterState::ClusterState(const Problem& problem, Releasing releasing, int threads)
    : problem_(&problem),
      places_(problem.pods.size()),
      usage_(problem.queues.size(), QueueAmounts{}),
      non_preemptible_usage_(problem.queues.size(), QueueAmounts{}),
      members_(problem.groups.size(), 0),
      versions_(problem.gangs.size(), 0),
      owners_(problem.anti_affinities.size()),
      matched_(problem.anti_affinities.size()),
      company_(problem),
      wishes_(problem) {
  budgets_left_.reserve(problem.disruption_budgets.all().size());
  for (const DisruptionBudget& budget : problem.disruption_budgets.all()) budgets_left_.push_back(budget.allowed);
  buckets_ = std::clamp<std::size_t>(problem.priorities.size(), 1, kPriorityBuckets);
  usage_by_priority_.assign(problem.queues.size() * buckets_, QueueAmounts{});
  list_nodes();
  for (const AntiAffinityIndex term : problem.anti_affinities.indices()) {
    owners_[term].assign(problem.anti_affinities[term].domain_count, 0);
    matched_[term].assign(problem.anti_affinities[term].domain_count, 0);
  }
  // Counts by gang, queue and domain are one task; the nodes are divided among the others. Device lists that have no
  // bits are shared by all nodes.
  const bool has_lists =
      std::ranges::any_of(problem.node_classes, [](const NodeClass& c) { return c.device_count > kPlaceBits; });
  const std::size_t ranges = has_lists ? 1 : ranges_for(2 * problem.pods.size(), threads);
  parallel_for(1 + ranges, has_lists ? 1 : threads, [&](std::size_t task) {
    if (task == 0) {
      begin_gangs_and_queues(releasing);
    } else {
      begin_nodes(range_of<NodeIndex>(problem.nodes.size(), task - 1, ranges), releasing);
    }
  });
  count_free_in_sum();
}

void ClusterState::list_nodes() {
  constexpr std::uint32_t kSpareRoom = 4;  // pods more than run on a node, before its list has to grow
  const Problem& problem = *problem_;
  Indexed<NodeIndex, std::uint32_t> running(problem.nodes.size(), 0);
  for (const Pod& pod : problem.pods) {
    if (pod.status == PodStatus::kRunning) ++running[pod.node];
  }
  pods_on_.reserve(problem.pods.size() + kSpareRoom * problem.nodes.size());
  free_.reserve(problem.nodes.size() * problem.resource_count);
  nodes_.reserve(problem.nodes.size());
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    const auto devices = static_cast<std::uint32_t>(node_class.device_count),
               reported = static_cast<std::uint32_t>(as_reported(problem, node_class).device_count);
    const DeviceUnits whole = problem.device_capacity(node);
    nodes_.push_back({problem.nodes[node].node_class, static_cast<std::uint32_t>(free_devices_.size()), devices,
                      as_reported(problem, node_class).device_count, 0, pods_on_.make(running[node] + kSpareRoom), 0});
    const std::vector<Amount>& capacity = as_reported(problem, node_class).capacity;
    free_.insert(free_.end(), capacity.begin(), capacity.end());
    free_devices_.insert(free_devices_.end(), reported, whole);
    free_devices_.insert(free_devices_.end(), devices - reported, 0);  // these return none of it
  }
}

// The contribution of the snapshot's pods to their gangs and queues, and to domains of anti-affinity.
void ClusterState::begin_gangs_and_queues(Releasing releasing) {
  for (const PodIndex pod : problem_->pods.indices()) {
    const Pod& p = problem_->pods[pod];
    if (p.status == PodStatus::kRunning) {
      count_in_gang(pod, p.node, true);
    } else if (p.status == PodStatus::kSucceeded) {
      ++members_[p.group];
    }
    if (holds_room(p, releasing)) count_anti_affinity(problem_->class_of(pod), p.node, true);
    if (p.status != PodStatus::kRunning) continue;
    company_.count(*problem_, problem_->class_of(pod), p.node, true);
    wishes_.count(problem_->class_of(pod), p.node, 0, true);
  }
}

// Their contribution to these nodes. A releasing pod holds resources but is not present: its usage is gone and its gang
// does not count it.
void ClusterState::begin_nodes(const IndexRange<NodeIndex>& nodes, Releasing releasing) {
  constexpr std::size_t kAhead = 12;
  const std::vector<Pod>& pods = problem_->pods.raw();
  const auto is_here = [&](NodeIndex node) { return *nodes.begin() <= node && node < *nodes.end(); };  // not of none
  for (const PodIndex pod : problem_->pods.indices()) {
    const Pod& p = pods[pod.value()];
    const std::size_t soon = pod.value() + kAhead, later = soon + kAhead;
    if (later < pods.size() && is_here(pods[later].node)) fetch(pods[later].node);
    if (soon < pods.size() && is_here(pods[soon].node)) fetch_devices(pods[soon].node);
    if (!is_here(p.node) || !holds_room(p, releasing)) continue;
    const Held place = held(p.node, problem_->devices_of(pod));
    hold_room(problem_->class_of(pod), place, true);
    if (p.status != PodStatus::kRunning) continue;
    ++nodes_[p.node].departed;
    note_on_node(pod, place, true);
  }
}

// A negative free amount of a node (rule Exceeded) counts as zero: the total that can become free is at most what then
// leaves.
void ClusterState::count_free_in_sum() {
  free_in_sum_.assign(problem_->resource_count, 0);
  for (const NodeIndex node : problem_->nodes.indices()) {
    const DeviceUnits whole = problem_->device_capacity(node);
    for (std::size_t r = 0; r < free_in_sum_.size(); ++r)
      free_in_sum_[r] = saturating_add(free_in_sum_[r], std::max<Amount>(0, free(node)[r]));
    for (const DeviceUnits room : free_devices(node)) free_devices_in_sum_ += micro_gpu(whole, room);
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
  return is_same(places_[pod], node, devices);
}

bool ClusterState::is_same(const Held& place, NodeIndex node, std::span<const std::int32_t> devices) const {
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
  const DeviceUnits mib = whole / 1'000'000;  // MiB of a whole device, or one if that is not known
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
  if (problem_->class_of(pod).has_ordered_rules()) ++company_taken_;
}

void ClusterState::rollback(Checkpoint checkpoint) {
  while (log_.size() > checkpoint) {
    const Change change = log_.back();
    log_.pop_back();
    apply(change.pod, change.place, !change.put);
    if (!change.put && problem_->class_of(change.pod).has_ordered_rules()) --company_taken_;
  }
}

void ClusterState::apply(PodIndex pod, const Held& place, bool put) {
  const PodClass& pod_class = problem_->class_of(pod);
  free_devices_in_sum_ += hold_room(pod_class, place, put);
  for (std::size_t r = 0; r < free_in_sum_.size(); ++r)
    free_in_sum_[r] += put ? -pod_class.request[r] : pod_class.request[r];
  count_anti_affinity(pod_class, place.node, put);
  if (problem_->has_ordered_rules()) company_.count(*problem_, pod_class, place.node, put);
  if (!problem_->wishes.empty()) count_wishes(pod, place, put);
  count_in_gang(pod, place.node, put);
  note_on_node(pod, place, put);
  if (problem_->pods[pod].status == PodStatus::kRunning) {
    ++standing_version_;
    if (!budgets_left_.empty()) count_in_budgets(pod, place, put);
  }
  touched_.push_back(place.node);
  changed_gangs_.push_back(problem_->pods[pod].gang);
}

// A pod at home is none that is placed.
void ClusterState::count_wishes(PodIndex pod, const Held& place, bool put) {
  const Pod& p = problem_->pods[pod];
  const bool is_home = p.status == PodStatus::kRunning && is_same(place, p.node, problem_->devices_of(pod));
  wishes_.count(problem_->class_of(pod), place.node, is_home ? 0 : p.weighted_work, put);
}

void ClusterState::count_in_gang(PodIndex pod, NodeIndex node, bool put) {
  const Pod& p = problem_->pods[pod];
  count_usage(pod, node, put);
  members_[p.group] += put ? 1 : -1;
  ++versions_[p.gang];
}

void ClusterState::note_on_node(PodIndex pod, const Held& place, bool put) {
  const Pod& p = problem_->pods[pod];
  OnNode& node = nodes_[place.node];
  if (p.status == PodStatus::kRunning && p.node == place.node) node.departed += put ? -1 : 1;
  if (put) {
    pods_on_.add(node.pods, pod);
    places_[pod] = place;
  } else {
    pods_on_.remove(node.pods, pod);
    places_[pod].node = NodeIndex::none();
  }
  ++node.version;
}

// Changes the node only. Returns the increase of its free devices, in millionths of one.
MicroGpu ClusterState::hold_room(const PodClass& pod_class, const Held& place, bool hold) {
  Amount* free = free_.data() + place.node.value() * problem_->resource_count;
  for (std::size_t r = 0; r < problem_->resource_count; ++r)
    free[r] += hold ? -pod_class.request[r] : pod_class.request[r];
  MicroGpu growth = 0;
  if (place.devices == 0) return growth;
  OnNode& node = nodes_[place.node];
  const NodeClass& node_class = problem_->node_classes[node.node_class];
  const DeviceUnits units = share_units(pod_class, node_class);
  const DeviceUnits whole = node_class.device_capacity();
  for_each_device(place, [&](std::int32_t device) {
    DeviceUnits& room = free_devices_[node.first_device + static_cast<std::uint32_t>(device)];
    const bool was_idle = room == whole;
    growth -= micro_gpu(whole, room);
    room += hold ? -units : units;
    growth += micro_gpu(whole, room);
    node.idle_devices += (room == whole ? 1 : 0) - (was_idle ? 1 : 0);
  });
  return growth;
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

// A pod that runs elsewhere than in the snapshot, for example on other devices of its node, has left.
void ClusterState::count_in_budgets(PodIndex pod, const Held& place, bool put) {
  const auto budgets = problem_->disruption_budgets.of(pod);
  if (budgets.empty() || !is_same(place, problem_->pods[pod].node, problem_->devices_of(pod))) return;
  for (const DisruptionBudgetIndex budget : budgets) {
    std::int64_t& left = budgets_left_[budget];
    const bool was_broken = left < 0;
    left += put ? 1 : -1;
    broken_budgets_ += (left < 0 ? 1 : 0) - (was_broken ? 1 : 0);
  }
}

bool ClusterState::some_budgets_allow(std::span<const PodIndex> pods) const {
  const auto is_at_home = [&](PodIndex pod) {
    const Pod& p = problem_->pods[pod];
    return p.status == PodStatus::kRunning && is_at(pod, p.node, problem_->devices_of(pod));
  };
  if (std::ranges::all_of(pods, is_at_home)) return problem_->disruption_budgets.allow(pods, budgets_left_);
  std::vector<PodIndex> leaving;
  std::ranges::copy_if(pods, std::back_inserter(leaving), is_at_home);
  return leaving.empty() || problem_->disruption_budgets.allow(leaving, budgets_left_);
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
