#include "model/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
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

// Waits until the given number of threads have arrived.
class Meeting {
 public:
  explicit Meeting(int wanted) : wanted_(wanted) {}
  bool join() {
    ++here_;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (here_ < wanted_ && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    return here_ >= wanted_;
  }

 private:
  int wanted_;
  std::atomic<int> here_{0};
};

TEST(ParallelFor, LoopWithinALoopHasItsThreads) {
  if (usable_cores() < 2) GTEST_SKIP() << "one core";
  const std::thread::id caller = std::this_thread::get_id();
  Meeting outer(2), inner(2);
  parallel_for(2, 2, [&](std::size_t) {
    ASSERT_TRUE(outer.join());  // each of the two threads has one
    if (std::this_thread::get_id() == caller) return;
    parallel_for(2, 2, [&](std::size_t) { EXPECT_TRUE(inner.join()) << "one thread for two"; });
  });
}

TEST(ParallelFor, ThrowsWhatATaskThrows) {
  for (const int threads : {1, 2, 4}) {
    const auto loop = [&] {
      parallel_for(100, threads, [](std::size_t task) {
        if (task % 10 == 3) throw std::runtime_error("three");
      });
    };
    EXPECT_THROW(loop(), std::runtime_error) << threads;
  }
}

// The body that goes on must not take an unfinished loop for a finished one.
TEST(ParallelFor, LoopWithinALoopIsFinishedAlthoughAnotherBodyThrows) {
  std::atomic<bool> has_begun{false}, throws{false};
  bool is_whole = true;  // also if the second body does not run
  const auto wait_for = [](const std::atomic<bool>& flag) {
    for (int i = 0; i < 1000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const auto body = [&](std::size_t task) {
    if (task == 0) {
      wait_for(has_begun);
      throws = true;
      throw std::runtime_error("zero");
    }
    has_begun = true;
    wait_for(throws);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::atomic<int> done{0};
    parallel_for(100, 2, [&](std::size_t) { ++done; });
    is_whole = done == 100;
  };
  EXPECT_THROW(parallel_for(2, 2, body), std::runtime_error);
  EXPECT_TRUE(is_whole);
}

TEST(UsableCores, IsAtLeastOne) { EXPECT_GE(usable_cores(), 1); }

}  // namespace
}  // namespace muster
