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
#include "solver/online/online_bids.h"

namespace muster::online {

// What is taken of a node: cpu in cores, memory in GiB, hundredths of each device by position.
struct OnlineUse {
  double cpu = 0, memory = 0;
  std::vector<std::uint8_t> levels;
};

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

  // So much of the node is in use, by pods that are none of its own. Requires one level for each device of the node.
  void occupy(std::size_t node, const OnlineUse& use);
  // Learns from pods that it does not place, and computes the bids. Afterwards, place_among() is quick for pods of
  // these classes. Cost: some milliseconds, and each class against each distinct state of a node.
  void expect(std::span<const policies::OnlineClass> pods);
  // As place(), but on one of these nodes alone, and bids are never recomputed. Cost: O(nodes), and one check of every
  // state that has changed since the last pod of the class, or of every state for a class that is new.
  std::optional<OnlinePlace> place_among(const policies::OnlineClass& pod, std::span<const std::size_t> nodes);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::online
