#include "solver/engine/milp_passes.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace muster::engine {
namespace {

using Bounds = std::vector<std::optional<std::int64_t>>;

const std::vector<LevelId> kIds = {{LevelKind::kWork, 0}, {LevelKind::kEvicted, 0}, {LevelKind::kSeniority, 0}};

MilpOutcome outcome_of(std::vector<std::int64_t> values, Bounds bounds) {
  MilpOutcome outcome;
  outcome.best.levels.values = std::move(values);
  outcome.bounds = std::move(bounds);
  return outcome;
}

// Of the maximised levels the smaller bound, of the minimised one the larger.
TEST(AddEarlier, TakesTheTighterBoundOfEachLevel) {
  MilpOutcome outcome = outcome_of({5, 3, 7}, {9, 2, 30});
  add_earlier(outcome_of({5, 3, 7}, {8, 1, std::nullopt}), kIds, outcome);
  EXPECT_EQ(outcome.bounds, (Bounds{8, 2, 30}));
  MilpOutcome other = outcome_of({5, 3, 7}, {7, std::nullopt, 30});
  add_earlier(outcome_of({5, 3, 7}, {8, 3, 20}), kIds, other);
  EXPECT_EQ(other.bounds, (Bounds{7, 3, 20}));
}

// The earlier plan has less work, so what was proven of the levels behind holds for other plans.
TEST(AddEarlier, TakesNoBoundBehindALevelThatHasChanged) {
  MilpOutcome outcome = outcome_of({6, 3, 7}, {std::nullopt, std::nullopt, std::nullopt});
  add_earlier(outcome_of({5, 3, 7}, {8, 3, 20}), kIds, outcome);
  EXPECT_EQ(outcome.bounds, (Bounds{8, std::nullopt, std::nullopt}));
}

TEST(AddEarlier, TellsWhatBothHaveFoundOut) {
  MilpOutcome earlier = outcome_of({5, 3, 7}, Bounds(3)), outcome = earlier;
  earlier.improved = true;
  earlier.defects = {"first"};
  outcome.defects = {"second"};
  add_earlier(earlier, kIds, outcome);
  EXPECT_TRUE(outcome.improved);
  EXPECT_EQ(outcome.defects, (std::vector<std::string>{"first", "second"}));
}

}  // namespace
}  // namespace muster::engine
