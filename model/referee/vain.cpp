// Rule NotInVain: no evicted gang, and no surplus or moved pod, could have stayed where it was next to all that stays
// and to what the plan places for the gangs that may evict it. What it places for others is left out: it takes the room
// of no pod that its own gang may not evict. The unit is put back into the cluster as this part of the plan leaves it.
// The rule that this breaks is why it had to leave: resources and devices, host ports, anti-affinity, affinity and
// spread of what is placed, topology, a queue's limit, the share (or quota) that a queue must keep to since it
// reclaims, or the free capacity that a placed gang's minResources asks for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "model/base/saturating.h"
#include "model/referee/case.h"

namespace muster::referee {
namespace {

// Puts evicted pods back where they ran (moved ones away from their new place), for the lifetime of the object.
class PutBack {
 public:
  PutBack(const Case& c, Occupancy& occupancy, std::span<const PodIndex> pods)
      : c_(c), occupancy_(occupancy), pods_(pods) {
    for (const PodIndex pod : pods_) {
      if (const Placement* to = c_.placement[pod]) occupancy_.take(c_.spec(pod), to->node, to->devices);
    }
    for (const PodIndex pod : pods_) occupancy_.put(c_.spec(pod), c_.node_before(pod), c_.problem.devices_of(pod));
  }
  ~PutBack() {
    for (const PodIndex pod : pods_) occupancy_.take(c_.spec(pod), c_.node_before(pod), c_.problem.devices_of(pod));
    for (const PodIndex pod : pods_) {
      if (const Placement* to = c_.placement[pod]) occupancy_.put(c_.spec(pod), to->node, to->devices);
    }
  }
  PutBack(const PutBack&) = delete;
  PutBack& operator=(const PutBack&) = delete;

 private:
  const Case& c_;
  Occupancy& occupancy_;
  std::span<const PodIndex> pods_;
};

bool is_one_of(PodIndex pod, std::span<const PodIndex> pods) { return std::ranges::find(pods, pod) != pods.end(); }

// For which gangs pods are moved: those that the plan puts on the node that a pod leaves, and where such an arrival is
// itself moved, those for which it is, in turn.
class ClaimedNodes {
 public:
  // Nodes that claim each other through moves form one component (Tarjan 1972), so each set of gangs is made once.
  // Cost: O(placements x log nodes), and the sizes of the sets.
  explicit ClaimedNodes(const Case& c) : c_(c) {
    for (const Placement& placement : c.plan.placements) {
      if (c.is_moved(placement.pod)) positions_.try_emplace(c.node_before(placement.pod), positions_.size());
    }
    nodes_.resize(positions_.size());
    for (const Placement& placement : c.plan.placements) {
      const auto at = positions_.find(placement.node);
      if (at == positions_.end()) continue;
      Node& node = nodes_[at->second];
      if (!c.eviction[placement.pod]) {
        node.gangs.push_back(c.problem.pods[placement.pod].gang);
      } else if (c.is_moved(placement.pod)) {
        node.from.push_back(positions_.at(c.node_before(placement.pod)));
      }
    }
    for (std::size_t start = 0; start < nodes_.size(); ++start) {
      if (nodes_[start].number == 0) search(start);
    }
  }

  // Of a pod that is moved; empty: the plan puts nothing there that waited. Ascending.
  std::span<const GangIndex> claimants_of(PodIndex pod) const {
    const auto at = c_.is_moved(pod) ? positions_.find(c_.node_before(pod)) : positions_.end();
    return at == positions_.end() ? std::span<const GangIndex>() : sets_[nodes_[at->second].set];
  }

 private:
  struct Node {
    std::vector<GangIndex> gangs;   // of pods that waited
    std::vector<std::size_t> from;  // positions of the nodes that arrivals leave
    std::size_t number = 0, lowest = 0, next = 0, set = kOpen;
  };
  static constexpr std::size_t kOpen = static_cast<std::size_t>(-1);

  void enter(std::size_t position) {
    nodes_[position].number = nodes_[position].lowest = ++visited_;
    path_.push_back(position);
    open_.push_back(position);
  }

