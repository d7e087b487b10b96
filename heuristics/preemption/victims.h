// The victims of a claim: which pods may leave for it, in which units they leave, and what that costs.
//
// All answers depend on the claim and the current state.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/preemption/claim.h"
#include "heuristics/preemption/context.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Whether no pod anywhere may be evicted, moved, or give way. Can err on one side only: possibly none of the pods that
// once ran is left. Cost: O(leaf queues).
bool is_hopeless(const PreemptionContext& context, const Claim& claim);
// Whether none of the claimant's pods runs. Cost: O(pods of the gang).
bool is_claimant_new(const PreemptionContext& context, const Claim& claim);
// Whether the gang, or any other of its queue, may be reclaimed. Cost: O(depth of the queue).
bool may_reclaim(const PreemptionContext& context, const Claim& claim, GangIndex victim);
// Whether a running pod may be evicted, apart from what may_reclaim decides. O(1).
bool may_evict_if_reclaimed(const PreemptionContext& context, const Claim& claim, PodIndex pod);
// Whether a running pod may be evicted. Cost: that of may_reclaim if the claim reclaims, else O(1).
bool may_evict(const PreemptionContext& context, const Claim& claim, PodIndex pod);
bool may_move(const PreemptionContext& context, const Claim& claim, PodIndex pod);
bool may_be_displaced(const PreemptionContext& context, const Claim& claim, PodIndex pod);

// The priority of the level that loses, and the loss: a part of the cluster in millionths, or work. The default: none.
struct VictimLoss {
  std::int64_t priority = std::numeric_limits<std::int64_t>::min();
  Amount amount = 0;
  friend auto operator<=>(const VictimLoss&, const VictimLoss&) = default;
  // Losses of the same level add up; of different ones the higher counts.
  void add(const VictimLoss& other);
};

// Compared first to last: smaller is better.
struct VictimCost {
  VictimLoss share, quota, work;
  Work evicted = 0;  // work x seconds run
  Work moved = 0;
  std::int64_t excess = 0;  // ties: preferably from queues that are far above their share (negative: better),
  std::int64_t age = 0;     // and rather of gangs that were queued recently
  friend auto operator<=>(const VictimCost&, const VictimCost&) = default;
  void add(const VictimCost& other);
};

// The cost of evicting these pods of one gang. Requires that all are present. Cost: O(pods + depth of the queue).
VictimCost eviction_cost(const PreemptionContext& context, const Claim& claim, GangIndex gang,
                         std::span<const PodIndex> pods);
// The part of it that the queue and those above it lose of share and quota if so much of that priority leaves.
VictimCost loss_of_queue(const PreemptionContext& context, QueueIndex queue, std::int32_t priority,
                         const QueueAmounts& goes);
// A quick estimate for all nodes: of each queue that has eligible victims, the lowest priority of what is there, in the
// order of the survey's queues. Cost: O(leaf queues x priorities).
std::vector<std::pair<QueueIndex, std::int32_t>> least_losses(const PreemptionContext& context, const Claim& claim);

// Pods that leave together: a gang (its present running pods), or one surplus pod, or one pod that is moved.
struct VictimUnit {
  std::vector<PodIndex> pods;
  VictimCost cost;
  bool must_move = false;  // may not be evicted
};

// What may leave the node, by eviction or by giving way; with displacement, also what may be relocated. A gang that
// leaves as a whole is listed once for each of its groups without surplus there; other groups may have some. What is
// relocated costs at least one of the claim's least losses. Cost: O(pods on the node x groups of a gang).
std::vector<VictimUnit> units_on(const PreemptionContext& context, const Claim& claim, NodeIndex node);
// Each pod on the node that may be moved, as a unit of its own.
std::vector<VictimUnit> moves_on(const PreemptionContext& context, const Claim& claim, NodeIndex node);
// The pod alone, to be moved.
VictimUnit move_of(const PreemptionContext& context, PodIndex pod);
// The cheapest unit of the queue and those below it (none: of all queues), on any node, of which some pod asks for the
// resource (none: any). Cost: O(pods).
std::optional<VictimUnit> cheapest_below(const PreemptionContext& context, const Claim& claim, QueueIndex queue,
                                         ResourceIndex resource);

}  // namespace muster::preemption
