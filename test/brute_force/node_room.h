// Whether pods fit on a node together once all that leaves is gone, and every way in which they can be put there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "test/brute_force/actors.h"

namespace muster::brute_force {

// One who comes to a node, and the devices that it is given.
struct Put {
  std::size_t actor = 0;
  std::vector<std::int32_t> devices;  // ascending
};
using Arrangement = std::vector<Put>;

class NodeRoom {
 public:
  NodeRoom(const Problem& problem, const Cast& cast) : problem_(problem), cast_(cast) {}

  // Those that stay keep their devices, those that come take any. Only room is looked at: resources and devices.
  bool fits(NodeIndex node, ActorSet stay, ActorSet come);

  // Every way for `come` to be put beside `stay`, but that a pod is never put just where it is. Devices on which the
  // same is free and from which the same pods go (all at home here that do not stay) are alike: of ways that differ
  // only in them, one is told.
  std::vector<Arrangement> arrangements(NodeIndex node, ActorSet stay, ActorSet come) const;

 private:
  bool resources_fit(NodeIndex node, ActorSet stay, ActorSet come) const;

  const Problem& problem_;
  const Cast& cast_;
  std::unordered_map<std::uint64_t, bool> known_;  // by node, stay and come
};

}  // namespace muster::brute_force
