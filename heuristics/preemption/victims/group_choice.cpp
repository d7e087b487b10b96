#include "heuristics/preemption/victims/group_choice.h"

#include <algorithm>
#include <array>

#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/level_values.h"

namespace muster::preemption {

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
