#include "model/explain/remaining_capacity.h"

#include <algorithm>
#include <functional>

#include "model/base/interning.h"
#include "model/base/saturating.h"
#include "model/problem/exceeded.h"

namespace muster::explain {
namespace {

void add(QueueAmounts& sum, const QueueAmounts& more) {
  for (std::size_t i = 0; i < kQueueResources; ++i) sum[i] += more[i];
}

// Every queue gets what those below it use, too.
void add_up(const Problem& problem, Indexed<QueueIndex, QueueAmounts>& usage) {
  const Indexed<QueueIndex, QueueAmounts> own = usage;
  for (const QueueIndex queue : own.indices()) {
    for (QueueIndex above = problem.queues[queue].parent; !above.is_none(); above = problem.queues[above].parent)
      add(usage[above], own[queue]);
  }
}

// What each queue's own pods use before the plan and after it.
void add_usages(const Problem& problem, AfterPlan& end) {
  for (const PodIndex index : problem.pods.indices()) {
    const Pod& pod = problem.pods[index];
    const NodeIndex before = pod.status == PodStatus::kRunning ? pod.node : NodeIndex::none();
    const NodeIndex after = end.node[index];
    const Gang& gang = problem.gangs[pod.gang];
    if ((before.is_none() && after.is_none()) || gang.queue.is_none()) continue;
    const PodClass& pod_class = problem.pod_classes[pod.pod_class];
    for (const OtherLimitIndex limit : problem.queues[gang.queue].other_limits) {
      const Amount asked = pod_class.request[problem.lists.other_limits[limit].resource.value()];
      if (!before.is_none()) end.limited_before[limit] = saturating_add(end.limited_before[limit], asked);
      if (!after.is_none()) end.limited[limit] = saturating_add(end.limited[limit], asked);
    }
    const QueueAmounts amounts = queue_usage(pod_class, problem.class_of(before.is_none() ? after : before));
    if (!before.is_none()) add(end.usage_before[gang.queue], amounts);
    if (after.is_none()) continue;
    const QueueAmounts then =
        before.is_none() || before == after ? amounts : queue_usage(pod_class, problem.class_of(after));
    add(end.usage[gang.queue], then);
    if (!gang.preemptible) add(end.non_preemptible_usage[gang.queue], then);
  }
}

}  // namespace

AfterPlan after_plan(const Problem& problem, const Plan& plan) {
  AfterPlan end;
  end.node.resize(problem.pods.size());
  end.devices.resize(problem.pods.size());
  end.usage.assign(problem.queues.size(), QueueAmounts{});
  end.non_preemptible_usage = end.usage_before = end.usage;
  end.limited.assign(problem.lists.other_limits.size(), 0);
  end.limited_before = end.limited;
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.pods[pod].status != PodStatus::kRunning) continue;
    end.node[pod] = problem.pods[pod].node;
    end.devices[pod] = problem.devices_of(pod);
  }
  for (const Eviction& eviction : plan.evictions) end.node[eviction.pod] = NodeIndex::none();
  for (const Placement& placement : plan.placements) {
    end.node[placement.pod] = placement.node;
    end.devices[placement.pod] = placement.devices;
  }
  add_usages(problem, end);
  for (Indexed<QueueIndex, QueueAmounts>* usage : {&end.usage_before, &end.usage, &end.non_preemptible_usage})
    add_up(problem, *usage);
  for (const QueueIndex queue : problem.queues.indices())
    add(end.non_preemptible_usage[queue], problem.queues[queue].core_usage);
  return end;
}

RemainingCapacity::RemainingCapacity(const Problem& problem)
    : problem_(&problem),
      resource_count_(problem.resource_count),
      has_cells_(2 * problem.inter_pod.anti_affinities.size()) {
  begin_.reserve(problem.nodes.size() + 1);
  nodes_.reserve(problem.nodes.size());
  begin_.push_back(0);
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    const std::vector<Amount>& reported = as_reported(problem, node_class).capacity;
    cells_.insert(cells_.end(), reported.begin(), reported.end());
    const auto devices = static_cast<std::size_t>(node_class.device_count),
               usable = static_cast<std::size_t>(as_reported(problem, node_class).device_count);
    const std::size_t end = cells_.size() + devices;
    cells_.resize(cells_.size() + usable, problem.device_capacity(node));
    cells_.resize(end, 0);  // devices beyond the reported ones are never free
    begin_.push_back(cells_.size());
    nodes_.push_back(node);
  }
}

