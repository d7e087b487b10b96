// What would be free on each node after all eligible victims had left: a quick test before victims are searched for.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "heuristics/preemption/candidates/capacity_table.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/eligibility.h"
#include "heuristics/preemption/victims/placement_ranks.h"
#include "heuristics/state/recently_touched.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class ClearableCapacity {
 public:
  // Whether a pod would fit on a node after all eligible victims had left. kNoVictims: none would leave.
  enum class Answer : std::uint8_t { kTooSmall, kNoVictims, kFits };

  // All must outlive it. Cost: O(nodes).
  ClearableCapacity(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks,
                    VictimEligibility& eligibility);

  // A scan of the nodes begins: which pods may be reclaimed, and which fit elsewhere, is determined anew. Cost:
  // O(queues + classes that run).
  void begin_scan();
  // Never kTooSmall for a node that the pod's victims can clear. Requires begin_scan(). Cost: O(1) while the node does
  // not change, else O(pods on the node x resources).
  Answer could_take(PodIndex pod, NodeIndex node);
  // Whether any pod that the plan has put on the node may give way to the claim. Cost: as could_take. Requires that no
  // pods are displaced.
  bool may_any_give_way(NodeIndex node);

 private:
  // Which victims may leave any node in a scan, apart from what is on the node.
  using Eligible = std::vector<std::int64_t>;
  struct Relocation {
    std::uint64_t scan = 0;  // as of which it is known
    bool is_possible = false;
    NodeIndex witness;
    std::size_t none_until = 0;      // one plus the number of touched nodes when there was none; 0: there may be one
    std::int32_t none_of_rank = -1;  // of the claim then, if other gangs might give way; else -1
  };

  bool may_move_victims() const;
  Eligible eligible_in_scan();
  bool could_relocate(PodClassIndex pod_class);
  bool is_target(NodeIndex node, const PodClass& pod_class);
  const CapacityTable::Entry& after_swap(NodeIndex node);
  const CapacityTable::Entry& after_victims(NodeIndex node);
  template <class Leaves, class Counts>
  void fill(NodeIndex node, CapacityTable& table, const Leaves& leaves, const Counts& counts);

  const Problem& problem_;
  const ClusterState& state_;
  const EvictionRules& rules_;
  const Claim& claim_;
  const PlacementRanks& ranks_;
  VictimEligibility& eligibility_;
  CapacityTable of_swap_;                   // once the pods that may give way have left
  CapacityTable of_one_scan_;               // once all eligible victims have left
  std::map<Eligible, CapacityTable> kept_;  // valid for all scans with the same eligible victims
  CapacityTable* of_scan_ = &of_one_scan_;
  std::uint64_t scans_ = 0;
  Indexed<PodClassIndex, Relocation> relocation_;
  RecentlyTouched recently_touched_;
};

}  // namespace muster::preemption
