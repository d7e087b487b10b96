// Ways to fill a node or a device: the multisets of sizes that fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/problem/problem.h"

namespace muster::slots {

// How many of each share one device holds, by position.
using Filling = std::vector<std::int32_t>;

// All fillings of `free` to which nothing can be added. `units` are positive and descending; `stock` is how many there
// are. None: more than `most`. Cost: O(fillings x shares), and as much again for those that are not maximal.
std::optional<std::vector<Filling>> maximal_fillings(DeviceUnits free, const std::vector<DeviceUnits>& units,
                                                     const std::vector<std::int64_t>& stock, std::size_t most);

// A whole size and the least that its pods request of each resource that can bind.
struct WholeSize {
  std::int64_t devices = 0;
  std::vector<Amount> request;
};
// The most devices that pods of these sizes take of an idle number of them. `free` are the resources. Cost: O(ways to
// fill), for 8 devices and sizes 8, 4, 2, 1 at most 35.
std::int64_t most_devices(std::int64_t idle, const std::vector<Amount>& free, const std::vector<WholeSize>& sizes,
                          std::size_t count);

}  // namespace muster::slots
