// Places pods one at a time as they come, where the value of what is left is greatest: better than fragmentation
// gradient descent on every trace of OpenB (docs/online.md).
//
// Classes and their frequencies are learnt as pods come; nothing is known in advance, and the order to come is never
// looked at. Bids are solved for again every so many pods: the same pods give the same places whatever the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/online_value.h"

namespace muster {

struct OnlinePlacerOptions {
  std::int64_t every = 200;     // pods between two solves, or 2 for each class beyond 50; fewer at the beginning
  double usable_weight = 0.02;  // of the tie-break term
};

// Where one pod goes.
struct OnlinePlace {
  std::size_t node = 0;
  std::vector<std::int32_t> devices;  // positions on the node, ascending
};

class OnlinePlacer {
 public:
  // Empty nodes. Requires at most kMostOnlineTypes types, of at most kMostOnlineDevices devices.
  OnlinePlacer(const std::vector<OnlineType>& types, std::vector<std::size_t> type_of_node,
               const OnlinePlacerOptions& options);
  ~OnlinePlacer();
  OnlinePlacer(const OnlinePlacer&) = delete;
  OnlinePlacer& operator=(const OnlinePlacer&) = delete;

  // None where it fits nowhere: what fits is placed. Cpu counts in thousandths of a core, memory in MiB, both rounded
  // to the nearest. Cost: one look at every state that nodes are in, and the value of those few that could be best;
  // some milliseconds where bids are solved for.
  std::optional<OnlinePlace> place(const OnlineClass& pod);

  // Pods that are known together, in their order of arrival: which go where is improved within the batch, and nothing
  // of earlier ones moves. None for one that fits nowhere beside the others.
  std::vector<std::optional<OnlinePlace>> place_batch(std::span<const OnlineClass> pods);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster
