// Room that pods leave for a gang is held for it until it is used or given up.
//
// A gang that waits for pods to leave has its nodes as status.nominatedNodeName (nominations.h). While pods are leaving
// these nodes, and for a short time after that, they are closed to all others: in the snapshot they have a taint that
// only the gang's pods tolerate. Otherwise, a gang that came later and is larger could take the room, and more pods
// would be evicted for the first one. It is in the objects, so that another agent goes on with it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/agent/options.h"
#include "model/base/tuning.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

class HeldRoom {
 public:
  // How long a node is held for pods that wait for none to leave there: until they start.
  static constexpr Nanoseconds kMostWait = kTuning.online.agent.held_s * kNanosecondsPerSecond;
  static constexpr std::string_view kTaint = "muster/room-of";

  // In the mode extender, pods have a node also if they start now: room is held only once pods were seen to leave it.
  explicit HeldRoom(ApplyMode mode) : mode_(mode) {}

  // Of the pods of these schedulers (all, if there are none). `now`: nanoseconds since the epoch; never less than
  // before. Cost: O(pods + nodes).
  void hold(Snapshot& snapshot, const std::vector<std::string>& schedulers, Nanoseconds now);

 private:
  ApplyMode mode_;
  std::map<std::string, Nanoseconds> since_;  // by gang: when pods were last seen to leave, or it was first seen
};

}  // namespace muster::cli
