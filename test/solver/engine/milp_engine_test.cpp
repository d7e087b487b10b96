#include "solver/engine/milp_engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "model/referee/referee.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::engine {
namespace {

using test::Case;

MilpEngineOptions with_states(std::size_t most_states) {
  MilpEngineOptions options{.deadline = Deadline(Deadline::Clock::now() + std::chrono::hours(1), true), .trivial = {}};
  options.most.states = most_states;
  options.most.node_columns = 0;
  return options;
}

// Tiny problems, whose configurations could be listed, solved like large ones: priced.
MilpOutcome solve_priced(const Case& cluster, const Candidate& incumbent, cbc::Backend& backend) {
  return solve_milp(cluster.problem(), cluster.shares(), incumbent, backend, with_states(0));
}
// The same on grids of multipliers, then with blocks of residual classes.
MilpOutcome solve_in_blocks(const Case& cluster, const Candidate& incumbent, cbc::Backend& backend) {
  MilpEngineOptions options = with_states(0);
  options.most.residuals = 0;
  options.most.blocks = 2;
  return solve_milp(cluster.problem(), cluster.shares(), incumbent, backend, options);
}
MilpOutcome solve_listed(const Case& cluster, const Candidate& incumbent, cbc::Backend& backend) {
  return solve_milp(cluster.problem(), cluster.shares(), incumbent, backend,
                    with_states(test::ExactFormulation::kMostConfigurations));
}

template <class Visit>
void for_each_cluster(std::uint32_t first, std::uint32_t count, const Visit& visit) {
  cbc::Backend backend(test::program());
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    visit(cluster, greedy::solve_greedy(cluster.problem(), cluster.shares(), {}), backend);
    if (testing::Test::HasFailure()) return;
  }
}

bool is_short_of(const LevelId& id, std::int64_t value, std::int64_t bound) {
  return is_maximised(id.kind) ? value < bound : value > bound;
}

TEST(MilpEngine, BoundsOfPricingHoldForTheProvenOptimum) {
  int bounds = 0;
  for_each_cluster(1, 80, [&](const Case& cluster, const Candidate& greedy, cbc::Backend& backend) {
    if (!test::ExactFormulation(cluster).is_listed) return;
    const std::vector<LevelId> ids = level_ids(cluster.problem());
    const MilpOutcome best = solve_listed(cluster, greedy, backend);
    for (const MilpOutcome& priced :
         {solve_priced(cluster, greedy, backend), solve_in_blocks(cluster, greedy, backend)}) {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (priced.bounds[i]) {
          EXPECT_FALSE(is_short_of(ids[i], *priced.bounds[i], best.best.levels.values[i]))
              << level_name(ids[i].kind) << " " << ids[i].priority << ": " << *priced.bounds[i] << " for "
              << best.best.levels.values[i];
          ++bounds;
        }
        // Each bound holds given the values before it.
        if (priced.best.levels.values[i] != best.best.levels.values[i]) break;
      }
    }
  });
  EXPECT_GE(bounds, 200);
}

// Whether the units are exact: one minimum of all pods, or of one.
bool has_plain_units(const Problem& problem) {
  return std::ranges::all_of(problem.gangs, [&](const Gang& gang) {
    const Group& root = problem.groups[gang.root];
    return root.is_leaf() && (root.minimum <= 1 || static_cast<std::size_t>(root.minimum) == gang.pods.size());
  });
}

// Of these the portfolio has bounds by sums alone.
// Whether the level is formulated, and so are all before it.
bool is_formulated(const Case& cluster, LevelKind kind) {
  return kind < LevelKind::kWholeDomains || !cluster.snapshot().policy.has_whole_nodes();
}

TEST(MilpEngine, ListedProblemsOfPlainGangsAreSolvedToTheirBounds) {
  int solved = 0;
  for_each_cluster(101, 200, [&](const Case& cluster, const Candidate& greedy, cbc::Backend& backend) {
    if (!has_plain_units(cluster.problem()) || !test::ExactFormulation(cluster).is_listed) return;
    const std::vector<LevelId> ids = level_ids(cluster.problem());
    const MilpOutcome best = solve_listed(cluster, greedy, backend);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!is_formulated(cluster, ids[i].kind)) continue;
      ASSERT_TRUE(best.bounds[i]) << level_name(ids[i].kind) << " " << ids[i].priority;
      EXPECT_EQ(best.best.levels.values[i], *best.bounds[i]) << level_name(ids[i].kind) << " " << ids[i].priority;
    }
    ++solved;
  });
  EXPECT_GE(solved, 20);
}

