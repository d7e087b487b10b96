// The evictions and moves that were decided, with undo.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/preemption/claim.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Which pods were taken, why and for which claimant, with checkpoint and rollback.
//
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

// Takes pods from the state and records for which claim they left. A record counts while its pod is not where the
// snapshot runs it.
class EvictionLedger {
 public:
  struct Checkpoint {
    ClusterState::Checkpoint state = 0;
    EvictionLog::Checkpoint log;
    bool has_evicted = false;
  };
  // `stale`: evictions that are settled already. The others must outlive the ledger.
  EvictionLedger(const EvictionRules& rules, ClusterState& state, const QueueBounds& bounds,
                 std::vector<PlannedEviction> stale);

  // Takes the pods that are present off the state, for the claim.
  void take(const std::vector<PodIndex>& pods, const Claim& claim);
  // Records decisions that were made elsewhere; the state already is as they leave it.
  void adopt(const std::vector<PlannedEviction>& evictions);
  // Those whose claimant is not placed after all get another, if one may evict them.
  void name_claimants();
  // From now on rules of evictions have to be checked.
  void expect_evictions() { has_evicted_ = true; }
  bool has_evicted() const { return has_evicted_; }

  // A new attempt: nothing has given way yet. What it can be undone to.
  const Checkpoint& begin_attempt();
  const Checkpoint& attempt_began() const { return attempt_; }
  Checkpoint checkpoint() const { return {state_.checkpoint(), log_.checkpoint(), has_evicted_}; }
  // Undoes all changes of the state and of the records since. Cost: O(changes).
  void rollback(const Checkpoint& to);

  // The evictions of the state as it is, settled ones first. Cost: O(records).
  std::vector<PlannedEviction> evictions() const;
  const std::vector<PlannedEviction>& records() const { return log_.entries(); }
  bool was_taken(PodIndex pod) const { return log_.contains(pod); }
  // Pods that were ever taken, or in the attempt under way; ascending.
  std::vector<PodIndex> taken() const { return log_.since({}); }
  std::vector<PodIndex> taken_in_attempt() const { return log_.since(attempt_.log); }
  // Whether an evicted pod can come back only if its own node has room.
  bool is_local() const { return is_local_ && rules_.survey().is_local; }
  // Whether all evictions together obey the rules. Cost: that of EvictionRules::surely_hold, at worst of hold.
  bool obeys_rules() const;
  // Whether the policy's limit allows that many more moves. Cost: O(records) if there is a limit.
  bool may_move_more(std::size_t pods) const;
  // Work x seconds run, of what is evicted and not placed elsewhere. Cost: O(records).
  std::int64_t evicted_loss() const;

  // Gangs of newly placed pods that were taken back in the attempt under way.
  const std::vector<GangIndex>& gave_way() const { return gave_way_; }
  void note_gave_way(GangIndex gang) { gave_way_.push_back(gang); }

 private:
  void record(const PlannedEviction& eviction);

  const Problem& problem_;
  ClusterState& state_;
  const EvictionRules& rules_;
  EvictionLog log_;
  EvictedKinds kinds_;  // of all attempts, those that failed, too
  std::vector<PlannedEviction> stale_;
  std::vector<GangIndex> gave_way_;
  Checkpoint attempt_;  // as the attempt under way began
  bool has_evicted_ = false;
  bool is_local_;
};

// Whether a pod of the gang waits for a node. Cost: O(pods of the gang).
bool has_waiting_pod(const ClusterState& state, GangIndex gang);

}  // namespace muster::preemption
