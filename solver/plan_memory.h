// Where the last cycle put its pods: a start for the next one.
//
// Consecutive snapshots of a cluster wait for much the same pods, as long as nobody has carried the last plan out. What
// of it still fits is completed and becomes a plan beside greedy's; it counts only if it is better.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/device_list.h"
#include "heuristics/greedy.h"
#include "model/fair_share.h"
#include "model/plan.h"
#include "model/problem.h"

namespace muster {

// Of one cycle. Pods and nodes are known by hashes of their names: a mix-up costs a better start, no more. Not for two
// threads at once.
class PlanMemory {
 public:
  // What waits again and fits where it was put, gangs with their minimum only, and whatever else fits beside it. None
  // where nothing is known of any pod that waits, somebody has to go as stale, or it was stopped before it came to what
  // fits beside. Cost: as one or two starts of greedy that evict nobody.
  std::optional<Candidate> recall(const Problem& problem, const FairShares& shares, const StopRequest& stop);
  // Forgets what it knew. Cost: O(n) in placements, and O(n log n) for who recalls them first.
  void keep(const Problem& problem, const Plan& plan);

 private:
  struct Known {
    std::uint64_t pod = 0, node = 0;
    DeviceList devices;
  };
  const Known* find(const Problem& problem, PodIndex pod) const;

  std::vector<Known> placements_;
  bool is_sorted_ = true;  // pods ascending
};

}  // namespace muster
