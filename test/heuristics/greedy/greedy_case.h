// A small cluster with the gangs that wait in it; what tests of the parts of greedy start from.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "test/support/case.h"

namespace muster::greedy {

// `body`: see Cluster::body.
class GreedyCase {
 public:
  explicit GreedyCase(const std::string& body) : GreedyCase(test::Case(body)) {}
  explicit GreedyCase(test::Case made)
      : problem(std::move(made)),
        shares(problem.shares()),
        before(*problem, ClusterState::Releasing::kFreed),
        initial(*problem, shares, before),
        state(before),
        none_excluded(problem->gangs.size(), false) {}

  const WaitingGang& waiting(std::string_view name) const {
    for (const WaitingGang& gang : initial.waiting_gangs().all()) {
      if (gang.gang == problem.gang(name)) return gang;
    }
    ADD_FAILURE() << name << " does not wait";
    return initial.waiting_gangs().all().front();
  }
  std::string name_of(GangIndex gang) const { return std::string(problem->gangs[gang].name); }

  test::Case problem;
  FairShares shares;
  ClusterState before;
  InitialWork initial;
  ClusterState state;
  std::vector<bool> none_excluded;
};

}  // namespace muster::greedy
