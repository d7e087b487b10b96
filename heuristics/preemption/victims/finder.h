// What leaves with a pod: the victims of one claim, as units that leave together, each with its cost.
#pragma once

#include <optional>
#include <vector>

#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/cost.h"
#include "heuristics/preemption/victims/eligibility.h"
#include "heuristics/preemption/victims/least_losses.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class VictimFinder {
 public:
  // All must outlive it.
  VictimFinder(const PreemptionInputs& inputs, const Claim& claim, const VictimEligibility& eligibility,
               const LeastLosses& losses)
      : problem_(inputs.problem),
        state_(inputs.state),
        rules_(inputs.rules),
        claim_(claim),
        eligibility_(eligibility),
        losses_(losses),
        costs_(inputs, claim) {}

  // What may leave the node, by eviction or by giving way; with displacement, also what may be relocated. A gang that
  // leaves as a whole is listed once for each of its groups without surplus there; other groups may have some. Cost:
  // O(pods on the node x groups of a gang).
  std::vector<VictimUnit> units_on(NodeIndex node) const;
  // Each pod on the node that may be moved, as a unit of its own.
  std::vector<VictimUnit> moves_on(NodeIndex node) const;
  // The cheapest unit of the queue and those below it (none: of all queues), on any node, of which some pod asks for
  // the resource (none: any). Cost: O(pods).
  std::optional<VictimUnit> cheapest_below(QueueIndex queue, ResourceIndex resource) const;

  // Pods of these gangs stay: others of the gang are being relocated.
  void protect(GangIndex gang) { protected_.push_back(gang); }
  void unprotect_all() { protected_.clear(); }

 private:
  std::optional<VictimUnit> unit_of(PodIndex pod) const;
  std::optional<VictimUnit> leaving_unit_of(PodIndex pod) const;
  std::optional<VictimUnit> new_unit_of(PodIndex pod) const;
  std::optional<VictimUnit> move_of(PodIndex pod) const;
  std::optional<VictimUnit> displaced_unit_of(PodIndex pod) const;
  // Whether another pod of the gang counts towards its minimum once this one has left.
  bool stays_without(PodIndex pod, PodIndex other) const {
    return problem_.pods[other].status == PodStatus::kSucceeded || (other != pod && state_.is_present(other));
  }

  const Problem& problem_;
  const ClusterState& state_;
  const EvictionRules& rules_;
  const Claim& claim_;
  const VictimEligibility& eligibility_;
  const LeastLosses& losses_;
  VictimCosts costs_;
  std::vector<GangIndex> protected_;
};

}  // namespace muster::preemption
