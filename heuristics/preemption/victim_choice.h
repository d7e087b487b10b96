// Which running pods leave for a claim: the units in which they leave, with their costs, and the choice among groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/preemption/cost.h"
#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/inputs.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// What leaves with a pod: the victims of one claim, as units that leave together, each with its cost.
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

// Chooses which of the evicted or evictable groups leave: all together, by amounts alone.
//
// Running pods of one gang that leave, or come back, together.
struct VictimGroup {
  std::vector<PodIndex> pods;
  QueueIndex queue;
  std::size_t kind = 0;        // of the work, see WorkByKind
  Work work = 0, largest = 0;  // without weight, of all and of one pod
  std::int64_t loss = 0;       // of the level `evicted`, if they leave
  bool is_gone = false;
  bool is_reclaimed = false;  // or would be
  bool leaves = false;        // the choice

  bool costs_less_than(const VictimGroup& other) const;  // for so much work
};

struct QueueRoom {
  // Work with devices: how much of each leaf queue may leave before its share decreases, and how much it has beyond its
  // own share, without evictions.
  Indexed<QueueIndex, Work> spare, beyond_share;
  bool is_hard = false;  // no more than `spare` may leave, and in total not more than has left
};

// Chooses as much as has left, those first whose eviction costs least, and of no queue more than it has to spare unless
// there is no other way. If a queue is then below its share, one of the groups reclaimed from it is large enough that
// the queue would not be below with it, if such a group exists. Sorts the groups by cost. Cost: O(groups x log).
void choose_victims(std::vector<VictimGroup>& groups, const QueueRoom& room);

}  // namespace muster::preemption
