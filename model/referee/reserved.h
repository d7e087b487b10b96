// Rule Reserved (docs/semantics.md, "Reservations"): the referee's own view of which gangs are kept back.
#pragma once

#include <vector>

#include "model/problem/problem.h"

namespace muster::referee {

struct KeptBack {
  struct Entry {
    GangIndex gang, for_gang;
  };
  // Nodes on which only pods of a gang, or of gangs that are expected to end by an instant, may be placed.
  struct Hold {
    GangIndex for_gang;
    Nanoseconds until = 0;
    std::vector<NodeIndex> nodes;
  };
  std::vector<Entry> certain;        // whichever of several equal choices is taken; `for_gang` is one of those possible
  std::vector<GangIndex> undecided;  // some choices keep it back and others do not
  std::vector<Hold> holds;           // those that do not depend on a choice
  bool more_holds = false;           // there may be others, which do
};

// Of all gangs that wait; ascending. Reads of Problem only what describes pods, gangs, queues and nodes, no GangTimes.
// Cost: O(pods + gangs log gangs + nodes x large gangs that have their turn).
KeptBack kept_back(const Snapshot& snapshot, const Problem& problem);

}  // namespace muster::referee
