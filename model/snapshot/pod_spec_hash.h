// For tables of pod specs, and of their terms, by their content.
#pragma once

#include <cstddef>

#include "model/snapshot/snapshot.h"

namespace muster {

// Equal ones have equal hashes; those that differ only in what is rare may have so, too. Cost: O(its size).
std::size_t content_hash(const PodSpec& spec);
std::size_t content_hash(const PodTerm& term);

}  // namespace muster
