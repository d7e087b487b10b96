// Puts running pods on random nodes where they fit, so that an instance begins occupied and no rule is broken.
//
// Random fit leaves more fragments than a sane scheduler would: the following placements are harder, which is the
// purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "datasets/generator/instance.h"
#include "datasets/generator/random.h"

namespace muster::generator {

struct RandomPlace {
  std::int32_t node = -1;
  std::vector<std::int32_t> devices;  // ascending
};

// Nodes begin..end-1 of the instance's list.
struct NodeRange {
  std::int32_t begin = 0, end = 0;
  std::uint64_t size() const { return static_cast<std::uint64_t>(end - begin); }
};

// The free capacity of each node while an instance is generated. Device shares are exact, as docs/semantics.md counts
// them: in millionths of a device's MiB (of 1 if that is unknown).
class IdleCapacity {
 public:
  // `nodes` outlives it. Ensures: everything is free.
  explicit IdleCapacity(const std::vector<InstanceNode>& nodes);

  // Whether filters and capacity admit one pod of the shape on the node. A memory request fits no device of unknown
  // memory.
  bool fits(std::int32_t node, const PodShape& shape) const;
  // Takes random devices among those with room. Requires fits().
  RandomPlace take(std::int32_t node, const PodShape& shape, Random& random);
  void give_back(const RandomPlace& place, const PodShape& shape);

 private:
  struct Free {
    std::int64_t cpu_milli, memory_mib, pods;
    std::size_t first_device;
  };
  std::int64_t device_capacity(std::int32_t node) const;
  std::int64_t device_need(std::int32_t node, const GpuRequest& gpu) const;
  std::vector<std::int32_t> devices_with_room(std::int32_t node, const GpuRequest& gpu) const;

  const std::vector<InstanceNode>& nodes_;
  std::vector<Free> free_;             // by node
  std::vector<std::int64_t> devices_;  // free units, by first_device + position
};

// Places `count` pods of one shape, all or none, each on a random node of the range; a pod has `kProbes` tries.
// Ensures: if the answer is empty, the capacities are as before. Cost: O(count x probes), plus count^2 for one_a_node.
inline constexpr int kProbes = 64;
std::optional<std::vector<RandomPlace>> random_fit(IdleCapacity& room, const PodShape& shape, std::int32_t count,
                                                   NodeRange range, Random& random);

}  // namespace muster::generator
