#include "model/objective/least_broken.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/possibilities.h"
#include "model/problem/exceeded.h"
#include "model/problem/work.h"

namespace muster {

namespace {

constexpr std::int64_t kThousand = 1'000;

// No more than the pod takes of GPUs, in thousandths.
std::int64_t least_volume(const PodClass& pod_class) {
  std::int64_t volume = pod_class.mig_gpu_usage / kThousand;
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) volume += kThousand * pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction)
    volume += pod_class.gpu.devices * pod_class.gpu.share / kThousand;
  return volume;
}

// By whole devices: `of_size[x]` for a pod with x of them.
PodPrice by_devices(const Problem& problem, std::vector<std::int64_t> of_size) {
  std::vector<std::int64_t> most(of_size.size(), 0);  // on this many idle devices
  for (std::size_t idle = 1; idle < most.size(); ++idle) {
    for (std::size_t size = 1; size <= idle; ++size)
      most[idle] = std::max(most[idle], of_size[size] + most[idle - size]);
  }
  return {[of_size = std::move(of_size)](const PodClass& pod_class) {
            const auto size = static_cast<std::size_t>(whole_devices(pod_class));
            return size < of_size.size() ? of_size[size] : std::int64_t{0};
          },
          [&problem, most = std::move(most)](const NodeEnd& node) {
            const DeviceUnits whole = problem.node_classes[node.node_class].device_capacity();
            const auto idle = std::ranges::count_if(node.free_devices, [&](DeviceUnits free) { return free >= whole; });
            return most[static_cast<std::size_t>(idle)];
          }};
}

PodPrice by_volume(const Problem& problem) {
  std::vector<std::pair<ResourceIndex, Work>> slices;
  for (const ResourceIndex resource : problem.snapshot->resource_names.indices()) {
    const Work slice = mig_slice_work(problem.snapshot->resource_names[resource]);
    if (slice > 0) slices.emplace_back(resource, slice);
  }
  return {least_volume, [&problem, slices = std::move(slices)](const NodeEnd& node) {
            const DeviceUnits whole = problem.node_classes[node.node_class].device_capacity();
            std::int64_t volume = 0;
            for (const DeviceUnits free : node.free_devices)
              volume += free == whole ? kThousand
                                      : static_cast<std::int64_t>(
                                            (Wide{std::max<DeviceUnits>(0, free)} * kThousand + whole - 1) / whole);
            for (const auto& [resource, slice] : slices) {
              const Amount free = std::max<Amount>(0, node.free[resource.value()]);
              volume = saturating_add(volume, saturating_multiply(slice, free));
            }
            return volume;
          }};
}

PodPrice by_resource(std::size_t resource) {
  return {[resource](const PodClass& pod_class) { return pod_class.request[resource]; },
          [resource](const NodeEnd& node) { return std::max<Amount>(0, node.free[resource]); }};
}

}  // namespace

std::int64_t whole_devices(const PodClass& pod_class) {
  return pod_class.gpu.kind == GpuRequestKind::kWhole ? pod_class.gpu.devices : 0;
}

std::vector<PodPrice> pod_prices(const Problem& problem, const std::set<std::int64_t>& sizes) {
  std::vector<PodPrice> prices{by_volume(problem), by_resource(kCpu.value()), by_resource(kMemory.value())};
  std::int64_t most = 0;
  for (const NodeClass& node_class : problem.node_classes) most = std::max<std::int64_t>(most, node_class.device_count);
  if (most > kTuning.bounds.priced_devices) return prices;
  std::set<std::vector<std::int64_t>> known;
  for (std::int64_t step = 2; step <= most; ++step) {
    std::vector<std::int64_t> at_least(static_cast<std::size_t>(most) + 1, 0), rounded = at_least;
    for (const std::int64_t size : sizes) {
      if (size <= 0 || size > most) continue;
      at_least[static_cast<std::size_t>(size)] = size >= step ? 1 : 0;
      rounded[static_cast<std::size_t>(size)] = size * step / (most + 1);
    }
    for (const std::vector<std::int64_t>& of_size : {at_least, rounded}) {
      const bool any = std::ranges::any_of(of_size, [](std::int64_t price) { return price > 0; });
      if (any && known.insert(of_size).second) prices.push_back(by_devices(problem, of_size));
    }
  }
  return prices;
}

namespace {

// Sums up to each position, beginning with nothing.
std::vector<std::int64_t> sums_of(const std::vector<std::int64_t>& amounts) {
  std::vector<std::int64_t> sums{0};
  for (const std::int64_t amount : amounts) sums.push_back(saturating_add(sums.back(), amount));
  return sums;
}

}  // namespace

LeastBroken::LeastBroken(const Input& input) : in_(input), use_(input.problem.nodes.size(), Use::kFree) {
  for (const PodIndex pod : in_.problem.pods.indices()) {
    if (in_.possibilities.may_be_placed(pod) || (in_.leaves[pod] != 0 && !is_on_exceeded(pod))) add_asked(pod);
  }
  find_uses();
  find_most_freed();
}

// The pods that stay on such a node may take more than the node reports: they are not requested anywhere.
bool LeastBroken::is_on_exceeded(PodIndex pod) const {
  return is_exceeded(in_.problem.class_of(in_.problem.pods[pod].node));
}

// Equal pods mostly follow one another.
void LeastBroken::add_asked(PodIndex pod) {
  const Asked asked{in_.problem.pods[pod].pod_class, in_.missing.cost_of(pod), 1};
  if (!asked_.empty() && asked_.back().pod_class == asked.pod_class && asked_.back().cost == asked.cost)
    ++asked_.back().count;
  else
    asked_.push_back(asked);
}

