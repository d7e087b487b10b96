// Rule NotInVain: no evicted gang, and no surplus or moved pod, could have stayed where it was next to all that stays
// and to what the plan places for the gangs that may evict it. What it places for others is left out: it takes the room
// of no pod that its own gang may not evict. The unit is put back into the cluster as this part of the plan leaves it.
// The rule that this breaks is why it had to leave: resources and devices, host ports, anti-affinity, affinity and
// spread of what is placed, topology, a queue's limit, the share (or quota) that a queue must keep to since it
// reclaims, or the free capacity that a placed gang's minResources asks for.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

// What is placed on the nodes that moved pods leave.
using ArrivalsByNode = std::map<NodeIndex, std::vector<const Placement*>>;

ArrivalsByNode arrivals_where_moves_leave(const Case& c) {
  ArrivalsByNode arrivals;
  for (const Placement& placement : c.plan.placements) {
    if (c.is_moved(placement.pod)) arrivals.try_emplace(c.node_before(placement.pod));
  }
  if (arrivals.empty()) return arrivals;
  for (const Placement& placement : c.plan.placements) {
    const auto at = arrivals.find(placement.node);
    if (at != arrivals.end()) at->second.push_back(&placement);
  }
  return arrivals;
}

// The gangs that may evict the pods of a unit: by preemption or reclaim; its own gang; any, if the unit is moved.
class Rights {
 public:
  // `unit`: pods of one gang that leave together.
  Rights(const Case& c, const ArrivalsByNode& left_by_moves, std::span<const PodIndex> unit)
      : c_(c),
        left_by_moves_(left_by_moves),
        victim_(c.problem.pods[unit.front()].gang),
        is_move_(c.is_moved(unit.front())),
        unit_(unit),
        is_surplus_(is_move_ || has_minimum_after(c, c.problem.gangs[victim_])) {}

  // Whether the plan places the pod for a gang that may evict any of the unit; on its nodes, any that ran on this node.
  bool counts(const Placement& placement) {
    if (is_move_) return true;
    const bool is_near =
        std::ranges::any_of(unit_, [&](PodIndex pod) { return c_.node_before(pod) == placement.node; });
    return std::ranges::any_of(unit_, [&](PodIndex pod) {
      if (is_near && c_.node_before(pod) != placement.node) return false;
      if (!c_.eviction[placement.pod]) return may_evict(c_.problem.pods[placement.pod].gang, pod);
      return std::ranges::any_of(claimants_of(placement), [&](GangIndex gang) { return may_evict(gang, pod); });
    });
  }

 private:
  // A pod that waited is placed for its own gang; one that is moved, for those that the plan puts on the node that it
  // leaves, in the end; if there are none, for the gang that the move names.
  const std::set<GangIndex>& claimants_of(const Placement& placement) {
    const auto [known, is_new] = claimants_.try_emplace(placement.pod);
    if (!is_new) return known->second;
    std::set<GangIndex>& gangs = known->second;
    std::set<PodIndex> seen;
    add_claimants(placement, gangs, seen);
    if (const Eviction* eviction = c_.eviction[placement.pod]; gangs.empty() && eviction)
      gangs.insert(eviction->for_gang);
    return gangs;
  }

  void add_claimants(const Placement& placement, std::set<GangIndex>& gangs, std::set<PodIndex>& seen) const {
    if (!seen.insert(placement.pod).second) return;
    if (!c_.eviction[placement.pod]) {
      gangs.insert(c_.problem.pods[placement.pod].gang);
      return;
    }
    const auto at = left_by_moves_.find(c_.node_before(placement.pod));
    if (at == left_by_moves_.end()) return;
    for (const Placement* arrival : at->second) add_claimants(*arrival, gangs, seen);
  }

  bool may_evict(GangIndex gang, PodIndex pod) {
    if (is_move_ || gang == victim_) return true;
    if (gang.is_none()) return false;
    const auto [known, is_new] = may_evict_.try_emplace({gang, pod}, false);
    if (is_new) {
      known->second = std::ranges::any_of(
          std::array{EvictionReason::kPreempt, EvictionReason::kReclaim}, [&](EvictionReason reason) {
            return has_right(c_, {victim_, gang}, reason) &&
                   (is_surplus_ || !is_protected(c_, pod, unit_, {victim_, gang}, reason));
          });
    }
    return known->second;
  }

