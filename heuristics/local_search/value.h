// Measures of the free part of a node: one that distinguishes states that are equal in all levels.
#pragma once

#include <cstdint>
#include <span>

#include "heuristics/state/fit.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// Thousandths of the node's devices that are free.
std::int64_t idle_thousandths(const Problem& problem, NodeIndex node, std::span<const DeviceUnits> free);

// Idle thousandths that the expected workload can use, as many copies of each class as the other resources allow: the
// last level asks whether one pod fits, this measure asks how many. By the weights of the classes. Cost: O(expected
// classes x (devices + resources)).
double usable_thousandths(const Problem& problem, NodeIndex node, const Room& room);

}  // namespace muster::local_search
