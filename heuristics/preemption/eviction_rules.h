// The rules of evictions (docs/semantics.md, "Evictions"), as a search needs them: whether this pod may be evicted for
// that gang in the current state; and whether all evictions of an end state hold together.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Rule Price (docs/semantics.md, "Evictions"): what a gang may make others lose, by what it has waited.
class EvictionPrice {
 public:
  // The problem must outlive it. Cost: O(pods) if the policy sets a price.
  explicit EvictionPrice(const Problem& problem);

  bool is_set() const { return price_.has_value(); }
  // Whether any pod of `victim` may leave for `claimant`, as far as its own loss goes. O(1).
  bool may_claim(GangIndex claimant, GangIndex victim) const {
    return !is_set() || least_loss_[victim] <= most_loss_[claimant];
  }
  // What others may lose for the gang, and the least that a pod of the gang that runs loses. Require a price.
  std::int64_t most_loss(GangIndex claimant) const { return most_loss_[claimant]; }
  std::int64_t least_loss(GangIndex victim) const { return least_loss_[victim]; }
  // Whether all that leaves for each claimant, moves included, is within what it may make others lose. Pods that are
  // where they ran have not left. Cost: O(evictions log claimants).
  bool holds(const ClusterState& end_state, const std::vector<PlannedEviction>& evictions) const;

 private:
  const Problem& problem_;
  std::optional<double> price_;
  Indexed<GangIndex, std::int64_t> most_loss_;   // that others may have for the gang
  Indexed<GangIndex, std::int64_t> least_loss_;  // of a pod of the gang that runs
};

// All that was ever evicted or moved, as far as the rules distinguish it. Includes what has come back since.
struct EvictedKinds {
  std::vector<PlannedEviction> reclaims;  // one of each kind of claimant and queue that is taken from
  std::vector<GangIndex> gangs;           // those that may be evicted in part
  std::set<std::pair<std::uint64_t, QueueIndex>> known_reclaims;
  std::set<GangIndex> known_gangs;
};

// The snapshot's information on which pods may be evicted at all, and on what reaches beyond one node.
struct EvictionSurvey {
  Indexed<QueueIndex, std::int32_t> lowest_running;       // priority of what runs and is preemptible, by leaf queue
  std::vector<std::pair<QueueIndex, GangIndex>> runs_in;  // leaf queues with such gangs, and one of each
  std::vector<PodClassIndex> running_classes;             // of what may be evicted, ascending
  double least_weight = 1;                                // weighted work to what is taken of devices, of any that runs
  std::int64_t mean_run_seconds = 1;                      // of what may be evicted
  std::vector<GangIndex> with_min_resources;
  bool is_local = true;  // no topology is required, nor anti-affinity, `minResources`, or a limit on moves
};

class EvictionRules {
 public:
  // `before`: the snapshot as it is. All must outlive the rules. Thread-safe. Cost: O(gangs) bytes; results that need a
  // scan of the pods are computed on first use.
  EvictionRules(const Problem& problem, const FairShares& shares, const ClusterState& before);

  const FairShares& shares() const { return shares_; }
  const EvictionSurvey& survey() const {
    if (!is_surveyed_.load(std::memory_order_acquire)) make_survey();
    return survey_;
  }