  const Case& c_;
  const ArrivalsByNode& left_by_moves_;
  GangIndex victim_;
  bool is_move_;
  std::span<const PodIndex> unit_;
  bool is_surplus_;
  std::map<std::pair<GangIndex, PodIndex>, bool> may_evict_;
  std::map<PodIndex, std::set<GangIndex>> claimants_;
};

// Takes away what is placed for gangs without the right on the nodes of some pods, for the lifetime of the object.
class WithoutOthers {
 public:
  WithoutOthers(const Case& c, Room& room, std::span<const PodIndex> pods, Rights& rights) : c_(c), room_(room) {
    std::set<NodeIndex> nodes;
    for (const PodIndex pod : pods) nodes.insert(c.node_before(pod));
    for (const NodeIndex node : nodes) {
      const auto at = std::ranges::lower_bound(c.crowded_nodes, node, {}, &CrowdedNode::node);
      if (at == c.crowded_nodes.end() || at->node != node) continue;
      for (const Placement* placement : at->arrivals) {
        if (!is_one_of(placement->pod, pods) && !rights.counts(*placement)) others_.push_back(placement);
      }
    }
    for (const Placement* other : others_) room_.take(c_.spec(other->pod), other->node, other->devices);
  }
  ~WithoutOthers() {
    for (const Placement* other : others_) room_.put(c_.spec(other->pod), other->node, other->devices);
  }
  WithoutOthers(const WithoutOthers&) = delete;
  WithoutOthers& operator=(const WithoutOthers&) = delete;

 private:
  const Case& c_;
  Room& room_;
  std::vector<const Placement*> others_;
};

// The pods before the plan may exceed what the node reports. This is harmless if no placed pod asks for the same
// resource.
class RoomOfNode {
 public:
  // `pods`: those that are put back. `rights`: whose placements count.
  RoomOfNode(const Case& c, NodeIndex node, std::span<const PodIndex> pods, Rights& rights)
      : c_(c), node_(node), pods_(pods) {
    const auto at = std::ranges::lower_bound(c.crowded_nodes, node, {}, &CrowdedNode::node);
    if (at == c.crowded_nodes.end() || at->node != node) return;
    crowded_ = &*at;
    for (const Placement* placement : crowded_->arrivals) {
      if (!is_one_of(placement->pod, pods_) && rights.counts(*placement)) arrivals_.push_back(placement);
    }
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
    if (!has_its_devices(room, pod) && !can_use_other_devices(room)) return false;
    return c_.spec(pod).gpu.devices == 0 || !are_devices_exceeded();
  }

 private:
  bool is_any_placed(const auto& asks) const {
    return std::ranges::any_of(arrivals_, [&](const Placement* placement) { return asks(*placement); });
  }

  bool has_its_devices(const Room& room, PodIndex pod) const {
    return std::ranges::none_of(c_.problem.devices_of(pod), [&](std::int32_t device) {
      const auto asks = [&](const Placement& placement) {
        return std::ranges::find(placement.devices, device) != placement.devices.end();
      };
      return room.device_taken(node_, device) > c_.capacities.of_device(node_, device) && is_any_placed(asks);
    });
  }

  // Whether what arrives finds devices next to all that is there: those that take most of a device first, each on the
  // fullest devices with room for it.
  bool can_use_other_devices(const Room& room) const {
    std::vector<DeviceUnits> taken;
    for (std::int32_t device = 0; device < c_.node(node_).gpu_count; ++device)
      taken.push_back(room.device_taken(node_, device));
    const auto units_of = [&](const Placement* placement) {
      return device_units(c_.spec(placement->pod), c_.capacities.device_memory_mib(node_));
    };
    std::vector<const Placement*> order;
    for (const Placement* placement : arrivals_) {
      if (placement->devices.empty()) continue;
      order.push_back(placement);
      for (const std::int32_t device : placement->devices)
        taken[static_cast<std::size_t>(device)] -= units_of(placement);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, units_of);
    return std::ranges::all_of(order, [&](const Placement* placement) {
      return take_devices(placement->devices.size(), units_of(placement), taken);
    });
  }

  bool take_devices(std::size_t count, DeviceUnits units, std::vector<DeviceUnits>& taken) const {
    std::vector<std::size_t> open;
    for (std::size_t device = 0; device < taken.size(); ++device) {
      if (taken[device] + units <= c_.capacities.of_device(node_)) open.push_back(device);
    }
    if (open.size() < count) return false;
    std::ranges::stable_sort(open, std::ranges::greater{}, [&](std::size_t device) { return taken[device]; });
    for (std::size_t i = 0; i < count; ++i) taken[open[i]] += units;
    return true;
  }

