// How many pods of each class fit into what is free after a plan, and what keeps further ones off the nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "model/explain/blockers.h"
#include "model/explain/reasons_room.h"
#include "model/problem/problem.h"

namespace muster::explain {

// Counts each class once, when first asked for, as if no other pods came. Cost: O(nodes) for each class; nodes with
// equal free capacity are examined together unless rules relate the class to the pods on them.
class PodCensus {
 public:
  // `room` outlives the object; it is working memory, and restored.
  PodCensus(const Problem& problem, RemainingRoom& room) : problem_(problem), room_(room) {}
  PodCensus(const PodCensus&) = delete;
  PodCensus& operator=(const PodCensus&) = delete;

  struct ClassCount {
    std::int64_t total = 0;             // pods that fit on all nodes together
    BlockerTally full;                  // of one more, once they are there
    std::optional<BlockerTally> fresh;  // of one, before
  };
  // All of these require that nothing is put into the room except what the snapshot and the plan have.
  const ClassCount& of(PodClassIndex pod_class);
  const BlockerTally& fresh_tally(PodClassIndex pod_class);
  bool has(PodClassIndex pod_class) const { return counts_.contains(pod_class); }

 private:
  const NodeGroups& groups_for(const PodClass& pod_class);

  const Problem& problem_;
  RemainingRoom& room_;
  std::unordered_map<PodClassIndex, ClassCount> counts_;
  NodeGroups alike_, single_;  // made when first asked for
};

}  // namespace muster::explain
