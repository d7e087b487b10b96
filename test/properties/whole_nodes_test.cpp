// Small jobs break no more whole nodes than they would by plain best fit. `bench_whole_nodes` looks at more clusters,
// and at budgets.
#include <algorithm>

#include <gtest/gtest.h>

#include "bench/support/whole_nodes_cases.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "solver/portfolio/portfolio.h"
#include "test/support/case.h"
#include "test/support/paths.h"

namespace muster::properties {
namespace {

class WholeNodes : public testing::TestWithParam<portfolio::Engine> {};

TEST_P(WholeNodes, AreNeverFewerThanBestFitLeaves) {
  portfolio::Portfolio portfolio(test::program());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const bench::WholeNodeCluster cluster(seed);
    const test::Case problem = test::Case::of_line(cluster.line);
    portfolio::SolveOptions options;
    options.engine = GetParam();
    options.deterministic = true;
    const portfolio::Solution solution = portfolio.solve(problem.snapshot(), *problem, options);
    const Levels levels = evaluate(*problem, problem.shares(), solution.plan);
    const std::vector<LevelId> ids = level_ids(*problem);
    const auto at = std::ranges::find(ids, LevelKind::kWholeNodes, &LevelId::kind) - ids.begin();
    EXPECT_GE(levels.values[static_cast<std::size_t>(at)], cluster.whole_after_best_fit()) << "seed " << seed;
    EXPECT_EQ(solution.plan.placements.size(), cluster.jobs.size()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryEngine, WholeNodes,
                         testing::Values(portfolio::Engine::kGreedy, portfolio::Engine::kMilp,
                                         portfolio::Engine::kAuto));

}  // namespace
}  // namespace muster::properties