  // Without recursion: chains of moves may be long.
  void search(std::size_t start) {
    enter(start);
    while (!path_.empty()) {
      Node& node = nodes_[path_.back()];
      if (node.next < node.from.size()) {
        const std::size_t other = node.from[node.next++];
        if (nodes_[other].number == 0) {
          enter(other);
        } else if (nodes_[other].set == kOpen) {
          node.lowest = std::min(node.lowest, nodes_[other].number);
        }
        continue;
      }
      if (node.lowest == node.number) close(path_.back());
      path_.pop_back();
      if (!path_.empty()) nodes_[path_.back()].lowest = std::min(nodes_[path_.back()].lowest, node.lowest);
    }
  }

  // All that is open from the node on is a component.
  void close(std::size_t first) {
    const auto begin = std::ranges::find(open_, first);
    std::set<GangIndex> gangs;
    for (auto at = begin; at != open_.end(); ++at) {
      const Node& node = nodes_[*at];
      gangs.insert(node.gangs.begin(), node.gangs.end());
      for (const std::size_t other : node.from) {
        if (nodes_[other].set != kOpen) gangs.insert(sets_[nodes_[other].set].begin(), sets_[nodes_[other].set].end());
      }
    }
    for (auto at = begin; at != open_.end(); ++at) nodes_[*at].set = sets_.size();
    open_.erase(begin, open_.end());
    sets_.emplace_back(gangs.begin(), gangs.end());
  }

  const Case& c_;
  std::map<NodeIndex, std::size_t> positions_;
  std::vector<Node> nodes_;
  std::vector<std::vector<GangIndex>> sets_;
  std::vector<std::size_t> path_, open_;
  std::size_t visited_ = 0;
};

// For which gangs the plan places pods, and which of these may evict what; each is found once.
class Claimants {
 public:
  explicit Claimants(const Case& c) : c_(c), claimed_(c) {}

  // Whether any counts of those that the moved pod is placed for: see ClaimedNodes; if there are none, the gang that
  // the move names.
  bool any_of_moved(PodIndex moved, const auto& counts) const {
    const std::span<const GangIndex> gangs = claimed_.claimants_of(moved);
    return gangs.empty() ? counts(c_.eviction[moved]->for_gang) : std::ranges::any_of(gangs, counts);
  }

  // What has_right says depends on the queue and the priority of the victim.
  bool has_right(const Displacement& displacement, EvictionReason reason) {
    const Gang& victim = c_.problem.gangs[displacement.victim];
    const auto [known, is_new] = rights_.try_emplace({displacement.claimant, victim.queue, victim.priority});
    if (is_new) {
      known->second = {.preempt = referee::has_right(c_, displacement, EvictionReason::kPreempt),
                       .reclaim = referee::has_right(c_, displacement, EvictionReason::kReclaim)};
    }
    return reason == EvictionReason::kPreempt ? known->second.preempt : known->second.reclaim;
  }

 private:
  struct Right {
    bool preempt = false, reclaim = false;
  };

  const Case& c_;
  ClaimedNodes claimed_;
  std::map<std::tuple<GangIndex, QueueIndex, std::int32_t>, Right> rights_;
};

// The gangs that may evict the pods of a unit: by preemption or reclaim; its own gang; any, if the unit is moved.
class Rights {
 public:
  // `unit`: pods of one gang that leave together.
  Rights(const Case& c, Claimants& claimants, std::span<const PodIndex> unit)
      : c_(c),
        claimants_(claimants),
        victim_(c.problem.pods[unit.front()].gang),
        is_move_(c.is_moved(unit.front())),
        unit_(unit),
        is_surplus_(is_move_ || has_minimum_after(c, c.problem.gangs[victim_])) {}

  // Whether the plan places the pod for a gang that may evict any of these pods of the unit.
  bool counts(const Placement& placement, std::span<const PodIndex> pods) {
    if (is_move_) return true;
    if (!c_.eviction[placement.pod]) return may_evict(c_.problem.pods[placement.pod].gang, pods);
    return claimants_.any_of_moved(placement.pod, [&](GangIndex gang) { return may_evict(gang, pods); });
  }
  // Any pod of the unit; on its nodes, any that ran on this node.
  bool counts(const Placement& placement) {
    std::vector<PodIndex> there;
    std::ranges::copy_if(unit_, std::back_inserter(there),
                         [&](PodIndex pod) { return c_.node_before(pod) == placement.node; });
    return counts(placement, there.empty() ? unit_ : there);
  }

