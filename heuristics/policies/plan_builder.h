// Plans of the baselines: gangs one after another, all or nothing, each pod on the node that it fills best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/policies/reservations.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/preemption/planner.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::policies {

// The best node of those that leave heads what is reserved for them.
class AdmittedNodes final : public placement::NodeChooser {
 public:
  AdmittedNodes(const ClusterState& state, const QueueBounds& bounds, placement::NodeRule rule,
                const Reservations& reservations)
      : NodeChooser(state, bounds, rule), nodes_(state.problem().nodes.indices()), reservations_(reservations) {}

  NodeIndex choose(PodIndex pod, std::span<const NodeIndex> among) override;

 private:
  IndexRange<NodeIndex> nodes_;
  const Reservations& reservations_;
};

// The snapshot, once stale gangs have been completed or evicted, and the plan that is made of it step by step.
class PlanBuilder {
 public:
  // Both outlive the builder. Cost: that of a ClusterState.
  PlanBuilder(const Problem& problem, const FairShares& shares);
  PlanBuilder(const PlanBuilder&) = delete;
  PlanBuilder& operator=(const PlanBuilder&) = delete;

  const ClusterState& state() const { return state_; }

  // Gangs of which a pod waits and may be placed, oldest first.
  std::vector<GangIndex> waiting() const;

  // Whether the gang has its minimum afterwards. Cost: that of GangPlacer::place_minimum, once for gangs of one shape
  // that do not fit.
  bool place_minimum(GangIndex gang);
  // The same by moves and evictions, as far as the policy allows them.
  bool claim_minimum(GangIndex gang);
  // The pods beyond the minimum of gangs that have it, as many as fit.
  void grow(const std::vector<GangIndex>& gangs);

  // From now on, what is placed leaves the gang what it needs when it is expected to start. See Reservations.
  bool reserve(GangIndex gang);

  Plan plan();

 private:
  // Gangs with equal shapes that outlast equally many heads fit or fail together.
  using Shape =
      std::tuple<QueueIndex, bool, std::int32_t, PodClassIndex, TopologyLevelIndex, std::int32_t, std::size_t>;
  std::optional<Shape> shape_of(GangIndex gang) const;
  template <class Place>
  bool keep_rules(GangIndex gang, const Place& place);
  std::vector<PlannedEviction> settle_stale();
  MicroGpu gpus_of_queue(GangIndex gang) const;

  const Problem& problem_;
  ClusterState state_;
  QueueBounds bounds_;
  preemption::EvictionRules rules_;
  Reservations reservations_;
  AdmittedNodes chooser_;
  placement::GangPlacer placer_;
  StopRequest no_stop_;
  preemption::PreemptionPlanner room_;
  std::set<Shape> misfits_, refused_;
};

}  // namespace muster::policies
