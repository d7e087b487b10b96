// Which of the steps that the parts of a round have found the plan takes over: those that make it better by the levels.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "heuristics/local_search/part/step.h"
#include "heuristics/local_search/plan_state.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/leading_levels.h"
#include "heuristics/state/stop_request.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::local_search {

class StepAcceptance {
 public:
  // `before`: the snapshot as it is; `plan`: the incumbent. All must outlive it.
  StepAcceptance(const FairShares& shares, const ClusterState& before, PlanState& plan);

  // `found`: by part. All of it in one step if that is an improvement; else step by step, until asked to stop. Returns
  // whether anything was kept. Cost: O(changes), and that of the leading levels for each attempt.
  bool take_over(const std::vector<std::vector<Step>>& found, const StopRequest& stop);
  // Whether the current state obeys the rules of evictions and is better than the one that was accepted last; levels
  // after the leading ones by the gain. If so, it is accepted.
  bool accepts(const Gain& gain);

 private:
  struct Reclaim {
    GangIndex claimant, victim;
  };
  std::set<QueueIndex> queues_of_victims() const;
  std::vector<Reclaim> reclaims_by_right() const;
  bool keeps_victims_out() const;
  bool keeps_rights() const;
  bool take_over_alone(const Step* const& step);
  std::optional<Gain> carry_out(std::span<const Step* const> steps);
  bool carry_out(const Step& step);
  bool fits(PodIndex pod, const Place& place) const;

  const Problem& problem_;
  PlanState& plan_;
  preemption::EvictionRules rules_;
  LeadingLevels leading_;
  std::vector<Work> values_;                 // of the leading levels
  Indexed<QueueIndex, QueueAmounts> usage_;  // of the incumbent
  std::set<QueueIndex> victims_queues_;      // and all above them
  std::vector<Reclaim> reclaims_;            // of the incumbent, that have to stay
};

}  // namespace muster::local_search