 private:
  bool may_evict(GangIndex gang, std::span<const PodIndex> pods) {
    if (gang == victim_) return true;
    if (gang.is_none()) return false;
    const auto may = [&](EvictionReason reason) {
      return claimants_.has_right({victim_, gang}, reason) &&
             (is_surplus_ || std::ranges::any_of(pods, [&](PodIndex pod) {
                return !is_protected(c_, pod, unit_, {victim_, gang}, reason);
              }));
    };
    return may(EvictionReason::kPreempt) || may(EvictionReason::kReclaim);
  }

  const Case& c_;
  Claimants& claimants_;
  GangIndex victim_;
  bool is_move_;
  std::span<const PodIndex> unit_;
  bool is_surplus_;
};

// A node with the pods of a unit that are put back there, and with the arrivals that count; the others are taken away
// for the lifetime of the object. The pods before the plan may exceed what the node reports. This is harmless if no
// placed pod asks for the same resource.
class NodeOccupancy {
 public:
  // `pods`: those of the unit that ran on the node.
  NodeOccupancy(const Case& c, Occupancy& occupancy, std::span<const PodIndex> pods, Rights& rights)
      : c_(c), occupancy_(occupancy), node_(c.node_before(pods.front())), pods_(pods) {
    const auto at = std::ranges::lower_bound(c.crowded_nodes, node_, {}, &CrowdedNode::node);
    if (at == c.crowded_nodes.end() || at->node != node_) return;
    crowded_ = &*at;
    arrivals_.reserve(crowded_->arrivals.size());
    for (const Placement* placement : crowded_->arrivals) {
      if (is_one_of(placement->pod, pods_)) continue;
      (rights.counts(*placement, pods_) ? arrivals_ : others_).push_back(placement);
    }
    for (const Placement* other : others_) occupancy_.take(c_.spec(other->pod), node_, other->devices);
  }
  ~NodeOccupancy() {
    for (const Placement* other : others_) occupancy_.put(c_.spec(other->pod), node_, other->devices);
  }
  NodeOccupancy(const NodeOccupancy&) = delete;
  NodeOccupancy& operator=(const NodeOccupancy&) = delete;

  bool holds_all() const {
    return std::ranges::all_of(pods_, [&](PodIndex pod) { return holds(pod); });
  }

 private:
  bool holds(PodIndex pod) const {
    for (const ResourceAmount& asked : c_.spec(pod).resources) {
      const auto asks = [&](const Placement& placement) {
        return std::ranges::any_of(c_.spec(placement.pod).resources, [&](const ResourceAmount& other) {
          return other.resource == asked.resource && other.amount > 0;
        });
      };
      if (asked.amount > 0 && occupancy_.taken(node_, asked.resource) > c_.capacities.of(node_, asked.resource) &&
          is_any_placed(asks))
        return false;
    }
    if (!has_its_devices(pod) && !can_use_other_devices()) return false;
    return c_.spec(pod).gpu.devices == 0 || !are_devices_exceeded();
  }

  bool is_any_placed(const auto& asks) const {
    return std::ranges::any_of(arrivals_, [&](const Placement* placement) { return asks(*placement); });
  }

  bool has_its_devices(PodIndex pod) const {
    return std::ranges::none_of(c_.problem.devices_of(pod), [&](std::int32_t device) {
      const auto asks = [&](const Placement& placement) {
        return std::ranges::find(placement.devices, device) != placement.devices.end();
      };
      return occupancy_.device_taken(node_, device) > c_.capacities.of_device(node_, device) && is_any_placed(asks);
    });
  }

