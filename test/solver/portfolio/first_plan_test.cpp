#include "solver/portfolio/first_plan.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

namespace muster::portfolio {
namespace {

using Clock = std::chrono::steady_clock;

Candidate plan_worth(std::int64_t value) { return {{}, {{value}}, false}; }

std::int64_t worth(const std::optional<Candidate>& plan) { return plan ? plan->levels.values.at(0) : -1; }

TEST(FirstPlan, IsTheWholePlanWhereThatIsKnown) {
  FirstPlan first;
  first.set_placed(plan_worth(1));
  first.set(plan_worth(2));
  EXPECT_EQ(worth(first.wait(Clock::now())), 2);
}

TEST(FirstPlan, IsWhatIsPlacedAfterThePatience) {
  FirstPlan first;
  first.set_placed(plan_worth(1));
  const Clock::time_point patience = Clock::now() + std::chrono::milliseconds(20);
  EXPECT_EQ(worth(first.wait(patience)), 1);
  EXPECT_GE(Clock::now(), patience);
}

TEST(FirstPlan, IsAwaitedAfterThePatienceWhileNothingIsKnown) {
  FirstPlan first;
  std::thread greedy([&] {
    const FirstPlan::Ending ending(first);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    first.set_placed(plan_worth(1));
  });
  EXPECT_EQ(worth(first.wait(Clock::now())), 1);
  greedy.join();
}

TEST(FirstPlan, IsNoneIfGreedyEndsWithout) {
  FirstPlan first;
  { const FirstPlan::Ending ending(first); }
  EXPECT_EQ(worth(first.wait(Clock::now() + std::chrono::hours(1))), -1);
}

// Greedy reports what it places and ends before the patience is over.
TEST(FirstPlan, IsWhatIsPlacedIfGreedyEndsThere) {
  FirstPlan first;
  first.set_placed(plan_worth(1));
  { const FirstPlan::Ending ending(first); }
  EXPECT_EQ(worth(first.wait(Clock::now() + std::chrono::hours(1))), 1);
}

TEST(FirstPlan, TellsLaterWhatGreedyEndsWith) {
  FirstPlan first;
  first.set_placed(plan_worth(1));
  EXPECT_EQ(worth(first.wait(Clock::now())), 1);
  EXPECT_EQ(worth(first.later()), -1);
  first.set(plan_worth(2));
  EXPECT_EQ(worth(first.later()), 2);
  EXPECT_EQ(worth(first.later()), -1) << "once";
  const std::optional<Candidate> last = plan_worth(3);
  { const FirstPlan::Ending ending(first, last); }
  EXPECT_EQ(worth(first.later()), 3);
}

}  // namespace
}  // namespace muster::portfolio
