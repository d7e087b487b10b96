// How large a model may be that is listed or given to CBC whole.
#pragma once

#include <cstddef>

namespace muster {

// More room classes than that are never listed, nor given to CBC with columns for all nodes.
inline constexpr std::size_t kManyRooms = 300;
// Integer columns of a model that may be given to CBC whole, beside those of gangs and cells.
inline constexpr std::size_t kMostNodeColumns = 10'000;

}  // namespace muster
