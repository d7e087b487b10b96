// Quantities in words, for the answers to people.
#pragma once

#include <string>

#include "cli/terminal/text_table.h"
#include "model/problem/problem.h"
#include "solver/answers/remedy.h"

namespace muster::cli {

// The two largest units of it: "3d4h", "5m10s", "0s".
std::string duration_words(Nanoseconds duration);

// GPUs, exactly. kUnlimited is nothing, shown as "unlimited".
Cell gpu_cell(MicroGpu amount);

// What to do, in a sentence without a full stop: "add 2 nodes like n1". `snapshot`: before the change.
std::string remedy_words(const answers::Remedy& remedy, const Snapshot& snapshot);
// The options of `muster what-if` that do it.
std::string remedy_options(const answers::Remedy& remedy);

}  // namespace muster::cli
