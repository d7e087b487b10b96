// Which pods may leave for the claim under way: be evicted, moved, or give way.
#pragma once

#include <cstdint>
#include <utility>

#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/placement_ranks.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Answers depend on the claim and the current state. Cost: O(depth of the queue) for reclaim, else O(1).
class VictimEligibility {
 public:
  // All must outlive it.
  VictimEligibility(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks)
      : problem_(inputs.problem), state_(inputs.state), rules_(inputs.rules), claim_(claim), ranks_(ranks) {}

  // Whether no pod anywhere may be evicted, moved, or give way. Can err on one side only: possibly none of the pods
  // that once ran is left. Cost: O(leaf queues).
  bool is_hopeless() const;
  bool is_claimant_new() const;  // none of its pods runs. Cost: O(pods of the gang)

  // A scan of the nodes begins: what may_evict_at_first remembers of the queues is forgotten. Cost: O(queues).
  void begin_scan() { may_take_from_.assign(problem_.queues.size(), -1); }
  // Whether the gang, or any other of its queue, may be reclaimed, and the same remembered for the scan.
  bool may_reclaim(GangIndex victim) const;
  bool may_reclaim_in_scan(QueueIndex queue, GangIndex victim);

  // Whether a running pod may be evicted.
  bool may_evict(PodIndex pod) const;
  // The same as of the start of the scan. Eligibility for reclaim depends on the queue alone.
  bool may_evict_at_first(PodIndex pod);
  bool may_move(PodIndex pod) const {
    return problem_.pods[pod].gang != claim_.claimant && rules_.may_move(state_, pod);
  }
  bool may_give_way(PodIndex pod) const { return ranks_.may_give_way(pod, claim_); }
  bool may_be_displaced(PodIndex pod) const {
    return problem_.pods[pod].gang != claim_.claimant &&
           (fit::is_pending(problem_.pods[pod]) || rules_.may_move(state_, pod));
  }

 private:
  bool may_go_in_exchange(PodIndex pod) const;

  const Problem& problem_;
  const ClusterState& state_;
  const EvictionRules& rules_;
  const Claim& claim_;
  const PlacementRanks& ranks_;
  Indexed<QueueIndex, std::int8_t> may_take_from_;  // at the start of a scan: 1 yes, 0 no, -1 not known yet
};

}  // namespace muster::preemption
