#include "solver/engine/choice_stage.h"

#include <chrono>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "test/support/case.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::engine {
namespace {

using test::Case;

// Two GPUs are free, one on each node. A pod waits for two: another one has to move.
Case one_move() {
  constexpr const char* kRuns = R"("priority":10,"started":0)";
  return Case(test::Cluster()
                  .node("m", 4)
                  .node("n", 4)
                  .running("a", "m", 2, kRuns)
                  .running("b", "m", 1, kRuns)
                  .running("c", "n", 2, kRuns)
                  .running("d", "n", 1, kRuns)
                  .pod("w", 2, R"("priority":10)"));
}

Candidate doing_nothing(const Case& cluster) { return {{}, evaluate(cluster.problem(), cluster.shares(), {})}; }

ChoiceOutcome choose(const Case& cluster, std::chrono::seconds time) {
  const Deadline deadline(Deadline::Clock::now() + time, false);
  const MilpPreparation preparation(cluster.problem(), cluster.shares(), deadline);
  cbc::Backend backend(test::program());
  MilpEngineOptions options{.deadline = deadline, .trivial = {}};
  return choose_and_place(preparation, doing_nothing(cluster), backend, options);
}

TEST(ChooseAndPlace, BeginsWithNoPlanOfAnotherEngineAndProvesItsOwn) {
  const Case cluster = one_move();
  const ChoiceOutcome choice = choose(cluster, std::chrono::seconds(20));
  EXPECT_TRUE(choice.outcome.improved);
  ASSERT_FALSE(choice.levels.empty());
  for (std::size_t i = 0; i < choice.levels.size(); ++i) {
    EXPECT_EQ(choice.levels[i].bound, choice.levels[i].value);
    EXPECT_EQ(choice.outcome.best.levels.values[i], choice.levels[i].value);
  }
  EXPECT_TRUE(cluster.check(choice.outcome.best.plan).empty());
  EXPECT_EQ(choice.outcome.best.plan.placements.size(), 2) << "the pod that waits, and one that moves";
}

TEST(ChooseAndPlace, WithoutTimeIsWhatItBeganWith) {
  const Case cluster = one_move();
  const ChoiceOutcome choice = choose(cluster, std::chrono::seconds(-1));
  EXPECT_FALSE(choice.outcome.improved);
  EXPECT_TRUE(choice.levels.empty());
  EXPECT_TRUE(choice.outcome.best.plan.placements.empty());
}

TEST(OutcomeFor, IsTheBetterPlanWithTheBoundsThatHoldForIt) {
  const Case cluster = one_move();
  const std::vector<LevelId> ids = level_ids(cluster.problem());
  const ChoiceOutcome choice = choose(cluster, std::chrono::seconds(20));

  const MilpOutcome instead = outcome_for(doing_nothing(cluster), choice, ids);
  EXPECT_TRUE(instead.improved);
  EXPECT_EQ(instead.best.levels, choice.outcome.best.levels);
  for (std::size_t i = 0; i < choice.levels.size(); ++i) EXPECT_EQ(instead.bounds[i], instead.best.levels.values[i]);

  const MilpOutcome same = outcome_for(choice.outcome.best, choice, ids);
  EXPECT_FALSE(same.improved);
  EXPECT_EQ(same.bounds, instead.bounds);

  // Better in the first level than the choice: the bounds of the later ones were found for at least its value.
  Candidate better = choice.outcome.best;
  ++better.levels.values[0];
  const MilpOutcome kept = outcome_for(better, choice, ids);
  EXPECT_FALSE(kept.improved);
  EXPECT_EQ(kept.best.levels, better.levels);
  EXPECT_EQ(kept.bounds, instead.bounds);

  // And worse in the second one: none of those after it.
  --better.levels.values[1];
  const MilpOutcome mixed = outcome_for(better, choice, ids);
  EXPECT_FALSE(mixed.improved);
  EXPECT_TRUE(mixed.bounds[0].has_value());
  EXPECT_TRUE(mixed.bounds[1].has_value());
  for (std::size_t i = 2; i < ids.size(); ++i) EXPECT_FALSE(mixed.bounds[i].has_value());
}

}  // namespace
}  // namespace muster::engine
