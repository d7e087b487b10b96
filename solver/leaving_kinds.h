// How many of the pods that may leave the integer program has to tell apart.
#pragma once

#include <cstdint>

#include "model/problem.h"

namespace muster {

// The running pods of preemptible gangs on one node of each kind. Nodes are of one kind if they are of one class and
// hold alike pods; a pod of a larger gang is like those of its gang only. Cost: O(running pods x
// log of those on a node).
std::int64_t leaving_of_kinds(const Problem& problem);

}  // namespace muster
