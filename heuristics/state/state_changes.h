// What has changed in a cluster state since it began: for indices and caches that follow the state.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// Undone changes and their undoing are changes, too: the lists only grow, and the versions only increase.
class StateChanges {
 public:
  // Nodes whose free capacity changed, in order, one entry for each change. The entries that a follower has not read
  // yet are the nodes that it has to examine again.
  const std::vector<NodeIndex>& touched() const { return touched_; }
  // The same for gangs whose pods came or left.
  const std::vector<GangIndex>& changed_gangs() const { return changed_gangs_; }
  // Increases whenever a pod that runs in the snapshot comes or leaves.
  std::uint64_t standing_version() const { return standing_version_; }

  // The pod came to the node or left it.
  void note(const Pod& pod, NodeIndex node) {
    if (pod.status == PodStatus::kRunning) ++standing_version_;
    touched_.push_back(node);
    changed_gangs_.push_back(pod.gang);
  }

 private:
  std::vector<NodeIndex> touched_;
  std::vector<GangIndex> changed_gangs_;
  std::uint64_t standing_version_ = 0;
};

}  // namespace muster
