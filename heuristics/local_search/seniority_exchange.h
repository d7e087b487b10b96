// Older gangs for younger ones of equal terms: a waiting gang takes the places of one that the plan places and that
// differs from it only in its age.
#pragma once

#include <vector>

#include "heuristics/local_search/scope.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::local_search {

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
