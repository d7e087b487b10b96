// What single placements and what is left of a node count in the later levels, and a measure that tells apart what is
// equal in all of them.
#pragma once

#include <cstdint>
#include <span>

#include "heuristics/fit.h"
#include "model/problem.h"

namespace muster {

// Thousandths of the node's devices that are free.
std::int64_t idle_thousandths(const Problem& problem, NodeIndex node, std::span<const DeviceUnits> free);

// What a newly placed pod adds to the levels `seniority` and `preference` (in its scale; preferred topology apart).
std::int64_t seniority_of(const Problem& problem, PodIndex pod);
std::int64_t preference_of(const Problem& problem, PodIndex pod, NodeIndex node);

// Idle thousandths that the expected workload can use, as many copies of each class as the other resources allow:
// where the last level asks whether one pod fits, this asks how many. By the weights of the classes.
// Cost: O(expected classes x (devices + resources)).
double usable_thousandths(const Problem& problem, NodeIndex node, const Room& room);

}  // namespace muster
