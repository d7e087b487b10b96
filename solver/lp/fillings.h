// Ways to fill a node or a device: the multisets of sizes that fit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/problem/problem.h"

namespace muster::lp {

// Pods that take the same share of a device.
struct Sharers {
  DeviceUnits units = 0;
  std::int64_t stock = 0;  // how many there are
};
// How many of each share one device holds, by position.
using Filling = std::vector<std::int32_t>;

// All fillings of a device with `free` units to which none of the stock can be added: the empty one alone if no share
// fits. None: more `tries` are needed than there are; they are counted down. Requires positive units, descending. Cost:
// O(fillings x shares), and as much again for those that are not maximal.
std::optional<std::vector<Filling>> maximal_fillings(DeviceUnits free, const std::vector<Sharers>& shares,
                                                     std::size_t& tries);

inline bool is_empty(const Filling& filling) {
  return std::ranges::all_of(filling, [](std::int32_t count) { return count == 0; });
}

// A whole size and the least that its pods request of each resource that can bind.
struct WholeSize {
  std::int64_t devices = 0;
  std::vector<Amount> request;
};
// The most devices that pods of these sizes take of an idle number of them. `free` are the resources. Cost: O(ways to
// fill), for 8 devices and sizes 8, 4, 2, 1 at most 35.
std::int64_t most_devices(std::int64_t idle, const std::vector<Amount>& free, const std::vector<WholeSize>& sizes,
                          std::size_t count);

}  // namespace muster::lp
