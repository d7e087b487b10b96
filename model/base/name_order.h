// Positions in the order of names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace muster {

// The positions of `names` in ascending order of the names, byte by byte; equal ones in the order given. Cost: O(n) for
// each differing byte of the sixteen after the common prefix, and O(n log n) comparisons of names that are equal in
// these.
std::vector<std::uint32_t> order_of_names(std::span<const std::string_view> names);

}  // namespace muster
