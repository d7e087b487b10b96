// Classes of gangs by the GPUs of all their pods, for figures.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "model/problem/problem.h"

namespace muster {

struct GangSize {
  const char* name;  // in GPUs; "<=16": more than the class before
  Work most;         // thousandths of a GPU
};
inline constexpr std::array<GangSize, 9> kGangSizes = {{{"0", 0},
                                                        {"<1", 999},
                                                        {"1", 1'000},
                                                        {"<4", 3'999},
                                                        {"<8", 7'999},
                                                        {"8", 8'000},
                                                        {"<=16", 16'000},
                                                        {"<=32", 32'000},
                                                        {">32", std::numeric_limits<Work>::max()}}};

// Position in kGangSizes.
inline std::size_t gang_size(Work gpus) {
  return static_cast<std::size_t>(std::ranges::lower_bound(kGangSizes, gpus, {}, &GangSize::most) - kGangSizes.begin());
}

// Gangs of at least this many GPUs are large; thousandths.
inline constexpr Work kLargeGang = 8'000;

}  // namespace muster
