// The number of pods that may leave that the integer program has to distinguish.
#pragma once

#include <cstdint>

#include "model/problem/problem.h"

namespace muster::formulation {

// The running pods of preemptible gangs on one node of each kind. Nodes are of one kind if they are of one class and
// hold equal pods; a pod of a larger gang equals only those of its gang. Cost: O(running pods x log of those on a
// node).
std::int64_t leaving_of_kinds(const Problem& problem);

}  // namespace muster::formulation
