// The pods that could be evicted for a pending gang, and which of them the rules allow to be.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/explain/reasons_need.h"
#include "model/explain/remaining_capacity.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::explain {

// What the rules about evictions depend on; they treat all victims with equal values in the same way.
struct VictimKind {
  QueueIndex queue;
  std::int32_t priority = 0;
  bool preempt_protected = false;
  std::uint32_t reclaim_protected = 0;  // bit i: by the minimum run time set at ancestor i (0: the queue itself)
  bool held = false;                    // by disruption budgets, see held_by_budgets
  friend auto operator<=>(const VictimKind&, const VictimKind&) = default;
};

struct AlikeVictims {
  VictimKind kind;
  std::vector<PodIndex> pods;
  QueueAmounts usage{};         // of all of them
  std::vector<Amount> amounts;  // by ResourceIndex
};

// The running pods of preemptible gangs that the plan leaves where they are, by kind. Surplus pods of elastic gangs are
// not protected by minimum run times; the other pods of a gang are if one of them is. Cost: O(running pods x log) and
// that of held_by_budgets().
std::vector<AlikeVictims> alike_victims(const Problem& problem, const AfterPlan& end);

// The least that the need adds to its queue's usage: memory requests on the largest devices that they may use.
QueueAmounts least_usage(const Problem& problem, const GangNeed& need);

// Which rules are applied to the victims; without any, all may be evicted.
struct EvictionRuleSet {
  bool share = false, priority = false, protection = false, budgets = false, actions = false;
};

// The gang that victims make room for, and what it adds to its queue's usage.
struct Claim {
  GangIndex gang;
  QueueAmounts demand{};
};

// Whether victims may be evicted for a claim: preempted in its own queue, reclaimed from others. Simplified: a queue
// over its share counts with all its pods. Cost: O(depth of the queues).
class EvictionGrounds {
 public:
  // All outlive the object.
  EvictionGrounds(const Problem& problem, const FairShares& shares, const AfterPlan& end);

  bool may_go(const VictimKind& victim, const Claim& claim, EvictionRuleSet rules) const;
  // Unlimited ones as the largest amount.
  const QueueAmounts& quota(QueueIndex queue) const { return quota_[queue]; }
  // Whether what the claim adds stays within the fair shares of its queue and of those above it, up to `up_to` (none:
  // to the root), and what is not preemptible within their quotas, unless the policy asks for that anyway.
  bool stays_within_share(const Claim& claim, QueueIndex up_to) const;

 private:
  bool may_be_reclaimed(const VictimKind& victim, const Claim& claim, EvictionRuleSet rules) const;
  bool is_ground(QueueIndex victim_side, QueueIndex own_side, const QueueAmounts& demand) const;
  // Positions among the ancestors: of the victim's side, of the claimant's side, just below the common ancestor.
  std::pair<std::size_t, std::size_t> sides(QueueIndex victim, QueueIndex claimant) const;

  const Problem& problem_;
  const FairShares& shares_;
  const AfterPlan& end_;
  Indexed<QueueIndex, QueueAmounts> quota_;
};

// Which potential victims disruption budgets leave, for `makeRoom`.
//
// The running pods that the budgets keep where they are, given the plan. If pods share a budget that allows some
// evictions, pods of low priority are evicted first, then those whose eviction clears nodes. Gangs are not considered
// as wholes, except that a gang whose pods could never be evicted together is held. All false if no budget binds. Cost:
// O(running pods x log).
Indexed<PodIndex, bool> held_by_budgets(const Problem& problem, const AfterPlan& end);

}  // namespace muster::explain
