// The only door to threads: a loop over tasks, each with its own slot of the result. oneTBB behind it, or std::jthread
// in the ThreadSanitizer build.
#pragma once

#include <cstddef>
#include <functional>

namespace muster {

// Runs body(0) .. body(count - 1), at most `threads` at a time. Returns when all are done. Bodies share only const
// data. Within a body, the threads are those of the loop that it belongs to.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body);

// Cores that this process may use: its affinity mask and the cgroup's CPU quota, whichever is less; at least 1.
int usable_cores();

}  // namespace muster
