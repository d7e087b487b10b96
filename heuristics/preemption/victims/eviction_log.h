// Which pods were taken, why and for which claimant, with checkpoint and rollback.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/state/planned_eviction.h"
#include "model/base/index.h"

namespace muster::preemption {

// Every running pod that was ever taken, in the order of the first time; present ones do not count. All calls cost
// O(1), except rollback, which costs the number of changes that it undoes.
class EvictionLog {
 public:
  struct Checkpoint {
    std::size_t entries = 0, changes = 0;
  };
  explicit EvictionLog(std::size_t pods) : position_(pods, kNone) {}

  bool contains(PodIndex pod) const { return position_[pod] != kNone; }
  const std::vector<PlannedEviction>& entries() const { return entries_; }

  void set(const PlannedEviction& eviction) {
    std::uint32_t& at = position_[eviction.pod];
    if (at == kNone) {
      at = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back(eviction);
    } else {
      changes_.push_back(std::exchange(entries_[at], eviction));
    }
  }
  Checkpoint checkpoint() const { return {entries_.size(), changes_.size()}; }
  // Pods that were set since, ascending.
  std::vector<PodIndex> since(const Checkpoint& checkpoint) const {
    std::vector<PodIndex> pods;
    for (std::size_t i = checkpoint.entries; i < entries_.size(); ++i) pods.push_back(entries_[i].pod);
    for (std::size_t i = checkpoint.changes; i < changes_.size(); ++i) pods.push_back(changes_[i].pod);
    std::ranges::sort(pods);
    pods.erase(std::unique(pods.begin(), pods.end()), pods.end());
    return pods;
  }
  void rollback(const Checkpoint& to) {
    for (; changes_.size() > to.changes; changes_.pop_back())
      entries_[position_[changes_.back().pod]] = changes_.back();
    for (; entries_.size() > to.entries; entries_.pop_back()) position_[entries_.back().pod] = kNone;
  }

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  Indexed<PodIndex, std::uint32_t> position_;
  std::vector<PlannedEviction> entries_, changes_;  // changes_: what was overwritten
};

}  // namespace muster::preemption
