#include "heuristics/preemption/victim_choice.h"

#include <algorithm>
#include <array>

#include "model/base/saturating.h"
#include "model/objective/level_values.h"

namespace muster {

namespace {

constexpr std::size_t kGpuWork = 0;  // of WorkByKind
constexpr int kMostPinned = 3;

// One attempt, in which those that are pinned leave whatever they cost.
class LeaverChoice {
 public:
  LeaverChoice(std::vector<Party>& parties, const QueueRoom& room, const std::vector<bool>& pinned)
      : parties_(parties), spare_(room.spare) {
    for (const Party& party : parties) must_leave_[party.kind] += party.is_gone ? party.work : 0;
    for (std::size_t i = 0; i < parties.size(); ++i) {
      parties[i].leaves = false;
      if (pinned[i]) mark(parties[i]);
    }
    choose_cheapest(true);
    if (room.is_hard) return;
    choose_last(true);
    choose_cheapest(false);
    choose_last(false);
  }

 private:
  void mark(Party& party) {
    party.leaves = true;
    must_leave_[party.kind] -= party.work;
    if (party.kind == kGpuWork) spare_[party.queue] -= party.work;
  }
  bool is_spared(const Party& party) const { return party.kind != kGpuWork || party.work <= spare_[party.queue]; }

  void choose_cheapest(bool only_spared) {
    for (Party& party : parties_) {
      if (!party.leaves && party.work <= must_leave_[party.kind] && (!only_spared || is_spared(party))) mark(party);
    }
  }
  // Of each kind one that is large enough for all that still has to leave.
  void choose_last(bool only_spared) {
    for (std::size_t kind = 0; kind < must_leave_.size(); ++kind) {
      Party* last = nullptr;
      for (Party& party : parties_) {
        if (party.leaves || party.kind != kind || must_leave_[kind] <= 0 || party.work < must_leave_[kind]) continue;
        if (!only_spared || is_spared(party)) last = last == nullptr || party.loss < last->loss ? &party : last;
      }
      if (last != nullptr) mark(*last);
    }
  }

  std::vector<Party>& parties_;
  Indexed<QueueIndex, Work> spare_;
  WorkByKind must_leave_{};
};

// For a queue that falls below its share by the loss of small parties alone, an evicted party that is large enough.
bool pin_large_ones(const std::vector<Party>& parties, const QueueRoom& room, std::vector<bool>& pinned) {
  Indexed<QueueIndex, Work> rest = room.beyond_share, largest(rest.size(), 0);
  for (const Party& party : parties) {
    if (!party.leaves || party.kind != kGpuWork) continue;
    rest[party.queue] -= party.work;
    if (party.is_reclaimed) largest[party.queue] = std::max(largest[party.queue], party.work);
  }
  bool any = false;
  for (const QueueIndex queue : rest.indices()) {
    if (largest[queue] == 0 || rest[queue] + largest[queue] > 0) continue;
    std::size_t best = parties.size();
    for (std::size_t i = 0; i < parties.size(); ++i) {
      const Party& party = parties[i];
      const bool helps = party.queue == queue && party.is_gone && party.is_reclaimed && party.kind == kGpuWork &&
                         rest[queue] + party.work > 0 && !pinned[i];
      if (helps && (best == parties.size() || party.loss < parties[best].loss)) best = i;
    }
    if (best == parties.size()) continue;
    pinned[best] = any = true;
  }
  return any;
}

}  // namespace

bool Party::costs_less_than(const Party& other) const { return Wide{loss} * other.work < Wide{other.loss} * work; }

void choose_leavers(std::vector<Party>& parties, const QueueRoom& room) {
  std::ranges::stable_sort(parties, [](const Party& a, const Party& b) { return a.costs_less_than(b); });
  std::vector<bool> pinned(parties.size(), false);
  LeaverChoice(parties, room, pinned);
  for (int i = 0; i < kMostPinned && pin_large_ones(parties, room, pinned); ++i) LeaverChoice(parties, room, pinned);
}

}  // namespace muster
