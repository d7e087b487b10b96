// Rule NotInVain: no evicted gang, and no surplus or moved pod, could have stayed where it was next to everything else
// in the plan. It is put back into the cluster as the plan leaves it. The rule that this breaks is why it had to leave:
// resources and devices, host ports, anti-affinity, affinity and spread of what is placed, topology, a queue's limit,
// the share (or quota) that a queue must keep to since it reclaims, or the free capacity that a placed gang's
// minResources asks for.
#include <algorithm>

#include "model/base/saturating.h"
#include "model/referee/case.h"

namespace muster::referee {
namespace {

// Puts evicted pods back where they ran (moved ones away from their new place), for the lifetime of the object.
class PutBack {
 public:
  PutBack(const Case& c, Room& room, std::span<const PodIndex> pods) : c_(c), room_(room), pods_(pods) {
    for (const PodIndex pod : pods_) {
      if (const Placement* to = c_.placement[pod]) room_.take(c_.spec(pod), to->node, to->devices);
    }
    for (const PodIndex pod : pods_) room_.put(c_.spec(pod), c_.node_before(pod), c_.problem.devices_of(pod));
  }
  ~PutBack() {
    for (const PodIndex pod : pods_) room_.take(c_.spec(pod), c_.node_before(pod), c_.problem.devices_of(pod));
    for (const PodIndex pod : pods_) {
      if (const Placement* to = c_.placement[pod]) room_.put(c_.spec(pod), to->node, to->devices);
    }
  }
  PutBack(const PutBack&) = delete;
  PutBack& operator=(const PutBack&) = delete;

 private:
  const Case& c_;
  Room& room_;
  std::span<const PodIndex> pods_;
};

bool is_one_of(PodIndex pod, std::span<const PodIndex> pods) { return std::ranges::find(pods, pod) != pods.end(); }

// The pods before the plan may exceed what the node reports. This is harmless if no placed pod asks for the same
// resource.
class RoomOfNode {
 public:
  // `pods`: those that are put back.
  RoomOfNode(const Case& c, NodeIndex node, std::span<const PodIndex> pods) : c_(c), node_(node), pods_(pods) {
    const auto at = std::ranges::lower_bound(c.crowded_nodes, node, {}, &CrowdedNode::node);
    if (at != c.crowded_nodes.end() && at->node == node) crowded_ = &*at;
  }

  bool holds(const Room& room, PodIndex pod) const {
    for (const ResourceAmount& asked : c_.spec(pod).resources) {
      const auto asks = [&](const Placement& placement) {
        return std::ranges::any_of(c_.spec(placement.pod).resources, [&](const ResourceAmount& other) {
          return other.resource == asked.resource && other.amount > 0;
        });
      };
      if (asked.amount > 0 && room.taken(node_, asked.resource) > c_.capacities.of(node_, asked.resource) &&
          is_any_placed(asks))
        return false;
    }
    for (const std::int32_t device : c_.problem.devices_of(pod)) {
      const auto asks = [&](const Placement& placement) {
        return std::ranges::find(placement.devices, device) != placement.devices.end();
      };
      if (room.device_taken(node_, device) > c_.capacities.of_device(node_, device) && is_any_placed(asks))
        return false;
    }
    return c_.spec(pod).gpu.devices == 0 || !are_devices_exceeded();
  }

 private:
  bool is_any_placed(const auto& asks) const {
    return crowded_ != nullptr && std::ranges::any_of(crowded_->arrivals, [&](const Placement* placement) {
             return !is_one_of(placement->pod, pods_) && asks(*placement);
           });
  }

  // By their number; see check_device_counts.
  bool are_devices_exceeded() const {
    const std::int32_t reported = c_.node(node_).gpu_count;
    if (crowded_ == nullptr || c_.capacities.devices(node_) == reported) return false;
    Amount sum = 0;
    for (const PodIndex pod : crowded_->residents) {
      if (!c_.leaves(pod) || is_one_of(pod, pods_)) sum += c_.spec(pod).gpu.devices;
    }
    for (const Placement* placement : crowded_->arrivals) {
      if (!is_one_of(placement->pod, pods_)) sum += c_.spec(placement->pod).gpu.devices;
    }
    return sum > reported &&
           is_any_placed([&](const Placement& placement) { return c_.spec(placement.pod).gpu.devices > 0; });
  }

  const Case& c_;
  NodeIndex node_;
  std::span<const PodIndex> pods_;
  const CrowdedNode* crowded_ = nullptr;  // none: all present and all arriving pods fit together
};

bool has_room(Case& c, std::span<const PodIndex> pods) {
  const PutBack put_back(c, c.sums.end, pods);
  return std::ranges::all_of(
      pods, [&](PodIndex pod) { return RoomOfNode(c, c.node_before(pod), pods).holds(c.sums.end, pod); });
}

// Next to what the plan places of the same groups: pods that ran were there already.
bool keeps_topology(const Case& c, std::span<const PodIndex> pods) {
  for (const PodIndex pod : pods) {
    for (const GroupIndex group : groups_above(c, pod)) {
      const TopologyLevelIndex level = c.problem.groups[group].required_level;
      if (level.is_none()) continue;
      for (const PodIndex other : pods_below(c.problem, group)) {
        if (!c.placement[other] || std::ranges::find(pods, other) != pods.end()) continue;
        if (!in_one_domain(c, c.node_before(pod), c.placement[other]->node, level)) return false;
      }
    }
  }
  return true;
}

// Pods that are moved use as much of other resources wherever they are.
bool keeps_other_limits(const Case& c, const Queue& leaf, std::span<const PodIndex> pods) {
  return std::ranges::all_of(leaf.other_limits, [&](OtherLimitIndex index) {
    const OtherLimit& limit = c.problem.lists.other_limits[index];
    Amount more = 0;
    for (const PodIndex pod : pods) {
      if (!c.placement[pod]) more = saturating_add(more, asked_of(c.spec(pod), limit.resource));
    }
    const Amount is = saturating_add(c.sums.after.limited[index], more);
    return more == 0 || is <= limit.limit || is <= c.sums.before.limited[index];
  });
}

bool keeps_queues_in_bounds(const Case& c, const ReclaimDuties& duties, std::span<const PodIndex> pods) {
  const Gang& gang = c.gang_of(pods.front());
  if (gang.queue.is_none()) return true;
  if (!keeps_other_limits(c, c.problem.queues[gang.queue], pods)) return false;
  QueueAmounts more{};
  for (const PodIndex pod : pods) {
    const QueueAmounts there = usage_on(c, pod, c.node_before(pod));
    const QueueAmounts elsewhere = c.placement[pod] ? usage_on(c, pod, c.placement[pod]->node) : QueueAmounts{};
    for (std::size_t r = 0; r < kQueueResources; ++r) more[r] = saturating_add(more[r], there[r] - elsewhere[r]);
  }
  for (const QueueIndex index : c.problem.queues[gang.queue].ancestors) {
    const Queue& queue = c.problem.queues[index];
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount is = saturating_add(c.sums.after.all[index][r], more[r]);
      if (more[r] <= 0) continue;
      if (queue.limit[r] != kUnlimited && is > queue.limit[r] && is > c.sums.before.all[index][r]) return false;
      if (duties.within_share[index][r] && is > c.shares.share[index][r]) return false;
      if (duties.within_quota[index][r] && queue.quota[r] != kUnlimited && is > queue.quota[r]) return false;
    }
  }
  return true;
}

bool leaves_min_resources(Case& c, std::span<const PodIndex> pods) {
  if (!c.has_min_resources) return true;
  const PutBack put_back(c, c.sums.settled, pods);
  return min_resources_are_free(c, c.sums.settled);
}

bool could_stay(Case& c, const ReclaimDuties& duties, std::span<const PodIndex> pods) {
  const bool kept_out = std::ranges::any_of(pods, [&c](PodIndex pod) { return c.kept_out[pod.value()] != 0; });
  return !kept_out && has_room(c, pods) && keeps_topology(c, pods) && keeps_queues_in_bounds(c, duties, pods) &&
         leaves_min_resources(c, pods) && keeps_inter_pod(c, pods);
}

void check_pod(Case& c, const ReclaimDuties& duties, PodIndex pod) {
  if (!could_stay(c, duties, std::span(&pod, 1))) return;
  c.object(Rule::kNotInVain, c.pod(pod).name,
           std::string(c.is_moved(pod) ? "it is moved" : "it is evicted") + ", but could have stayed on node \"" +
               std::string(c.node(c.node_before(pod)).name) + "\" without changing anything else in the plan");
}

}  // namespace

void check_not_in_vain(Case& c) {
  const ReclaimDuties duties = reclaim_duties(c);
  for (const GangIndex index : c.evicted_gangs) {
    const Gang& gang = c.problem.gangs[index];
    std::vector<PodIndex> lost;  // stale pods are not evicted for a claimant
    for (const PodIndex pod : gang.pods) {
      if (c.is_lost(pod) && c.eviction[pod]->reason != EvictionReason::kStale) lost.push_back(pod);
      if (c.is_moved(pod)) check_pod(c, duties, pod);
    }
    if (lost.empty()) continue;
    if (has_minimum_after(c, gang)) {
      for (const PodIndex pod : lost) check_pod(c, duties, pod);
    } else if (could_stay(c, duties, lost)) {
      c.object(Rule::kNotInVain, gang.name,
               "all of it is evicted, but could have stayed without changing anything else in the plan");
    }
  }
}

}  // namespace muster::referee
