// Rule Reserved (docs/semantics.md, "Reservations"): the referee's own view of which gangs are kept back.
#pragma once

#include <vector>

#include "model/problem/problem.h"

namespace muster::referee {

struct KeptBack {
  struct Entry {
    GangIndex gang, for_gang;
  };
  std::vector<Entry> certain;        // whichever of several equal choices is taken; `for_gang` is one of those possible
  std::vector<GangIndex> undecided;  // some choices keep it back and others do not
};

// Of all gangs that wait; ascending. Reads of Problem only what describes pods, gangs, queues and nodes, no GangTimes.
// Cost: O(pods + gangs log gangs + nodes x large gangs that have their turn).
KeptBack kept_back(const Snapshot& snapshot, const Problem& problem);

}  // namespace muster::referee
