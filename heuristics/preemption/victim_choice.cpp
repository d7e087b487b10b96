#include "heuristics/preemption/victim_choice.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/level_values.h"
#include "model/problem/gang_tree.h"

namespace muster::preemption {

// A gang that leaves as a whole is listed once for each of its groups without surplus there; other groups may have
// some.
std::vector<VictimUnit> VictimFinder::units_on(NodeIndex node) const {
  std::vector<VictimUnit> units;
  std::vector<GroupIndex> whole;
  for (const PodIndex pod : state_.pods_on(node)) {
    if (std::ranges::find(whole, problem_.pods[pod].group) != whole.end()) continue;
    auto unit = unit_of(pod);
    if (!unit) continue;
    if (unit->pods.size() > 1) whole.push_back(problem_.pods[pod].group);
    units.push_back(*std::move(unit));
  }
  return units;
}

std::vector<VictimUnit> VictimFinder::moves_on(NodeIndex node) const {
  std::vector<VictimUnit> units;
  for (const PodIndex pod : state_.pods_on(node)) {
    if (auto unit = move_of(pod)) units.push_back(*std::move(unit));
  }
  return units;
}

std::optional<VictimUnit> VictimFinder::cheapest_below(QueueIndex queue, ResourceIndex resource) const {
  std::optional<VictimUnit> best;
  for (const PodIndex pod : problem_.pods.indices()) {
    const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
    if (!state_.is_present(pod) || gang.queue.is_none()) continue;
    // A move frees nothing of the queue.
    if (claim_.mode == PreemptionMode::kConsolidate && !fit::is_pending(problem_.pods[pod])) continue;
    if (!resource.is_none() && problem_.class_of(pod).request[resource.value()] == 0) continue;
    const auto& path = problem_.queues[gang.queue].ancestors;
    if (!queue.is_none() && std::ranges::find(path, queue) == path.end()) continue;
    auto unit = leaving_unit_of(pod);
    if (!unit) continue;
    if (!best || unit->cost < best->cost) best = std::move(unit);
  }
  return best;
}

// What leaves the node with this pod: what has to leave if it leaves, or itself to be relocated, whichever costs less.
std::optional<VictimUnit> VictimFinder::unit_of(PodIndex pod) const {
  std::optional<VictimUnit> leaving = leaving_unit_of(pod);
  if (claim_.stage != ClaimStage::kDisplacing) return leaving;
  std::optional<VictimUnit> displaced = displaced_unit_of(pod);
  return leaving && (!displaced || leaving->cost <= displaced->cost) ? leaving : displaced;
}

// What has to leave if this pod leaves: itself if it is surplus or moved, else all of its gang.
std::optional<VictimUnit> VictimFinder::leaving_unit_of(PodIndex pod) const {
  if (std::ranges::find(protected_, problem_.pods[pod].gang) != protected_.end()) return std::nullopt;
  if (fit::is_pending(problem_.pods[pod])) return new_unit_of(pod);
  if (claim_.mode == PreemptionMode::kConsolidate) return move_of(pod);
  if (!eligibility_.may_evict(pod)) return std::nullopt;
  const GangIndex gang = problem_.pods[pod].gang;
  const bool may_be_surplus = !problem_.gangs[gang].leaves_whole;
  if (may_be_surplus &&
      meets_minimum(problem_, problem_.gangs[gang], [&](PodIndex p) { return stays_without(pod, p); })) {
    if (!state_.budgets_allow({&pod, 1})) return std::nullopt;
    return VictimUnit{{pod}, costs_.of(gang, {&pod, 1}), false};
  }
  const EvictionReason reason =
      claim_.mode == PreemptionMode::kPreempt ? EvictionReason::kPreempt : EvictionReason::kReclaim;
  if (!rules_.has_run_enough(state_, claim_.claimant, gang, reason)) return std::nullopt;
  std::vector<PodIndex> all;
  for (const PodIndex p : problem_.gangs[gang].pods) {
    if (!state_.is_present(p)) continue;
    if (fit::is_pending(problem_.pods[p]) && !eligibility_.may_give_way(p)) return std::nullopt;
    all.push_back(p);
  }
  if (!state_.budgets_allow(all)) return std::nullopt;
  return VictimUnit{all, costs_.of(gang, all), false};
}

// What is taken back with a newly placed pod: the pod itself if it is surplus, else all newly placed pods of its gang.
std::optional<VictimUnit> VictimFinder::new_unit_of(PodIndex pod) const {
  if (!eligibility_.may_give_way(pod)) return std::nullopt;
  const GangIndex gang = problem_.pods[pod].gang;
  if (meets_minimum(problem_, problem_.gangs[gang], [&](PodIndex p) { return stays_without(pod, p); }))
    return VictimUnit{{pod}, costs_.of(gang, {&pod, 1}), false};
  std::vector<PodIndex> all;
  for (const PodIndex p : problem_.gangs[gang].pods) {
    if (!state_.is_present(p)) continue;
    // It has run, too, or its minimum was placed for an earlier level.
    if (!eligibility_.may_give_way(p)) return std::nullopt;
    all.push_back(p);
  }
  return VictimUnit{all, costs_.of(gang, all), false};
}

std::optional<VictimUnit> VictimFinder::move_of(PodIndex pod) const {
  if (!eligibility_.may_move(pod)) return std::nullopt;
  VictimUnit unit{{pod}, {}, true};
  unit.cost.moved = problem_.pods[pod].weighted_work;
  return unit;
}

// A relocated pod, with the minimum cost of the victims that it needs.
std::optional<VictimUnit> VictimFinder::displaced_unit_of(PodIndex pod) const {
  if (!eligibility_.may_be_displaced(pod)) return std::nullopt;
  const Work work = problem_.pods[pod].weighted_work;
  const QueueAmounts goes = queue_usage(problem_.class_of(pod), problem_.class_of(state_.node_of(pod)));
  VictimCost least;
  bool is_first = true;
  for (const auto& [queue, priority] : losses_.of_queues()) {
    VictimCost cost = costs_.loss_of(queue, priority, goes);
    cost.work = {priority, work};
    least = std::exchange(is_first, false) ? cost : std::min(least, cost);
  }
  least.evicted = saturating_multiply(work, rules_.survey().mean_run_seconds);
  least.moved = fit::is_pending(problem_.pods[pod]) ? 0 : work;
  return VictimUnit{{pod}, least, true};
}

namespace {

constexpr std::size_t kGpuWork = 0;  // of WorkByKind

// One attempt, in which those that are pinned leave whatever they cost.
class GroupChoice {
 public:
  GroupChoice(std::vector<VictimGroup>& groups, const QueueRoom& room, const std::vector<bool>& pinned)
      : groups_(groups), pinned_(pinned), is_hard_(room.is_hard), spare_(room.spare) {}

