// From all nodes of the cluster to those that can take a pod of a waiting gang now: what excludes the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/explain/blockers.h"
#include "solver/answers/standing.h"

namespace muster::answers {

// nodes = (sum of unsuitable) + suitable; suitable = (sum of full) + open.
struct Funnel {
  PodClassIndex pod_class;
  std::int64_t pods = 0;  // of this class that the gang lacks
  std::int64_t nodes = 0;
  // Nodes that could not take the pod even if they were empty, by the first filter that excludes them; those that are
  // held for another gang are among them.
  std::vector<explain::BlockerTally::Charge> unsuitable;
  std::int64_t nodes_of_unknown_memory = 0;  // of the unsuitable ones, if the pod asks for device memory
  std::int64_t suitable = 0;
  std::vector<explain::BlockerTally::Charge> full;  // suitable nodes without room for the pod, as the plan leaves them
  std::int64_t open = 0;
  std::int64_t pods_now = 0;         // that fit on the open nodes, as if no other pods came; at most `pods`
  std::int64_t pods_when_empty = 0;  // that would fit on the suitable nodes if these were empty; at most `pods`
  std::int64_t nodes_needed = 0;     // at least, for `pods` on empty ones; 0: no number of nodes would do
};

// One for each class of pods that the gang lacks. Cost: O(nodes x (resources + devices)) for each.
std::vector<Funnel> funnels(const WaitingGang& gang);

}  // namespace muster::answers