  // Whether what arrives finds devices next to all that is there: those that take most of a device first, each on the
  // fullest devices with room for it.
  bool can_use_other_devices() const {
    std::vector<DeviceUnits> taken(static_cast<std::size_t>(c_.node(node_).gpu_count));
    for (std::size_t device = 0; device < taken.size(); ++device)
      taken[device] = occupancy_.device_taken(node_, static_cast<std::int32_t>(device));
    const DeviceUnits capacity = c_.capacities.of_device(node_);
    const auto units_of = [&](const Placement* placement) {
      return device_units(c_.spec(placement->pod), c_.capacities.device_memory_mib(node_));
    };
    std::vector<const Placement*> order;
    order.reserve(arrivals_.size());
    DeviceUnits asked = 0, free = 0;
    for (const Placement* placement : arrivals_) {
      if (placement->devices.empty()) continue;
      order.push_back(placement);
      for (const std::int32_t device : placement->devices) {
        asked += units_of(placement);
        taken[static_cast<std::size_t>(device)] -= units_of(placement);
      }
    }
    for (const DeviceUnits units : taken) free += std::max<DeviceUnits>(0, capacity - units);
    if (asked > free) return false;
    std::ranges::sort(order, {},
                      [&](const Placement* placement) { return std::pair(-units_of(placement), placement->pod); });
    std::vector<std::size_t> open;
    return std::ranges::all_of(order, [&](const Placement* placement) {
      const DeviceUnits units = units_of(placement);
      open.clear();
      for (std::size_t device = 0; device < taken.size(); ++device) {
        if (taken[device] + units <= capacity) open.push_back(device);
      }
      if (open.size() < placement->devices.size()) return false;
      std::ranges::sort(open, {}, [&](std::size_t device) { return std::pair(-taken[device], device); });
      open.resize(placement->devices.size());
      for (const std::size_t device : open) taken[device] += units;
      return true;
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
    for (const Placement* placement : arrivals_) sum += c_.spec(placement->pod).gpu.devices;
    return sum > reported &&
           is_any_placed([&](const Placement& placement) { return c_.spec(placement.pod).gpu.devices > 0; });
  }

  const Case& c_;
  Occupancy& occupancy_;
  NodeIndex node_;
  std::span<const PodIndex> pods_;
  const CrowdedNode* crowded_ = nullptr;  // none: all present and all arriving pods fit together
  std::vector<const Placement*> arrivals_, others_;
};

bool has_room(Case& c, std::span<const PodIndex> pods, Rights& rights) {
  const PutBack put_back(c, c.sums.end, pods);
  std::vector<PodIndex> by_node(pods.begin(), pods.end());
  std::ranges::sort(by_node, {}, [&](PodIndex pod) { return std::pair(c.node_before(pod), pod); });
  for (std::span<const PodIndex> left = by_node; !left.empty();) {
    const auto end =
        std::ranges::find_if(left, [&](PodIndex pod) { return c.node_before(pod) != c.node_before(left.front()); });
    const std::span<const PodIndex> here(left.begin(), end);
    if (!NodeOccupancy(c, c.sums.end, here, rights).holds_all()) return false;
    left = left.subspan(here.size());
  }
  return true;
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

bool could_stay(Case& c, Claimants& claimants, std::span<const PodIndex> pods) {
  Rights rights(c, claimants, pods);
  if (!has_room(c, pods, rights)) return false;
  const bool all_count =
      std::ranges::all_of(c.plan.placements, [&](const Placement& placement) { return rights.counts(placement); });
  return all_count ? is_not_kept_out(c, pods) : is_not_kept_out(PartByRight(c, rights).part(), pods);
}

void check_pod(Case& c, Claimants& claimants, PodIndex pod) {
  if (!could_stay(c, claimants, std::span(&pod, 1))) return;
  const bool is_moved = c.is_moved(pod);
  c.object(Rule::kNotInVain, c.pod(pod).name,
           std::string(is_moved ? "it is moved" : "it is evicted") + ", but could have stayed on node \"" +
               std::string(c.node(c.node_before(pod)).name) + "\" next to all that the plan places" +
               (is_moved ? "" : " for gangs that may evict it"));
}

}  // namespace

void check_not_in_vain(Case& c, std::size_t most) {
  Claimants claimants(c);
  for (const GangIndex index : c.evicted_gangs) {
    if (c.violations.size() >= most) return;
    const Gang& gang = c.problem.gangs[index];
    std::vector<PodIndex> lost;  // stale pods are not evicted for a claimant
    for (const PodIndex pod : gang.pods) {
      if (c.is_lost(pod) && c.eviction[pod]->reason != EvictionReason::kStale) lost.push_back(pod);
      if (c.is_moved(pod)) check_pod(c, claimants, pod);
    }
    if (lost.empty()) continue;
    if (has_minimum_after(c, gang)) {
      for (const PodIndex pod : lost) check_pod(c, claimants, pod);
    } else if (could_stay(c, claimants, lost)) {
      c.object(
          Rule::kNotInVain, gang.name,
          "all of it is evicted, but could have stayed next to all that the plan places for gangs that may evict it");
    }
  }
}

}  // namespace muster::referee
