// The clusters on which a remedy is sketched before it is tested: those that the plan leaves behind, with the gang and
// all that comes before it or is level.
//
// They serve for a guess, so a smaller one does: where a full node could only help by an eviction, it is left out.
#pragma once

#include <vector>

#include "model/snapshot/snapshot.h"
#include "solver/answers/waiting_gang.h"

namespace muster::answers {

class Rivals {
 public:
  // `gang` outlives the object. Cost: O(nodes + pods), as of the methods.
  explicit Rivals(const WaitingGang& gang);

  const Snapshot& on_all_nodes() const { return all_; }
  // The nodes with room for a pod of the gang, whether or not it is let in there, and one of each kind; those with pods
  // of gangs that wait; those of `gangs`.
  Snapshot on_open_nodes(const std::vector<GangIndex>& gangs = {}) const;

 private:
  const WaitingGang& gang_;
  Snapshot all_;
};

}  // namespace muster::answers
