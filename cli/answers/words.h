// Quantities in words, for the answers to people.
#pragma once

#include <string>

#include "cli/terminal/text_table.h"
#include "model/problem/problem.h"

namespace muster::cli {

// The two largest units of it: "3d4h", "5m10s", "0s".
std::string duration_words(Nanoseconds duration);

// GPUs, exactly. kUnlimited is nothing, shown as "unlimited".
Cell gpu_cell(MicroGpu amount);

// The name of the queue; nothing if there is none.
Cell queue_cell(const Problem& problem, QueueIndex queue);

}  // namespace muster::cli
