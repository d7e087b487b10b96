// The effect of a plan on the running pods of each gang, and for which gangs, in words. See docs/format.md, "Plan".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/explain/reason.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::explain {

class GangChanges {
 public:
  // The plan outlives it. Cost: O(pods + evictions log gangs).
  GangChanges(const Problem& problem, const Plan& plan);

  bool is_moved(PodIndex pod) const { return !new_node_[pod].is_none(); }
  // Whether some pod of it is evicted as stale.
  bool is_stale(GangIndex gang) const;
  // The reason of a gang that is evicted to the last pod: `Stale`, `Reclaimed` or `Preempted`.
  ReasonCode eviction_code(GangIndex gang) const;
  // "2 pods are evicted to make room for ns/a (preempt)", "moves n4 -> n5, is restarted, to make room for ns/a"; empty:
  // the plan leaves its running pods alone.
  std::string message(GangIndex gang) const;

 private:
  std::string evictions_text(const std::vector<const Eviction*>& evictions) const;
  std::string moves_text(const std::vector<const Eviction*>& evictions) const;
  std::string claimants_text(const std::vector<const Eviction*>& evictions) const;

  const Problem& problem_;
  Indexed<PodIndex, NodeIndex> new_node_;  // of moved pods; none: the pod is not moved
  std::map<GangIndex, std::vector<const Eviction*>> evictions_;
};

}  // namespace muster::explain
