// Gives each distinct pod shape one position in an instance's list of shapes.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "datasets/generator/instance.h"
#include "model/base/require.h"

namespace muster::generator {

class ShapeTable {
 public:
  // The shape's position, appended to `instance.shapes` if it is new. Requires the same instance in every call. Cost:
  // O(log shapes).
  std::int32_t position_of(const PodShape& shape, Instance& instance) {
    const auto [found, added] = positions_.try_emplace(shape, static_cast<std::int32_t>(instance.shapes.size()));
    if (added) instance.shapes.push_back(shape);
    MUSTER_REQUIRE(static_cast<std::size_t>(found->second) < instance.shapes.size());
    return found->second;
  }

 private:
  struct Before {
    static auto key(const PodShape& s) {
      return std::tie(s.cpu_milli, s.memory_mib, s.gpu.kind, s.gpu.devices, s.gpu.share, s.gpu_models, s.pool,
                      s.tolerates_taint, s.one_a_node);
    }
    bool operator()(const PodShape& a, const PodShape& b) const { return key(a) < key(b); }
  };
  std::map<PodShape, std::int32_t, Before> positions_;
};

}  // namespace muster::generator
