// The placements of the last cycle: a start for the next one.
//
// Consecutive snapshots of a cluster have mostly the same pending pods until the last plan is carried out. The part of
// it that still fits is completed and becomes a plan in addition to greedy's; it counts only if it is better.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/device_list.h"
#include "heuristics/state/stop_request.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::portfolio {

// Of one cycle. Pods and nodes are identified by hashes of their names: a collision costs a better start, no more. Not
// thread-safe.
class PlanMemory {
 public:
  // The pods that wait again and fit where they were placed, gangs only with their minimum, and everything else that
  // fits in addition. None if no waiting pod is known, if stale pods have to be evicted, or if it was stopped before it
  // reached the additional ones. Cost: as one or two starts of greedy without evictions.
  std::optional<Candidate> recall(const Problem& problem, const FairShares& shares, const StopRequest& stop);
  // Replaces what it knew. Cost: O(n) in placements, and O(n log n) for the first recall.
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

}  // namespace muster::portfolio
