// Quantities in words, for the answers to people.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/text_table.h"
#include "model/problem/problem.h"

namespace muster::cli {

// The two largest units of it: "3d4h", "5m10s", "0s".
std::string duration_words(Nanoseconds duration);

// "yes; no better plan starts it", and that this is proven of what was read if that is not all. `what`: "it".
std::string proven_words(const Snapshot& snapshot, std::string_view what);

// Tells that what the answer proves is proven of what was read; nothing if everything was.
void note_scope(const Snapshot& snapshot, AnswerDocument& document);

// GPUs, exactly. kUnlimited is nothing, shown as "unlimited".
Cell gpu_cell(MicroGpu amount);

// The name of the queue; nothing if there is none.
Cell queue_cell(const Problem& problem, QueueIndex queue);

}  // namespace muster::cli
