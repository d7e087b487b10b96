// Small snapshots for the program's tests, and ways to break them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::cli {

// Snapshots of different kinds, each solved in milliseconds; their ids are "good-0", "good-1", ...
std::vector<std::string> good_lines();

// A line that is certainly wrong, made from a good one. The kind of damage and its place follow from `seed`.
std::string broken_line(const std::string& good, std::uint32_t seed);

}  // namespace muster::cli
