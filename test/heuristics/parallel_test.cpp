#include "heuristics/parallel.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(ParallelFor, RunsEveryTaskOnceForAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 4, 9}) {
    std::vector<int> runs(1000, 0);
    parallel_for(runs.size(), threads, [&](std::size_t task) { ++runs[task]; });
    EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), 0), 1000) << threads;
    EXPECT_EQ(*std::max_element(runs.begin(), runs.end()), 1) << threads;
  }
}

TEST(ParallelFor, NeverRunsMoreTasksAtATimeThanThreads) {
  std::atomic<int> now{0}, most{0};
  parallel_for(200, 2, [&](std::size_t) {
    const int running = ++now;
    for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
    }
    --now;
  });
  EXPECT_LE(most, 2);
}

TEST(UsableCores, IsAtLeastOne) { EXPECT_GE(usable_cores(), 1); }

}  // namespace
}  // namespace muster
