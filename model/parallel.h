// The only door to threads: a loop over tasks, each with its own slot of the result. oneTBB behind it, or std::jthread
// in the ThreadSanitizer build.
#pragma once

#include <cstddef>
#include <functional>

#include "model/index.h"

namespace muster {

// Runs body(0) .. body(count - 1), at most `threads` at a time. Returns when all are done. Bodies share only const
// data. Within a body, the threads are those of the loop that it belongs to.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body);

// How many ranges to divide so many light steps into: one for each thread, but of no fewer than are worth another one.
std::size_t ranges_for(std::size_t steps, int threads);
// The range at this position of so many that `size` indices are divided into, in order and about equally.
template <class I>
IndexRange<I> range_of(std::size_t size, std::size_t position, std::size_t ranges) {
  return IndexRange<I>(position * size / ranges, (position + 1) * size / ranges);
}

// Cores that this process may use: its affinity mask and the cgroup's CPU quota, whichever is less; at least 1.
int usable_cores();

}  // namespace muster
