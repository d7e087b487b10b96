// For tables of pod specs by their content.
#pragma once

#include <cstddef>

#include "model/snapshot/snapshot.h"

namespace muster {

// Equal specs have equal hashes; specs that differ only in what is rare may have so, too. Cost: O(size of the spec).
std::size_t content_hash(const PodSpec& spec);

}  // namespace muster
