// A summary of a plan in a few lines for people.
#pragma once

#include <string>

#include "cli/line/line.h"

namespace muster::cli {

// GPUs allocated and not, nodes that stay completely idle, the outcome of the gangs and the reasons, evictions, the
// first level that is not proven, and the time. Names are escaped. Cost: O(gangs + queues + placements).
std::string summary_of(const SolvedLine& line);

}  // namespace muster::cli
