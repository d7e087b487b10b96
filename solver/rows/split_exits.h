// Gangs that leave to the last pod, but not all of their pods for one reason or for claimants of one kind.
//
// Mostly such a split is of no use: the channel of any pod that is reclaimed could take all of the gang. It is of use
// where that channel may not (its minimum run time protects the gang, or its claimants cannot afford all of it), where
// the gang's minimum is to count as a unit reclaimed from two sides, or where what leaves as stale is to count as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "solver/demand/demand.h"

namespace muster::formulation {

// What one channel may take of a gang.
struct ExitOption {
  std::size_t channel = 0;
  EvictionReason reason = EvictionReason::kStale;
  QueueIndex side;             // with reclaim: that of the victims; else none
  Nanoseconds protection = 0;  // the minimum run time
  bool whole = false;          // all of the gang
};

class SplitExits {
 public:
  // Of one class of gangs with running pods. `problem` and `demand` outlive the object.
  SplitExits(const Problem& problem, const Demand& demand, GangClassIndex index)
      : problem_(problem), demand_(demand), index_(index) {}

  // Whether there may be a plan that no plan without a split of these gangs equals. `has_price`: rule Price applies.
  // Cost: O(options x (options + cells) + pods of the gang).
  bool may_help(const std::vector<ExitOption>& options, bool has_price) const;

  // Whether the option may take a pod of the cell only as surplus. All pods of a cell are alike in this.
  bool protects(const ExitOption& option, RunningCellIndex cell) const;
  // Of what an option does not protect, as many pods must go as this, if the gang has no subgroups and is split; of
  // what it protects, none may go if the gang ran below its minimum.
  std::int64_t least_unprotected() const;
  bool ran_below_minimum() const;

 private:
  const GangClass& gang_class() const { return demand_.gang_classes[index_]; }
  const Gang& gang() const { return problem_.gangs[gang_class().gangs.front()]; }

  const Problem& problem_;
  const Demand& demand_;
  GangClassIndex index_;
};

}  // namespace muster::formulation
