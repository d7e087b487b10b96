// Remedies in words, and as the options of `muster what-if`.
#pragma once

#include <string>

#include "solver/answers/remedies/remedy.h"

namespace muster::answers {

// What to do, as a clause without a full stop: "add 2 nodes like n1". `snapshot`: before the change.
std::string remedy_words(const Remedy& remedy, const Snapshot& snapshot);
// "--add-nodes 2xn1", quoted for a shell.
std::string remedy_options(const Remedy& remedy);

}  // namespace muster::answers