  // Eligibility and action: whether any pod of the gang may be evicted, or moved, for a reason.
  bool may_evict(GangIndex victim) const;
  bool may_move(const ClusterState& state, PodIndex pod) const;
  // preempt and reclaim, without the minimum run time and the price: whether a pod of `victim` may be evicted for
  // `claimant`, given the current usage.
  bool may_preempt(GangIndex claimant, GangIndex victim) const;
  bool may_reclaim(const ClusterState& state, GangIndex claimant, GangIndex victim) const;
  // Whether a placed claimant may reclaim from the victim's queue, whatever has left that queue by now: by its policy,
  // by the shares and quotas before the plan, and by what its own queues use in the end state.
  bool has_reclaimed_by_right(const ClusterState& end_state, GangIndex claimant, GangIndex victim) const;
  // Of what may_preempt and may_reclaim allow, what its loss allows, too.
  const EvictionPrice& price() const { return price_; }
  // Whether a gang may be evicted whole: enough of it has run for the minimum time that the reason requires.
  bool has_run_enough(const ClusterState& state, GangIndex claimant, GangIndex victim, EvictionReason reason) const;
  // What a pod of the victim that is no surplus has run for at least. 0: no minimum.
  Nanoseconds min_runtime(GangIndex claimant, GangIndex victim, EvictionReason reason) const;
  // reclaim: whether the claimant, with this much more usage, stays within its shares (and quota) below the common
  // ancestor.
  bool claims_within_share(const ClusterState& state, GangIndex claimant, GangIndex victim,
                           const QueueAmounts& added) const;
  // Whether all evictions of the end state obey the rules, except `Not in vain`. Cost: O(evictions x depth + groups).
  bool hold(const ClusterState& end_state, const std::vector<PlannedEviction>& evictions) const;
  // A quick check whose positive answer is exact: whether the rules hold whichever of all these are still evicted.
  // Cost: O(kinds x depth + gangs).
  bool surely_hold(const ClusterState& end_state, const EvictedKinds& kinds) const;
  void note(const PlannedEviction& eviction, EvictedKinds& kinds) const;
  // A victim whose claimant is not placed after all gets another claimant, for the same reason if one may, on its
  // own node if there is one. Cost: O(pods x log + evictions x claimants).
  void name_claimants(const ClusterState& end_state, std::vector<PlannedEviction>& evictions) const;

  // Equal: claimants of one queue that ask for the same resources and are equally preemptible.
  std::uint64_t claimant_kind(GangIndex gang) const;

  struct Sides {
    QueueIndex claimant, victim;  // just below the common ancestor
  };
  Sides sides(QueueIndex claimant, QueueIndex victim) const;
  // Which of gpu, cpu and memory some pod of the gang asks for.
  const std::array<bool, kQueueResources>& asked_for(GangIndex gang) const {
    const std::uint8_t found = asked_[gang].load(std::memory_order_relaxed);
    return kAskedFor[found != 0 ? found : find_asked(gang)];
  }

 private:
  static constexpr std::uint8_t kKnown = 1U << kQueueResources;
  static constexpr std::array kAskedFor = [] {
    std::array<std::array<bool, kQueueResources>, 2 * kKnown> all{};
    for (std::size_t mask = 0; mask < all.size(); ++mask) {
      for (std::size_t r = 0; r < kQueueResources; ++r) all[mask][r] = (mask >> r & 1U) != 0;
    }
    return all;
  }();
  std::uint8_t find_asked(GangIndex gang) const;
  void make_survey() const;
  bool is_over(const QueueAmounts& usage, const QueueAmounts& bound, GangIndex claimant) const;
  bool is_over_quota(const ClusterState& state, QueueIndex queue, GangIndex claimant) const;
  // Over its share before the plan and with that usage, or over its quota.
  bool is_still_over(QueueIndex side, const QueueAmounts& usage, GangIndex claimant, bool or_quota) const;
  bool keeps_protection(const ClusterState& end_state, const std::vector<PlannedEviction>& lost) const;
  QueueAmounts largest_unit_reclaimed(const ClusterState& end_state, const std::vector<PlannedEviction>& lost,
                                      QueueIndex side) const;
  std::vector<PodIndex> core_of(GangIndex gang) const;
  bool reclaim_holds(const ClusterState& end_state, const PlannedEviction& eviction, const QueueAmounts& back) const;
  bool reclaims_hold(const ClusterState& end_state, const std::vector<PlannedEviction>& lost) const;

  const Problem& problem_;
  const FairShares& shares_;
  Indexed<QueueIndex, QueueAmounts> usage_before_;
  Indexed<QueueIndex, QueueAmounts> quota_;  // unlimited as kNoBound
  const ClusterState& before_;
  EvictionPrice price_;
  bool any_min_runtime_ = false;
  mutable Indexed<GangIndex, std::atomic<std::uint8_t>> asked_;  // of kAskedFor, or'ed with kKnown; 0: not known yet
  mutable std::mutex surveying_;
  mutable std::atomic<bool> is_surveyed_ = false;
  mutable EvictionSurvey survey_;
};

}  // namespace muster::preemption