  void choose() {
    for (const VictimGroup& group : groups_) must_leave_[group.kind] += group.is_gone ? group.work : 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].leaves = false;
      if (pinned_[i]) mark(groups_[i]);
    }
    choose_cheapest(true);
    if (is_hard_) return;
    choose_last(true);
    choose_cheapest(false);
    choose_last(false);
  }

 private:
  void mark(VictimGroup& group) {
    group.leaves = true;
    must_leave_[group.kind] -= group.work;
    if (group.kind == kGpuWork) spare_[group.queue] -= group.work;
  }
  bool is_spared(const VictimGroup& group) const { return group.kind != kGpuWork || group.work <= spare_[group.queue]; }

  void choose_cheapest(bool only_spared) {
    for (VictimGroup& group : groups_) {
      if (!group.leaves && group.work <= must_leave_[group.kind] && (!only_spared || is_spared(group))) mark(group);
    }
  }
  // Of each kind one that is large enough for all that still has to leave.
  void choose_last(bool only_spared) {
    for (std::size_t kind = 0; kind < must_leave_.size(); ++kind) {
      VictimGroup* last = nullptr;
      for (VictimGroup& group : groups_) {
        if (group.leaves || group.kind != kind || must_leave_[kind] <= 0 || group.work < must_leave_[kind]) continue;
        if (!only_spared || is_spared(group)) last = last == nullptr || group.loss < last->loss ? &group : last;
      }
      if (last != nullptr) mark(*last);
    }
  }

  std::vector<VictimGroup>& groups_;
  const std::vector<bool>& pinned_;
  bool is_hard_;
  Indexed<QueueIndex, Work> spare_;
  WorkByKind must_leave_{};
};

// For a queue that falls below its share by the loss of small groups alone, an evicted group that is large enough.
bool pin_large_ones(const std::vector<VictimGroup>& groups, const QueueRoom& room, std::vector<bool>& pinned) {
  Indexed<QueueIndex, Work> rest = room.beyond_share, largest(rest.size(), 0);
  for (const VictimGroup& group : groups) {
    if (!group.leaves || group.kind != kGpuWork) continue;
    rest[group.queue] -= group.work;
    if (group.is_reclaimed) largest[group.queue] = std::max(largest[group.queue], group.work);
  }
  bool any = false;
  for (const QueueIndex queue : rest.indices()) {
    if (largest[queue] == 0 || rest[queue] + largest[queue] > 0) continue;
    std::size_t best = groups.size();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const VictimGroup& group = groups[i];
      const bool helps = group.queue == queue && group.is_gone && group.is_reclaimed && group.kind == kGpuWork &&
                         rest[queue] + group.work > 0 && !pinned[i];
      if (helps && (best == groups.size() || group.loss < groups[best].loss)) best = i;
    }
    if (best == groups.size()) continue;
    pinned[best] = any = true;
  }
  return any;
}

}  // namespace

bool VictimGroup::costs_less_than(const VictimGroup& other) const {
  return Wide{loss} * other.work < Wide{other.loss} * work;
}

void choose_victims(std::vector<VictimGroup>& groups, const QueueRoom& room) {
  std::ranges::stable_sort(groups, [](const VictimGroup& a, const VictimGroup& b) { return a.costs_less_than(b); });
  std::vector<bool> pinned(groups.size(), false);
  GroupChoice(groups, room, pinned).choose();
  for (int i = 0; i < kTuning.heuristics.passes && pin_large_ones(groups, room, pinned); ++i)
    GroupChoice(groups, room, pinned).choose();
}

}  // namespace muster::preemption
