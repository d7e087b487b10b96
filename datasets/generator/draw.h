// The random properties of one gang: its pods' shape, its size, and its constraints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/generator/instance.h"
#include "datasets/generator/options.h"
#include "datasets/generator/random.h"

namespace muster::generator {

struct GangDraft {
  PodShape shape;
  std::int32_t size = 1;
  bool in_one_rack = false, preferably_in_one_zone = false, is_elastic = false, has_subgroups = false;
};

class GangSource {
 public:
  // Requires no generator_fault. `options` outlives it.
  explicit GangSource(const GeneratorOptions& options);

  // The next gang, of at most `most_thousandths` of a GPU (one pod at least).
  GangDraft draw(Random& random, std::int64_t most_thousandths) const;

 private:
  PodShape draw_shape(Random& random) const;
  PodShape draw_sharer(Random& random) const;
  PodShape draw_whole(Random& random) const;
  PodShape draw_cpu_only(Random& random) const;
  void draw_filters(PodShape& shape, Random& random) const;

  const GeneratorOptions& options_;
  std::vector<std::uint64_t> size_weights_;   // by size - 1
  std::vector<std::uint64_t> whole_weights_;  // by kWholeCounts
};

// Weights of the gang sizes 1..most, by size - 1: 1/size^2.
std::vector<std::uint64_t> gang_size_weights(std::int32_t most);

// A share of 0..1 in millionths.
std::int64_t millionths_of(double share);

inline constexpr std::int32_t kPoolCount = 3;
std::string pool_name(std::uint64_t pool);

}  // namespace muster::generator
