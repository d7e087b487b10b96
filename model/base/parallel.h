// The only use of threads: a loop over tasks, each with its own slot of the result. Implemented by oneTBB, or by
// std::jthread in the ThreadSanitizer build.
#pragma once

#include <cstddef>
#include <functional>

#include "model/base/index.h"

namespace muster {

// Runs body(0) .. body(count - 1), at most `threads` at a time. Returns when all are done. Bodies share only const
// data. Within a body, the threads are those of its loop. What a body throws ends the loop and is thrown here.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body);

// The number of ranges to divide this many light steps into: one for each thread, but only as many as have enough steps
// to be worth a thread.
std::size_t ranges_for(std::size_t steps, int threads);
// The range at this position if `size` indices are divided into that many ranges of about equal size.
template <class I>
IndexRange<I> range_of(std::size_t size, std::size_t position, std::size_t ranges) {
  return IndexRange<I>(position * size / ranges, (position + 1) * size / ranges);
}

// Cores that this process may use: its affinity mask and the cgroup's CPU quota, whichever is less; at least 1.
int usable_cores();

}  // namespace muster
