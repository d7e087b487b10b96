#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solver/budget/deadline.h"

namespace muster::cbc {
namespace {

// One level that is maximised and one that is minimised, and what was told of them, as "engine position value bound".
struct Told {
  Told()
      : tracer({{LevelKind::kWork, 0}, {LevelKind::kEvicted, 0}}, [this](const TraceEvent& event) {
          events.push_back(
              std::string(origin_name(event.engine)) + (event.level.kind == LevelKind::kWork ? " work " : " evicted ") +
              std::to_string(event.value) + (event.bound ? " of " + std::to_string(*event.bound) : std::string()));
        }) {}

  std::vector<std::string> tell(std::int64_t work, std::int64_t evicted, const Tracer::Bounds& bounds) {
    events.clear();
    tracer.tell(Origin::kGreedy, {{work, evicted}}, bounds);
    return events;
  }
  std::vector<std::string> events;
  Tracer tracer;
};

using Lines = std::vector<std::string>;

TEST(Tracer, TellsAllLevelsFirstAndThenWhatIsNew) {
  Told told;
  EXPECT_EQ(told.tell(5, 0, {}), (Lines{"greedy work 5", "greedy evicted 0"}));
  EXPECT_EQ(told.tell(5, 0, {}), Lines{});
  EXPECT_EQ(told.tell(6, 0, {}), Lines{"greedy work 6"});
  EXPECT_EQ(told.tell(6, 0, {9, std::nullopt}), Lines{"greedy work 6 of 9"});
}

TEST(Tracer, KeepsTheTighterBound) {
  Told told;
  told.tell(5, 3, {9, 1});
  EXPECT_EQ(told.tell(5, 3, {11, 0}), Lines{}) << "of the maximised level a larger one, of the minimised a smaller one";
  EXPECT_EQ(told.tell(5, 3, {}), Lines{}) << "a bound that was told stays";
  EXPECT_EQ(told.tell(5, 3, {8, 2}), (Lines{"greedy work 5 of 8", "greedy evicted 3 of 2"}));
}

// The bound of a level was proven for the values of the levels before it.
TEST(Tracer, ForgetsBoundsOfLevelsBehindOneThatHasChanged) {
  Told told;
  told.tell(5, 3, {9, 1});
  EXPECT_EQ(told.tell(6, 3, {}), (Lines{"greedy work 6 of 9", "greedy evicted 3"}));
}

TEST(Tracer, WritesNothingWithoutAListener) {
  Tracer tracer({{LevelKind::kWork, 0}}, {});
  tracer.tell(Origin::kGreedy, {{1}}, {});
}

}  // namespace
}  // namespace muster::cbc
