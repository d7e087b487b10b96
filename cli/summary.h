// What a plan comes to, in a few lines for people.
#pragma once

#include <string>

#include "cli/line.h"

namespace muster {

// GPUs allocated and not, nodes that stay wholly idle, what became of the gangs and why, evictions, the first level
// that is not proven, and the time. Names are escaped. Cost: O(gangs + queues + placements).
std::string summary_of(const SolvedLine& line);

}  // namespace muster