RemainingCapacity RemainingCapacity::empty_cluster(const Problem& problem) {
  RemainingCapacity remaining(problem);
  const ResourceIndex count = device_count_resource(problem);
  if (count.is_none()) return remaining;
  for (const NodeIndex node : problem.nodes.indices()) {  // given as 0 if it is not known which pods hold which
    const NodeClass& node_class = problem.class_of(node);
    if (node_class.devices_closed)
      remaining.cells_[remaining.begin_[node.value()] + count.value()] = as_reported(problem, node_class).device_count;
  }
  return remaining;
}

RemainingCapacity RemainingCapacity::after(const Problem& problem, const AfterPlan& end) {
  RemainingCapacity remaining(problem);
  InterPodCounts inter_pod(problem);
  constexpr std::size_t kAhead = 12;  // there is more of all nodes than the caches hold
  for (const PodIndex pod : problem.pods.indices()) {
    if (const PodIndex later(pod.value() + kAhead); later.value() < problem.pods.size() && end.is_present(later))
      __builtin_prefetch(&remaining.cells_[remaining.begin_[end.node[later].value()]], 1);
    if (!end.is_present(pod)) continue;
    const NodeIndex node = end.node[pod];
    const PodClass& pod_class = problem.class_of(pod);
    const std::size_t begin = remaining.begin_[node.value()];
    for (std::size_t r = 0; r < remaining.resource_count_; ++r) remaining.cells_[begin + r] -= pod_class.request[r];
    if (pod_class.gpu.kind != GpuRequestKind::kNone) {
      const DeviceUnits units = share_units(pod_class, problem.class_of(node));
      for (const std::int32_t device : end.devices[pod]) {
        remaining.cells_[begin + remaining.resource_count_ + static_cast<std::size_t>(device)] -= units;
      }
    }
    remaining.change_anti_affinity(pod_class, node, 1);
    if (pod_class.has_ordered_rules()) inter_pod.count(problem, pod_class, node, true);
  }
  if (problem.has_ordered_rules()) remaining.inter_pod_ = std::make_shared<const InterPodCounts>(std::move(inter_pod));
  remaining.log_.clear();
  return remaining;
}

std::int64_t RemainingCapacity::count(const PodClass& pod_class, NodeIndex node, std::int64_t limit) const {
  const std::span<const std::int64_t> amounts = free(node);
  std::int64_t most = limit;
  for (std::size_t r = 0; r < resource_count_ && most > 0; ++r) {
    const Amount request = pod_class.request[r];
    if (request <= 0) continue;
    if (amounts[r] < request) return 0;
    if (most > 1 && amounts[r] / request < most) most = amounts[r] / request;
  }
  if (most <= 0 || pod_class.gpu.kind == GpuRequestKind::kNone) return std::max<std::int64_t>(most, 0);
  return device_count(pod_class, node, most);
}

