// Plans of one cluster in which some gangs do as one plan says, and all others as another says.
//
// To tell which of the differences between two plans matter, and whether a difference is possible without the others.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/base/index.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::answers {

// What a plan of `from` decides, for the pods, nodes and gangs that `to` has by the same names: pods that wait in both
// or run in both. A placement on a node that is gone is left out. Cost: O(pods + nodes + gangs).
Plan translated(const Problem& from, const Plan& plan, const Problem& to);

// The plan with its value. None: the referee does not pass it.
std::optional<Candidate> checked(const Problem& problem, const FairShares& shares, Plan plan);

using GangSet = std::set<GangIndex>;

class PlanMix {
 public:
  // Both plans are well-formed plans of the problem, but may break its rules. All must outlive the object. Cost:
  // O(nodes + pods).
  PlanMix(const Problem& problem, const FairShares& shares, const Plan& first, const Plan& second);

  // The gangs whose pods the plans treat differently, in parts that may be chosen apart: gangs of different parts have
  // no node and no eviction in common.
  const std::vector<GangSet>& parts() const { return parts_; }
  GangSet all() const;

  // Those of which not the same pods run in the end.
  GangSet of_other_presence() const;

  // The plan in which these gangs do as the second plan says, on other nodes if others are in the way there. None if it
  // breaks a rule. Cost: O(nodes + pods), that of a placement for each pod that finds another node, and that of the
  // referee.
  std::optional<Candidate> with(const GangSet& of_second) const;
  // The first plan. If the cluster is not the one that it was made for, and no gang has a right to some of its
  // evictions: without these, and with what fits then. None if it breaks another rule. Cost: that of `with` and of
  // settle_rights, which `stop` ends; it may be empty.
  std::optional<Candidate> first_by_right(const StopRequest& stop) const;
  // These gangs, and with them others that differ, as far as they are in their way. `with` these there is a plan, or
  // they are all, as after being asked to stop. Cost: that of `with` for each gang that is added at most.
  GangSet with_what_is_in_the_way(GangSet of_second, const StopRequest& stop) const;

 private:
  struct Decision {
    const Placement* placement = nullptr;
    const Eviction* eviction = nullptr;
  };
  using Decisions = Indexed<PodIndex, Decision>;
  static Decisions decisions_of(const Problem& problem, const Plan& plan);
  static bool is_equal(const Decision& a, const Decision& b);
  void find_parts();
  bool place(ClusterState& state, const Placement& placement) const;
  std::optional<Plan> unchecked(const GangSet& of_second, GangSet& in_the_way) const;

  const Problem& problem_;
  const FairShares& shares_;
  ClusterState before_;
  QueueBounds bounds_;
  preemption::EvictionRules rules_;
  Decisions first_, second_;
  std::vector<GangSet> parts_;
};

}  // namespace muster::answers
