// A small cluster with some pods placed; what tests of the parts of the search start from.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/search_part.h"
#include "heuristics/local_search/trial.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "test/support/case.h"

namespace muster::local_search {

class SearchCase {
 public:
  struct Placed {
    const char* pod;
    const char* node;
    std::vector<std::int32_t> devices;
  };
  // `body`: see Cluster::body.
  SearchCase(const std::string& body, std::initializer_list<Placed> placed)
      : problem(with_plan(body, placed)),
        shares(problem.shares()),
        before(*problem, ClusterState::Releasing::kFreed),
        plan(problem.plan()),
        state(before),
        scope(*problem, shares, state, plan) {
    for (const Placement& placement : plan.placements) state.put(placement.pod, placement.node, placement.devices);
    scope.weigh(state);
  }

  TrialPod trial_pod(const char* name) const {
    TrialPod made;
    made.pod = pod(name);
    made.pod_class = problem->pods[made.pod].pod_class;
    return made;
  }

  // All nodes, and the pods and gangs of these names.
  SearchPart part(std::initializer_list<const char*> pods = {}, std::initializer_list<const char*> gangs = {}) const {
    SearchPart all;
    for (const NodeIndex node : problem->nodes.indices()) all.nodes.push_back(node);
    for (const char* pod : pods) all.waiting_pods.push_back(problem.pod(pod));
    for (const char* gang : gangs) all.waiting_gangs.push_back(problem.gang(gang));
    return all;
  }
  PodIndex pod(std::string_view name) const { return problem.pod(name); }
  GangIndex gang(std::string_view name) const { return problem.gang(name); }
  NodeIndex node(std::string_view name) const { return problem.node(name); }

  test::Case problem;
  FairShares shares;
  ClusterState before;
  Plan plan;
  ClusterState state;
  SearchScope scope;

 private:
  static test::Case with_plan(const std::string& body, std::initializer_list<Placed> placed) {
    test::Case made(body);
    for (const Placed& one : placed) made.place(one.pod, one.node, one.devices);
    return made;
  }
};

}  // namespace muster::local_search
