#include "solver/lp/sum_bounds.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "test/solver/master_case.h"

namespace muster::lp {
namespace {

// Two GPUs and three pods of one each: the level `work` cannot be more than 2000 (thousandths of a GPU).
struct Bounds {
  Bounds()
      : cluster(test::nodes_with({{"n", 2}}).pods("p", 3, 1)),
        ids(level_ids(*cluster)),
        trivial(trivial_bounds(*cluster, cluster.shares())),
        by_sums(*cluster, cluster.shares(), trivial),
        nothing(evaluate(*cluster, cluster.shares(), {})) {}

  std::size_t position(LevelKind kind) const {
    return static_cast<std::size_t>(std::ranges::find(ids, kind, &LevelId::kind) - ids.begin());
  }
  std::optional<std::int64_t> tightened(LevelKind kind, std::optional<std::int64_t> bound) const {
    std::vector<std::optional<std::int64_t>> bounds(ids.size());
    bounds[position(kind)] = bound;
    by_sums.tighten(nothing, bounds);
    return bounds[position(kind)];
  }

  test::Case cluster;
  std::vector<LevelId> ids;
  std::vector<std::int64_t> trivial;
  SumBounds by_sums;
  Levels nothing;  // of the empty plan
};

TEST(SumBounds, AreTheTrivialOnesWhereTheLevelsBeforeSayNothing) {
  const Bounds bounds;
  EXPECT_EQ(bounds.by_sums.of(bounds.nothing, bounds.position(LevelKind::kWork)), 2000);
}

TEST(SumBounds, MakeABoundOfAMaximisedLevelSmallerOnly) {
  const Bounds bounds;
  EXPECT_EQ(bounds.tightened(LevelKind::kWork, 5000), 2000);
  EXPECT_EQ(bounds.tightened(LevelKind::kWork, 1500), 1500);
  EXPECT_EQ(bounds.tightened(LevelKind::kWork, std::nullopt), 2000);
}

// Nothing runs, so that nothing has to leave: at least 0.
TEST(SumBounds, MakeABoundOfAMinimisedLevelLargerOnly) {
  const Bounds bounds;
  EXPECT_EQ(bounds.tightened(LevelKind::kEvicted, -7), 0);
  EXPECT_EQ(bounds.tightened(LevelKind::kEvicted, 4), 4);
  EXPECT_EQ(bounds.tightened(LevelKind::kEvicted, std::nullopt), 0);
}

TEST(SumBounds, SayNothingOfLevelsThatTheyDoNotKnow) {
  const Bounds bounds;
  EXPECT_EQ(bounds.tightened(LevelKind::kMoved, std::nullopt), std::nullopt);
  EXPECT_EQ(bounds.tightened(LevelKind::kMoved, 3), 3);
}

// The empty plan evicts nothing, which is the least; of work it has 0 of 2000.
TEST(SumBounds, AreReachedWhereThePlanHasThatValue) {
  const Bounds bounds;
  const auto reached = bounds.by_sums.reached(bounds.nothing);
  EXPECT_EQ(reached[bounds.position(LevelKind::kEvicted)], 0);
  EXPECT_EQ(reached[bounds.position(LevelKind::kWork)], std::nullopt);
}

// With no pod placed the one node is whole, and no plan can have more.
TEST(SumBounds, KnowHowManyNodesCanBeWholeGivenTheLevelsBefore) {
  const Bounds bounds;
  const std::size_t whole = bounds.position(LevelKind::kWholeNodes);
  ASSERT_LT(whole, bounds.ids.size());
  EXPECT_EQ(bounds.by_sums.of(bounds.nothing, whole), bounds.nothing.values[whole]);
  EXPECT_EQ(bounds.by_sums.wholeness(bounds.nothing)[0], 1);
}

}  // namespace
}  // namespace muster::lp
