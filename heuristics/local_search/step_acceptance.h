// Which of the steps that the parts of a round have found the plan takes over: those that make it better by the levels.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "heuristics/local_search/plan_value.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/trial.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/leading_levels.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::local_search {

class StepAcceptance {
 public:
  // `plan`: the incumbent. Both must outlive it.
  StepAcceptance(const preemption::EvictionRules& rules, PlanState& plan);

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
  void note_move(PodIndex pod);

  const Problem& problem_;
  PlanState& plan_;
  const preemption::EvictionRules& rules_;
  LeadingLevels leading_;
  std::vector<Work> values_;                 // of the leading levels
  Indexed<QueueIndex, QueueAmounts> usage_;  // of the incumbent
  std::set<QueueIndex> victims_queues_;      // and all above them
  std::vector<Reclaim> reclaims_;            // of the incumbent, that have to stay
  std::set<PodIndex> noted_;                 // pods that have an entry among the evictions
};

// Older gangs for younger ones of equal terms: a waiting gang takes the places of one that the plan places and that
// differs from it only in its age.
//
// Gangs of equal pods, in lists of those that may take each other's places: same queue, priority, class, size, minimum
// and weight. Such an exchange changes no level before `seniority`.
class SeniorityExchange {
 public:
  // It must outlive this. Cost: O(pods).
  explicit SeniorityExchange(const SearchScope& scope);

  // All exchanges that raise seniority: the oldest waiting gang for the youngest placed one first. Cost: O(gangs), and
  // a put and a take for each pod that changes.
  void run(ClusterState& state) const;

 private:
  // `to` takes the places of `from`.
  void exchange(ClusterState& state, GangIndex from, GangIndex to) const;

  const SearchScope& scope_;
  std::vector<std::vector<GangIndex>> lists_;  // each of two or more, the gang that has waited longest first
};

}  // namespace muster::local_search