TEST(MilpEngine, PricingTellsOfNoDefectAndKeepsTheRules) {
  for_each_cluster(201, 80, [](const Case& cluster, const Candidate& greedy, cbc::Backend& backend) {
    for (const MilpOutcome& priced :
         {solve_priced(cluster, greedy, backend), solve_in_blocks(cluster, greedy, backend)}) {
      EXPECT_EQ(priced.defects, std::vector<std::string>{});
      for (const referee::Violation& v : cluster.check(priced.best.plan))
        ADD_FAILURE() << referee::rule_name(v.rule) << ", " << v.subject << ": " << v.message;
    }
  });
}

TEST(MilpEngine, IsNeverWorseThanItsIncumbent) {
  for_each_cluster(301, 60, [](const Case& cluster, const Candidate& greedy, cbc::Backend& backend) {
    const std::vector<LevelId> ids = level_ids(cluster.problem());
    EXPECT_TRUE(compare(solve_priced(cluster, greedy, backend).best.levels, greedy.levels, ids) >= 0);
    EXPECT_TRUE(compare(solve_in_blocks(cluster, greedy, backend).best.levels, greedy.levels, ids) >= 0);
    EXPECT_TRUE(compare(solve_listed(cluster, greedy, backend).best.levels, greedy.levels, ids) >= 0);
  });
}

// What takes too long to formulate is given up, and the incumbent is the outcome.
TEST(MilpEngine, GivesUpAFormulationThatTakesTooLong) {
  test::Cluster built;
  for (int i = 0; i < 400; ++i) {
    const std::string number = std::to_string(i), node = R"("node":"n)" + number + '"';
    const auto milli_cores = [&](int base) { return R"("resources":{"cpu":")" + std::to_string(base + i) + R"(m"})"; };
    built.node("n" + number, R"("resources":{"cpu":)" + std::to_string(i % 40 + 8) + "}");
    built.pod("r" + number, node + R"(,"preemptible":false,)" + milli_cores(1'000));
    built.pod("p" + number, milli_cores(9'000));
  }
  const Case cluster(built);
  const Deadline never(Deadline::Clock::time_point::max(), true);
  const Deadline over(Deadline::Clock::now() - std::chrono::seconds(1), false);
  MilpPreparation preparation(cluster.problem(), cluster.shares(), never);
  EXPECT_FALSE(preparation.took_too_long);
  ASSERT_TRUE(preparation.whole.formulation);
  EXPECT_FALSE(preparation.whole.formulate(false, over));
  EXPECT_FALSE(preparation.whole.formulation);
  EXPECT_TRUE(preparation.whole.formulate(false, never));

  MilpPreparation late(cluster.problem(), cluster.shares(), over);
  EXPECT_TRUE(late.took_too_long);
  const Candidate incumbent = greedy::solve_greedy(cluster.problem(), cluster.shares(), {});
  cbc::Backend backend(test::program());
  MilpEngineOptions options = with_states(0);
  options.deadline = Deadline(Deadline::Clock::now() + std::chrono::minutes(1), false);
  const MilpOutcome outcome = solve_milp(late, incumbent, backend, options);
  EXPECT_FALSE(outcome.improved);
  EXPECT_EQ(outcome.best.levels, incumbent.levels);
  EXPECT_TRUE(std::ranges::none_of(outcome.bounds, [](const auto& bound) { return bound.has_value(); }));
}

// What one question spends beyond the limit is no more than the iterations until CBC stops.
TEST(MilpEngine, SpendsNoMoreThanItsLimitOfWork) {
  constexpr std::int64_t kLittle = 20'000;
  std::int64_t reached = 0;
  for_each_cluster(300, 60, [&](const Case& cluster, const Candidate& incumbent, cbc::Backend& backend) {
    for (const std::size_t most_states : {std::size_t{0}, std::size_t{200'000}}) {
      MilpEngineOptions options = with_states(most_states);
      const WorkLimit work(kLittle);
      options.deadline = Deadline(Deadline::Clock::now() + std::chrono::hours(1), work);
      const MilpOutcome outcome = solve_milp(cluster.problem(), cluster.shares(), incumbent, backend, options);
      EXPECT_LE(work.spent(), 2 * kLittle);
      EXPECT_TRUE(compare(outcome.best.levels, incumbent.levels, level_ids(cluster.problem())) >= 0);
      EXPECT_TRUE(outcome.defects.empty());
      if (work.is_reached()) ++reached;
    }
  });
  EXPECT_GT(reached, 0) << "no cluster was hard enough";
}

}  // namespace
}  // namespace muster::engine
