// The plan of the last cycle: a start for the next one.
//
// Consecutive snapshots of a cluster have mostly the same pods until the last plan is carried out. The part of it that
// still fits is completed and becomes a plan in addition to greedy's; it counts only if it is better.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/device_sets.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::portfolio {

// What a plan may start from. Names of pods, nodes or gangs that a snapshot does not have are passed over.
struct StartPlan {
  struct Placement {
    std::string pod, node;
    std::vector<std::int32_t> devices;
  };
  struct Eviction {
    std::string pod, for_gang;
    EvictionReason reason = EvictionReason::kPreempt;
  };
  bool empty() const { return placements.empty() && evictions.empty(); }

  std::vector<Placement> placements;
  std::vector<Eviction> evictions;
};

// Of one cycle. Pods and nodes are identified by hashes of their names: a collision costs a better start, no more. Not
// thread-safe.
class PlanMemory {
 public:
  // The whole plan, evictions and moves included, as far as they are needed and allowed still. If it evicts nothing, or
  // what it evicts may not be evicted any more: the pods that wait again and fit where they were placed, gangs only
  // with their minimum, and everything else that fits in addition. None if no waiting pod is known, if stale pods have
  // to be evicted, or if it was stopped before it reached the additional ones. Cost: as one or two starts of greedy
  // without evictions; with some, that of settle_rights in addition.
  std::optional<Candidate> recall(const Problem& problem, const FairShares& shares, const StopRequest& stop);
  // Replaces what it knew. Cost: O(n) in placements, and O(n log n) for the first recall.
  void keep(const Problem& problem, const Plan& plan);
  // Replaces what it knew, by names.
  void keep(const StartPlan& plan);
  // Says that a plan may depend on it even where nothing is learnt from earlier lines; always so by names.
  void give() { is_given_ = true; }
  bool is_given() const { return is_given_; }

 private:
  struct KnownPlacement {
    std::uint64_t pod = 0, node = 0;
    DeviceList devices;
  };
  struct KnownEviction {
    std::uint64_t pod = 0, for_gang = 0;
    EvictionReason reason = EvictionReason::kPreempt;
  };
  class Recall;

  std::vector<KnownPlacement> placements_;
  std::vector<KnownEviction> evictions_;
  bool is_sorted_ = true;  // both by pods, ascending
  bool is_given_ = false;
};

}  // namespace muster::portfolio
