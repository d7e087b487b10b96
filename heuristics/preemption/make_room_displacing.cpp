// Room by displacing: a blocking pod that may not be evicted, or is expensive to evict, is relocated, in place of other
// victims whose loss is smaller.
//
// If nothing is free, a pod that needs a whole node finds one only where all pods may be evicted: a node of one large
// pod, say, of high priority. Most other nodes have pods of low priority next to some that must stay. There, the pods
// that must stay move to nodes where more pods of low priority are evicted for them, so that as much is evicted as the
// claim needs, and of the lowest priority. Pods that have only just been placed are displaced, too. One step deep:
// other pods are evicted for a displaced pod, but no further pods are displaced.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "heuristics/preemption/make_room.h"

namespace muster {

namespace {

constexpr std::size_t kMostLeavingSums = 8;   // of all nodes that are kept
constexpr std::size_t kEnoughClearings = 16;  // examined for one pod, and no nodes that are less promising

}  // namespace

bool RoomSearch::clear_displacing(PodIndex pod, std::span<const NodeIndex> nodes) {
  find_least_losses();
  return !least_losses_.empty() && clear_promising(pod, nodes);
}

// Room for a displaced pod: other victims are evicted for the claimant.
bool RoomSearch::clear_for_displaced(PodIndex pod, std::span<const NodeIndex> nodes) {
  const QueueAmounts added = std::exchange(added_, {});  // the claimant's pod is placed
  stage_ = Stage::kPlacingDisplaced;
  const bool is_cleared = clear_promising(pod, nodes);
  stage_ = Stage::kDisplacing;
  added_ = added;
  return is_cleared;
}

bool RoomSearch::clear_promising(PodIndex pod, std::span<const NodeIndex> nodes) {
  std::vector<Clearing> clearings;
  for (const NodeIndex node : by_promise(pod, nodes)) {
    if (auto clearing = clearing_of(pod, node)) clearings.push_back(*std::move(clearing));
    if (clearings.size() == kEnoughClearings) break;
  }
  std::ranges::stable_sort(clearings, {}, &Clearing::cost);
  return std::ranges::any_of(clearings, [&](const Clearing& clearing) { return commit_clearing(pod, clearing); });
}

// The nodes, in ascending order of the likely loss and moves, by sums of devices (or of cpu) alone. Requires
// find_least_losses(). Cost: O(nodes log nodes + pods).
std::vector<NodeIndex> RoomSearch::by_promise(PodIndex pod, std::span<const NodeIndex> nodes) {
  begin_look();
  find_leaving_sums();
  const PodClass& pod_class = problem_.class_of(pod);
  std::vector<std::tuple<Amount, Amount, std::size_t, NodeIndex>> ranked;
  const auto rank = [&](NodeIndex node) {
    if (!fit::node(problem_, pod_class, node)) return;
    const Amount lacking = lacking_on(pod_class, node), leaving = leaving_on(pod_class, node);
    const Amount stuck = std::max<Amount>(0, lacking - leaving);
    const std::size_t pods = state_.pods_on(node).size();
    switch (stage_) {
      case Stage::kPlain:
        ranked.emplace_back(stuck, lacking, pods, node);
        break;
      case Stage::kDisplacing:
        ranked.emplace_back(lacking, stuck, pods, node);
        break;
      case Stage::kPlacingDisplaced:
        if (stuck == 0) ranked.emplace_back(leaving - lacking, lacking, pods, node);
        break;
    }
  };
  if (nodes.empty()) {
    for (const NodeIndex node : problem_.nodes.indices()) rank(node);
  } else {
    std::ranges::for_each(nodes, rank);
  }
  std::ranges::sort(ranked);
  std::vector<NodeIndex> order;
  for (const auto& entry : ranked) order.push_back(std::get<NodeIndex>(entry));
  return order;
}

namespace {

// What a pod of the class takes: of devices, or of cpu.
Amount amount_of(const PodClass& pod_class, const NodeClass& node_class, bool by_device) {
  if (!by_device) return pod_class.request[kCpu.value()];
  return pod_class.gpu.devices > 0 ? pod_class.gpu.devices * share_units(pod_class, node_class) : 0;
}

}  // namespace

// What a pod of the class lacks on the node: on the devices that lack least, or of cpu if it asks for no device.
Amount RoomSearch::lacking_on(const PodClass& pod_class, NodeIndex node) {
  if (pod_class.gpu.devices == 0)
    return std::max<Amount>(0, pod_class.request[kCpu.value()] - state_.free(node)[kCpu.value()]);
  const DeviceUnits need = share_units(pod_class, problem_.class_of(node));
  std::vector<DeviceUnits>& lacking = lacking_;
  lacking.clear();
  for (const DeviceUnits units : state_.free_devices(node)) lacking.push_back(std::max<DeviceUnits>(0, need - units));
  const auto devices = std::min<std::ptrdiff_t>(std::ssize(lacking), pod_class.gpu.devices);
  if (devices == 0) return 0;
  std::ranges::nth_element(lacking, lacking.begin() + devices - 1);
  return std::accumulate(lacking.begin(), lacking.begin() + devices, DeviceUnits{0});
}

// In the same unit, what the pods hold on the node whose eviction costs least.
Amount RoomSearch::leaving_on(const PodClass& pod_class, NodeIndex node) {
  LeavingSums& known = (*leaving_now_)[node];
  if (known.node_version != state_.version(node)) {
    known = {state_.version(node), 0, 0};
    for (const PodIndex pod : state_.pods_on(node)) {
      const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
      const bool is_least =
          std::ranges::find(least_losses_, std::pair(gang.queue, gang.priority)) != least_losses_.end();
      if (!is_least || is_fresh(pod) || !is_legal_at_first(pod)) continue;
      known.devices += amount_of(problem_.class_of(pod), problem_.class_of(node), true);
      known.cpu += amount_of(problem_.class_of(pod), problem_.class_of(node), false);
    }
  }
  return pod_class.gpu.devices > 0 ? known.devices : known.cpu;
}

// The sums of claims with the same least-loss victims: few nodes have changed since the last of them.
void RoomSearch::find_leaving_sums() {
  const Gang& claimant = problem_.gangs[claimant_];
  std::vector<std::int64_t> who{static_cast<std::int64_t>(means_),
                                claimant.queue.value(),
                                claimant.priority,
                                static_cast<std::int64_t>(claimant.preemption_policy),
                                is_claimant_new() ? -1 : static_cast<std::int64_t>(claimant_.value()),
                                exchange_ ? exchange_->most_seconds : -1};
  for (const auto& [queue, priority] : least_losses_) {
    const auto runs = std::ranges::find(survey().runs_in, queue, &std::pair<QueueIndex, GangIndex>::first);
    const bool may_go = means_ != Means::kReclaim || exchange_ ||
                        (runs != survey().runs_in.end() && rules_.may_reclaim(state_, claimant_, runs->second) &&
                         rules_.claims_within_share(state_, claimant_, runs->second, added_));
    who.insert(who.end(), {queue.value(), priority, may_go});
  }
  if (leaving_sums_.size() == kMostLeavingSums && !leaving_sums_.contains(who)) leaving_sums_.clear();
  leaving_now_ = &leaving_sums_.try_emplace(std::move(who), problem_.nodes.size()).first->second;
}

// Of each queue that has eligible victims for the claimant, the lowest priority of what is there.
void RoomSearch::find_least_losses() {
  least_losses_.clear();
  if (exchange_) {
    least_losses_.emplace_back(exchange_->queue, exchange_->priority);
    return;
  }
  const Gang& claimant = problem_.gangs[claimant_];
  const auto may_go = [&](QueueIndex queue, GangIndex gang) {
    if (means_ == Means::kPreempt) return queue == claimant.queue && survey().lowest_running[queue] < claimant.priority;
    return rules_.may_reclaim(state_, claimant_, gang) && rules_.claims_within_share(state_, claimant_, gang, added_);
  };
  for (const auto& [queue, gang] : survey().runs_in) {
    if (!may_go(queue, gang)) continue;
    std::optional<std::int32_t> lowest;
    QueueAmounts above{};
    for (const std::int32_t priority : problem_.priorities) {
      const QueueAmounts from = state_.usage_from(queue, priority);
      if (from != above && priority >= survey().lowest_running[queue]) lowest = priority;
      above = from;
    }
    if (lowest) least_losses_.emplace_back(queue, *lowest);
  }
}

bool RoomSearch::may_be_displaced(PodIndex pod) const {
  return problem_.pods[pod].gang != claimant_ && (is_fresh(pod) || rules_.may_move(state_, pod));
}

// A relocated pod, with the minimum cost of the victims that it needs.
std::optional<RoomSearch::Unit> RoomSearch::displaced_unit_of(PodIndex pod) const {
  if (!may_be_displaced(pod)) return std::nullopt;
  const Work work = problem_.pods[pod].weighted_work;
  const QueueAmounts goes = queue_usage(problem_.class_of(pod), problem_.class_of(state_.node_of(pod)));
  Cost least;
  for (std::size_t i = 0; i < least_losses_.size(); ++i) {
    Cost cost = loss_of(least_losses_[i].first, least_losses_[i].second, goes);
    cost.work = {least_losses_[i].second, work};
    least = i == 0 ? cost : std::min(least, cost);
  }
  least.evicted = work * survey().mean_run_seconds;
  least.moved = is_fresh(pod) ? 0 : work;
  return Unit{{pod}, least, true};
}

}  // namespace muster
