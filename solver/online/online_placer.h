// Places pods one at a time on arrival, each where the value of the remaining capacity is greatest: better than
// fragmentation gradient descent on every trace of OpenB (docs/online.md).
//
// Classes and their frequencies are learnt as pods arrive; nothing is known in advance, and the future order is never
// read. Bids are recomputed after a fixed number of pods: the same pods give the same places on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/policies/online_value.h"
#include "solver/online/online_place.h"

namespace muster::online {

class OnlinePlacer {
 public:
  // Empty nodes. Requires at most kMostOnlineTypes types, of at most kMostOnlineDevices devices.
  OnlinePlacer(const std::vector<policies::OnlineType>& types, const std::vector<std::size_t>& type_of_node);
  ~OnlinePlacer();
  OnlinePlacer(const OnlinePlacer&) = delete;
  OnlinePlacer& operator=(const OnlinePlacer&) = delete;

  // None if it fits nowhere: a pod that fits is placed. Cpu counts in thousandths of a core, memory in MiB, both
  // rounded to the nearest. Cost: one check of every distinct node state, and the value of those few that could be
  // best; some milliseconds when bids are recomputed.
  std::optional<OnlinePlace> place(const policies::OnlineClass& pod);

  // Pods that are known together, in their order of arrival: their places are improved within the batch, and no earlier
  // pod moves. None for a pod that fits nowhere next to the others.
  std::vector<std::optional<OnlinePlace>> place_batch(std::span<const policies::OnlineClass> pods);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::online
