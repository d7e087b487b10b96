// Older for younger where everything else is equal: a gang that waits takes the places of one that the plan puts down
// and that differs from it in nothing but its age.
#pragma once

#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/search_scope.h"
#include "model/problem.h"

namespace muster {

// Gangs of equal pods, in lists of those that may take each other's places: same queue, priority, class, size, minimum
// and weight. Such an exchange changes no level before `seniority`.
class SeniorityExchange {
 public:
  // It must outlive this. Cost: O(pods).
  explicit SeniorityExchange(const SearchScope& scope);

  // As many exchanges as raise seniority, the oldest that waits for the youngest that is placed first. Cost: O(gangs),
  // and a put and a take for each pod that changes.
  void run(ClusterState& state) const;

 private:
  // `to` takes the places of `from`.
  void exchange(ClusterState& state, GangIndex from, GangIndex to) const;

  const SearchScope& scope_;
  std::vector<std::vector<GangIndex>> lists_;  // each of two or more, who has waited longest first
};

}  // namespace muster
