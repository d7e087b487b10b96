// A cluster and everything that the parts of the preemption planner are built from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heuristics/preemption/claim.h"
#include "heuristics/preemption/context.h"
#include "heuristics/state/groups.h"
#include "model/objective/fair_share.h"
#include "test/support/case.h"

namespace muster::preemption {

class Planning {
 public:
  explicit Planning(const std::string& body)
      : problem(body),
        shares(problem.shares()),
        before(*problem, ClusterState::Releasing::kFreed),
        bounds(queue_bounds(*problem, before)),
        rules(*problem, shares, before),
        state(before),
        chooser(state, bounds, placement::NodeRule::kBestFit),
        placer(state, bounds, chooser) {}

  // The gang claims room by that action, for pods that add nothing to its queue.
  Planning& claim_for(const char* gang, PreemptionMode mode) {
    context.claim.claimant = problem.gang(gang);
    context.claim.mode = mode;
    context.claim.attempt = 1;
    return *this;
  }
  PodIndex pod(const char* name) const { return problem.pod(name); }
  NodeIndex node(const char* name) const { return problem.node(name); }

  test::Case problem;
  FairShares shares;
  ClusterState before;
  QueueBounds bounds;
  EvictionRules rules;
  ClusterState state;
  placement::NodeChooser chooser;
  placement::GangPlacer placer;
  StopRequest never;
  PreemptionContext context{{rules, placer, never}};
  Claim& claim = context.claim;
  EvictionLedger& ledger = context.ledger;
};

// Pods of one GPU. Node `a` has two: one runs `low` (priority 1), the other `high` (priority 5); `new` waits (9).
inline constexpr const char* kTwoRun = R"(
 "nodes":[{"name":"a","resources":{"cpu":64},"gpus":{"count":2}},
          {"name":"b","resources":{"cpu":64},"gpus":{"count":1}}],
 "pods":[{"name":"low","node":"a","gpus":[0],"gpu":{"count":1},"priority":1},
         {"name":"high","node":"a","gpus":[1],"gpu":{"count":1},"priority":5},
         {"name":"other","node":"b","gpus":[0],"gpu":{"count":1},"priority":7},
         {"name":"new","gpu":{"count":1},"priority":9},
         {"name":"two","gpu":{"count":2},"priority":9},
         {"name":"three","gpu":{"count":3},"priority":9}])";

}  // namespace muster::preemption
