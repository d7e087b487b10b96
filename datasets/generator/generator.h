// Synthetic clusters of any size: nodes, queues, running and pending gangs, with as much of each feature as is asked
// for.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/generator/options.h"

namespace muster::generator {

// Line k, without the line feed. Requires no generator_fault. Ensures: equal arguments give equal bytes, on every
// platform; lines of different k are unrelated. Cost: linear in nodes + pods; half a million to four million pods a
// second.
std::string generate_snapshot(const GeneratorOptions& options, std::uint64_t k = 0);

}  // namespace muster::generator