void LeastBroken::find_uses() {
  for (const NodeIndex node : in_.problem.nodes.indices()) {
    if (!in_.whole_nodes.counts(node)) continue;
    use_[node] = in_.is_broken[node] != 0 ? Use::kBroken : Use::kIdle;
    broken_ += use_[node] == Use::kBroken ? 1 : 0;
  }
  for (const PodIndex pod : in_.problem.pods.indices()) {
    const NodeIndex node = in_.problem.pods[pod].node;
    if (in_.leaves[pod] == 0 || use_[node] != Use::kIdle || !in_.whole_nodes.breaks(pod, node)) continue;
    use_[node] = Use::kFreeable;
    ++freeable_;
  }
}

// Both budgets together are one: an eviction takes its part of `evicted` x `moved`, and so does a move.
Wide LeastBroken::cost_of_leaving(PodIndex pod) const {
  const Wide evicted = std::max<std::int64_t>(1, in_.missing.evicted());
  const Wide moved = std::max<Work>(1, in_.missing.moved());
  Wide cost = evicted * moved;
  if (in_.missing.may_be_evicted(pod)) cost = std::min(cost, in_.missing.evicted_by(pod) * moved);
  if (in_.missing.may_be_moved(pod)) cost = std::min(cost, in_.problem.pods[pod].weighted_work * evicted);
  return cost;
}

// As many nodes as both budgets suffice for, those that cost least first.
void LeastBroken::find_most_freed() {
  if (freeable_ == 0) return;
  const Wide evicted = in_.missing.evicted(), moved = in_.missing.moved();
  const Wide budget = evicted * std::max<Wide>(1, moved) + moved * std::max<Wide>(1, evicted);
  Indexed<NodeIndex, Wide> costs(in_.problem.nodes.size(), 0);
  for (const PodIndex pod : in_.problem.pods.indices()) {
    const NodeIndex node = in_.problem.pods[pod].node;
    if (in_.leaves[pod] == 0 || use_[node] != Use::kFreeable || !in_.whole_nodes.breaks(pod, node)) continue;
    const Wide cost = cost_of_leaving(pod);
    costs[node] = cost > budget - std::min(budget, costs[node]) ? budget + 1 : costs[node] + cost;
  }
  std::vector<Wide> of_nodes;
  for (const NodeIndex node : in_.problem.nodes.indices()) {
    if (use_[node] == Use::kFreeable) of_nodes.push_back(costs[node]);
  }
  std::ranges::sort(of_nodes);
  Wide left = budget;
  for (const Wide cost : of_nodes) {
    if (cost > left) break;
    left -= cost;
    ++most_freed_;
  }
}

std::int64_t LeastBroken::count(std::int64_t enough) const {
  std::int64_t most = broken_ + freeable_ - most_freed_;
  std::set<std::int64_t> sizes;
  for (const Asked& asked : asked_) sizes.insert(whole_devices(in_.problem.pod_classes[asked.pod_class]));
  for (const PodPrice& price : pod_prices(in_.problem, sizes)) {
    if (most >= enough) break;
    most = std::max(most, broken_ + by_price(price));
  }
  return most;
}

// The amount that must be on some node in the end. Unknown if the sum saturates.
std::int64_t LeastBroken::asked_for(const PodPrice& price) const {
  MostMissing missing(in_.missing);
  std::int64_t sum = 0;
  for (const Asked& asked : asked_) {
    const std::int64_t one = price.of_pod(in_.problem.pod_classes[asked.pod_class]);
    if (one == 0) continue;
    sum = saturating_add(sum, saturating_multiply(one, asked.count));
    missing.add(asked.cost, one, asked.count);
  }
  return sum == kLargest ? 0 : sum - missing.profit();
}

// Nodes in use that are not broken for certain.
std::int64_t LeastBroken::by_price(const PodPrice& price) const {
  std::int64_t asked = asked_for(price);
  std::vector<std::int64_t> freeable, idle;
  if (asked <= 0) return freeable_ - most_freed_;
  // Pods on cordoned nodes stay or leave, and no pod is added there. Pods that break no node by running there may stay.
  for (const PodIndex pod : in_.problem.pods.indices()) {
    if (in_.leaves[pod] == 0 || is_on_exceeded(pod)) continue;
    const NodeIndex node = in_.problem.pods[pod].node;
    const bool may_be_whole = use_[node] == Use::kIdle || use_[node] == Use::kFreeable;
    if (in_.problem.class_of(node).cordoned || (may_be_whole && !in_.whole_nodes.breaks(pod, node)))
      asked = saturating_subtract(asked, price.of_pod(in_.problem.class_of(pod)));
  }
  for (const NodeIndex node : in_.problem.nodes.indices()) {
    if (in_.problem.class_of(node).cordoned) continue;
    const std::int64_t held = price.of_room(in_.room.of(node));
    if (use_[node] == Use::kIdle) {
      idle.push_back(held);
      continue;
    }
    asked = saturating_subtract(asked, held);
    if (use_[node] == Use::kFreeable) freeable.push_back(held);
  }
  std::ranges::sort(freeable);
  std::ranges::sort(idle, std::greater<>{});
  const std::vector<std::int64_t> lost = sums_of(freeable), held = sums_of(idle);
  std::int64_t least = kLargest;
  for (std::int64_t freed = 0; freed <= most_freed_; ++freed) {
    const std::int64_t rest = saturating_add(asked, lost[static_cast<std::size_t>(freed)]);
    const auto enough = std::ranges::lower_bound(held, rest);  // the fewest idle nodes that hold the rest
    if (enough == held.end()) break;                           // this many cannot be freed
    least = std::min(least, freeable_ - freed + (enough - held.begin()));
  }
  return least == kLargest ? freeable_ - most_freed_ : least;
}

}  // namespace muster