  // By their number; see check_device_counts.
  bool are_devices_exceeded() const {
    const std::int32_t reported = c_.node(node_).gpu_count;
    if (crowded_ == nullptr || c_.capacities.devices(node_) == reported) return false;
    Amount sum = 0;
    for (const PodIndex pod : crowded_->residents) {
      if (!c_.leaves(pod) || is_one_of(pod, pods_)) sum += c_.spec(pod).gpu.devices;
    }
    for (const Placement* placement : arrivals_) sum += c_.spec(placement->pod).gpu.devices;
    return sum > reported &&
           is_any_placed([&](const Placement& placement) { return c_.spec(placement.pod).gpu.devices > 0; });
  }

  const Case& c_;
  NodeIndex node_;
  std::span<const PodIndex> pods_;
  const CrowdedNode* crowded_ = nullptr;  // none: all present and all arriving pods fit together
  std::vector<const Placement*> arrivals_;
};

bool has_room(Case& c, std::span<const PodIndex> pods, Rights& rights) {
  const PutBack put_back(c, c.sums.end, pods);
  const WithoutOthers without_others(c, c.sums.end, pods, rights);
  return std::ranges::all_of(
      pods, [&](PodIndex pod) { return RoomOfNode(c, c.node_before(pod), pods, rights).holds(c.sums.end, pod); });
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

// By everything but room on its nodes.
bool is_not_kept_out(Case& c, std::span<const PodIndex> pods) {
  const bool kept_out = std::ranges::any_of(pods, [&c](PodIndex pod) { return c.kept_out[pod.value()] != 0; });
  return !kept_out && keeps_topology(c, pods) && keeps_queues_in_bounds(c, reclaim_duties(c), pods) &&
         leaves_min_resources(c, pods) && keeps_inter_pod(c, pods);
}

// The plan without what it places for gangs that may not evict a unit, and the case of that part alone.
class PartByRight {
 public:
  PartByRight(const Case& c, Rights& rights)
      : plan_(part_of(c, rights)), case_(c.snapshot, c.problem, c.shares, plan_, 1) {
    check_anti_affinity(case_);
    check_host_ports(case_);
    check_min_resources(case_);
  }
  Case& part() { return case_; }

 private:
  static Plan part_of(const Case& c, Rights& rights) {
    Plan plan = c.plan;
    std::erase_if(plan.placements, [&](const Placement& placement) { return !rights.counts(placement); });
    return plan;
  }

  Plan plan_;
  Case case_;
};

bool could_stay(Case& c, const ArrivalsByNode& left_by_moves, std::span<const PodIndex> pods) {
  Rights rights(c, left_by_moves, pods);
  if (!has_room(c, pods, rights)) return false;
  const bool all_count =
      std::ranges::all_of(c.plan.placements, [&](const Placement& placement) { return rights.counts(placement); });
  return all_count ? is_not_kept_out(c, pods) : is_not_kept_out(PartByRight(c, rights).part(), pods);
}

void check_pod(Case& c, const ArrivalsByNode& left_by_moves, PodIndex pod) {
  if (!could_stay(c, left_by_moves, std::span(&pod, 1))) return;
  const bool is_moved = c.is_moved(pod);
  c.object(Rule::kNotInVain, c.pod(pod).name,
           std::string(is_moved ? "it is moved" : "it is evicted") + ", but could have stayed on node \"" +
               std::string(c.node(c.node_before(pod)).name) + "\" next to all that the plan places" +
               (is_moved ? "" : " for gangs that may evict it"));
}

}  // namespace

void check_not_in_vain(Case& c) {
  const ArrivalsByNode left_by_moves = arrivals_where_moves_leave(c);
  for (const GangIndex index : c.evicted_gangs) {
    const Gang& gang = c.problem.gangs[index];
    std::vector<PodIndex> lost;  // stale pods are not evicted for a claimant
    for (const PodIndex pod : gang.pods) {
      if (c.is_lost(pod) && c.eviction[pod]->reason != EvictionReason::kStale) lost.push_back(pod);
      if (c.is_moved(pod)) check_pod(c, left_by_moves, pod);
    }
    if (lost.empty()) continue;
    if (has_minimum_after(c, gang)) {
      for (const PodIndex pod : lost) check_pod(c, left_by_moves, pod);
    } else if (could_stay(c, left_by_moves, lost)) {
      c.object(
          Rule::kNotInVain, gang.name,
          "all of it is evicted, but could have stayed next to all that the plan places for gangs that may evict it");
    }
  }
}

}  // namespace muster::referee