std::int64_t RemainingCapacity::device_count(const PodClass& pod_class, NodeIndex node, std::int64_t limit) const {
  const NodeClass& node_class = problem_->class_of(node);
  if (pod_class.gpu.kind == GpuRequestKind::kMemory && node_class.device_memory_mib == 0) return 0;
  const std::span<const std::int64_t> units_free = devices(node);
  const DeviceUnits units = share_units(pod_class, node_class);
  const std::int64_t wanted = pod_class.gpu.devices;
  if (units <= 0 || wanted <= 0) return 0;
  if (pod_class.gpu.kind == GpuRequestKind::kWhole || limit == 1) {
    std::int64_t fitting = 0;
    for (const std::int64_t device : units_free) fitting += device >= units ? 1 : 0;
    return std::min(limit, fitting / wanted);
  }
  std::int64_t shares = 0;
  for (const std::int64_t device : units_free) shares += std::max<std::int64_t>(device / units, 0);
  if (wanted == 1) return std::min(limit, shares);
  const auto holds = [&](std::int64_t pods) {  // each device serves a pod at most once
    std::int64_t usable = 0;
    for (const std::int64_t device : units_free) usable += std::clamp<std::int64_t>(device / units, 0, pods);
    return usable >= pods * wanted;
  };
  std::int64_t low = 0, high = std::min(limit, shares / wanted);
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

bool RemainingCapacity::conflicts_by_terms(const PodClass& pod_class, NodeIndex node) const {
  const auto is_there = [&](AntiAffinityIndex term, bool owners) {
    if (!has_cells_[2 * term.value() + std::size_t{owners}]) return false;
    const DomainIndex domain = problem_->inter_pod.anti_affinities[term].domain_of[node];
    if (domain.is_none()) return false;
    const auto at = anti_affinity_cells_.find((std::uint64_t{term.value()} << 33U) |
                                              (std::uint64_t{domain.value()} << 1U) | std::uint64_t{owners});
    return at != anti_affinity_cells_.end() && cells_[at->second] > 0;
  };
  return std::ranges::any_of(pod_class.anti_affinity_owned,
                             [&](AntiAffinityIndex term) { return is_there(term, false); }) ||
         std::ranges::any_of(pod_class.anti_affinity_matched,
                             [&](AntiAffinityIndex term) { return is_there(term, true); });
}

void RemainingCapacity::put(const PodClass& pod_class, NodeIndex node, std::int64_t pods) {
  put_amounts(pod_class, node, pods);
  change_anti_affinity(pod_class, node, pods);
}

void RemainingCapacity::put_alone(const PodClass& pod_class, NodeIndex node, std::int64_t pods) {
  put_amounts(pod_class, node, pods);
  for (const AntiAffinityIndex term : pod_class.anti_affinity_owned) {
    if (!std::ranges::binary_search(pod_class.anti_affinity_matched, term)) continue;
    for (const bool owners : {true, false}) change_term(term, node, owners, pods);
  }
}

void RemainingCapacity::put_on(const PodClass& pod_class, NodeIndex node, std::span<const std::size_t> chosen) {
  const DeviceUnits units = chosen.empty() ? 0 : share_units(pod_class, problem_->class_of(node));
  for (const std::size_t device : chosen) change(begin_[node.value()] + resource_count_ + device, -units);
  put_resources(pod_class, node, 1);
  change_anti_affinity(pod_class, node, 1);
}

void RemainingCapacity::put_amounts(const PodClass& pod_class, NodeIndex node, std::int64_t pods) {
  if (pod_class.gpu.kind != GpuRequestKind::kNone) {
    if (pod_class.gpu.devices == 1) {
      put_on_fullest(pod_class, node, pods);
    } else {
      for (std::int64_t i = 0; i < pods; ++i) put_on_emptiest(pod_class, node);
    }
  }
  put_resources(pod_class, node, pods);
}

void RemainingCapacity::put_resources(const PodClass& pod_class, NodeIndex node, std::int64_t pods) {
  for (std::size_t r = 0; r < resource_count_; ++r) {
    if (pod_class.request[r] != 0) change(begin_[node.value()] + r, -pod_class.request[r] * pods);
  }
}

std::vector<std::vector<std::size_t>> RemainingCapacity::device_choices(const PodClass& pod_class,
                                                                        NodeIndex node) const {
  if (pod_class.gpu.kind == GpuRequestKind::kNone) return {{}};
  const std::span<const std::int64_t> units_free = devices(node);
  std::vector<std::size_t> fitting = fitting_devices(node, share_units(pod_class, problem_->class_of(node)));
  std::ranges::stable_sort(fitting, {}, [&](std::size_t device) { return units_free[device]; });
  std::vector<std::vector<std::size_t>> choices;
  std::vector<std::size_t> chosen;
  const auto extend = [&](const auto& self, std::size_t first) -> void {
    if (std::ssize(chosen) == pod_class.gpu.devices) return choices.push_back(chosen);
    for (std::size_t i = first; i < fitting.size(); ++i) {
      // Of equally free devices the first ones: the others leave the same free capacity.
      if (i > first && units_free[fitting[i]] == units_free[fitting[i - 1]]) continue;
      chosen.push_back(fitting[i]);
      self(self, i + 1);
      chosen.pop_back();
    }
  };
  extend(extend, 0);
  return choices;
}

std::vector<std::size_t> RemainingCapacity::fitting_devices(NodeIndex node, DeviceUnits units) const {
  const std::span<const std::int64_t> units_free = devices(node);
  std::vector<std::size_t> fitting;
  for (std::size_t device = 0; device < units_free.size(); ++device) {
    if (units_free[device] >= units) fitting.push_back(device);
  }
  return fitting;
}

// The fullest device that fits remains so with each pod, until it is filled.
void RemainingCapacity::put_on_fullest(const PodClass& pod_class, NodeIndex node, std::int64_t pods) {
  const DeviceUnits units = share_units(pod_class, problem_->class_of(node));
  std::vector<std::size_t> fitting = fitting_devices(node, units);
  const std::span<const std::int64_t> units_free = devices(node);
  std::ranges::stable_sort(fitting, {}, [&](std::size_t device) { return units_free[device]; });
  for (std::size_t i = 0; i < fitting.size() && pods > 0; ++i) {
    const std::int64_t put = std::min(pods, units_free[fitting[i]] / units);
    change(begin_[node.value()] + resource_count_ + fitting[i], -units * put);
    pods -= put;
  }
}

void RemainingCapacity::put_on_emptiest(const PodClass& pod_class, NodeIndex node) {
  const DeviceUnits units = share_units(pod_class, problem_->class_of(node));
  std::vector<std::size_t> fitting = fitting_devices(node, units);
  std::ranges::stable_sort(fitting, std::greater<>{}, [&](std::size_t device) { return devices(node)[device]; });
  fitting.resize(std::min(static_cast<std::size_t>(pod_class.gpu.devices), fitting.size()));
  for (const std::size_t device : fitting) change(begin_[node.value()] + resource_count_ + device, -units);
}

void RemainingCapacity::take(PodIndex pod, NodeIndex node, std::span<const std::int32_t> pod_devices) {
  const PodClass& pod_class = problem_->class_of(pod);
  const std::size_t begin = begin_[node.value()];
  for (std::size_t r = 0; r < resource_count_; ++r) {
    if (pod_class.request[r] != 0) change(begin + r, pod_class.request[r]);
  }
  if (pod_class.gpu.kind != GpuRequestKind::kNone) {
    const DeviceUnits units = share_units(pod_class, problem_->class_of(node));
    for (const std::int32_t device : pod_devices)
      change(begin + resource_count_ + static_cast<std::size_t>(device), units);
  }
  change_anti_affinity(pod_class, node, -1);
}

void RemainingCapacity::roll_back(std::size_t mark) {
  while (log_.size() > mark) {
    cells_[log_.back().cell] -= log_.back().delta;
    log_.pop_back();
  }
}

void RemainingCapacity::change(std::size_t cell, std::int64_t delta) {
  cells_[cell] += delta;
  log_.push_back({cell, delta});
}

void RemainingCapacity::change_anti_affinity(const PodClass& pod_class, NodeIndex node, std::int64_t delta) {
  for (const AntiAffinityIndex term : pod_class.anti_affinity_owned) change_term(term, node, true, delta);
  for (const AntiAffinityIndex term : pod_class.anti_affinity_matched) change_term(term, node, false, delta);
}

void RemainingCapacity::change_term(AntiAffinityIndex term, NodeIndex node, bool owners, std::int64_t delta) {
  const DomainIndex domain = problem_->inter_pod.anti_affinities[term].domain_of[node];
  if (!domain.is_none()) change(anti_affinity_cell(term, domain, owners), delta);
}

std::size_t RemainingCapacity::anti_affinity_cell(AntiAffinityIndex term, DomainIndex domain, bool owners) {
  const std::uint64_t key =
      (std::uint64_t{term.value()} << 33U) | (std::uint64_t{domain.value()} << 1U) | std::uint64_t{owners};
  const auto [at, is_new] = anti_affinity_cells_.try_emplace(key, cells_.size());
  if (is_new) cells_.push_back(0);
  has_cells_[2 * term.value() + std::size_t{owners}] = true;
  return at->second;
}

NodeGroups alike_nodes(const Problem& problem, const RemainingCapacity& remaining) {
  NodeGroups groups(problem.node_classes.size());
  std::vector<std::uint64_t> signature;
  for (const NodeClassIndex index : problem.node_classes.indices()) {
    SequenceTable rooms;
    for (const NodeIndex node : problem.node_classes[index].nodes) {
      const std::span<const std::int64_t> free = remaining.free(node), devices = remaining.devices(node);
      signature.assign(free.begin(), free.end());
      signature.insert(signature.end(), devices.begin(), devices.end());
      std::sort(signature.begin() + std::ssize(free), signature.end());
      const auto [number, is_new] = rooms.intern(signature);
      if (is_new) {
        groups[index].push_back({node, 1});
      } else {
        ++groups[index][number].nodes;
      }
    }
  }
  return groups;
}

NodeGroups single_nodes(const Problem& problem) {
  NodeGroups groups(problem.node_classes.size());
  for (const NodeClassIndex index : problem.node_classes.indices()) {
    for (const NodeIndex node : problem.node_classes[index].nodes) groups[index].push_back({node, 1});
  }
  return groups;
}

}  // namespace muster::explain
