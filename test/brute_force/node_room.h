// Whether pods fit on a node together once all that leaves is gone, and every way in which they can be put there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "test/brute_force/actors.h"

namespace muster::brute_force {

// A pod that comes to a node, and the devices that it is given.
struct Put {
  std::size_t actor = 0;
  std::vector<std::int32_t> devices;  // ascending
};
using Arrangement = std::vector<Put>;

class NodeResidual {
 public:
  NodeResidual(const Problem& problem, const Cast& cast) : problem_(problem), cast_(cast) {}

  // Those that stay keep their devices, those that come take any. Only room is examined: resources and devices.
  bool fits(NodeIndex node, ActorSet stay, ActorSet come);

  // Every way to put `come` next to `stay`, except that a pod is never put just where it is. Devices with equal free
  // capacity that the same pods leave (all at home here that do not stay) are equivalent: of ways that differ only in
  // them, one is returned.
  std::vector<Arrangement> arrangements(NodeIndex node, ActorSet stay, ActorSet come) const;

 private:
  bool resources_fit(NodeIndex node, ActorSet stay, ActorSet come) const;

  const Problem& problem_;
  const Cast& cast_;
  std::unordered_map<std::uint64_t, bool> known_;  // by node, stay and come
};

}  // namespace muster::brute_force
