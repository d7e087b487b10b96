// The search on generated clusters with every feature of the contract.
#include "heuristics/local_search/search.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "heuristics/greedy/greedy.h"
#include "heuristics/state/candidate.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "test/solver/random_cluster.h"
#include "test/solver/tiny_options.h"

namespace muster {
namespace {

using test::Case;

constexpr std::uint32_t kClusters = 1'500;

local_search::SearchOptions trials(std::int64_t most, std::int32_t threads = 1) {
  local_search::SearchOptions options;
  options.most_trials = most;
  options.threads = threads;
  return options;
}

// What one start of greedy, in a given order, has left to be found.
Candidate rough_plan(const Case& cluster) {
  greedy::GreedyOptions options;
  options.starts = 1;
  return greedy::solve_greedy(cluster.problem(), cluster.shares(), options);
}

class SearchOnClusters : public testing::TestWithParam<local_search::SearchAim> {};

INSTANTIATE_TEST_SUITE_P(OfEachAim, SearchOnClusters,
                         testing::Values(local_search::SearchAim::kLevels, local_search::SearchAim::kMoves,
                                         local_search::SearchAim::kRoom));

TEST_P(SearchOnClusters, IsNeverWorseAndPassesTheReferee) {
  int better = 0;
  local_search::SearchOptions options = trials(1'200);
  options.aim = GetParam();
  for (std::uint32_t seed = 0; seed < kClusters; ++seed) {
    const Case cluster = test::any_cluster(seed);
    const Candidate before = rough_plan(cluster);
    const Candidate after = local_search::search(cluster.problem(), cluster.shares(), before, options);
    for (const referee::Violation& v : cluster.check(after.plan))
      ADD_FAILURE() << "seed " << seed << ": " << referee::rule_name(v.rule) << ", " << v.subject << ": " << v.message;
    EXPECT_EQ(after.levels, evaluate(cluster.problem(), cluster.shares(), after.plan)) << seed;
    const auto order = compare(after.levels, before.levels, level_ids(cluster.problem()));
    EXPECT_TRUE(order >= 0) << seed;
    better += order > 0 ? 1 : 0;
  }
  EXPECT_GT(better, 0);
  RecordProperty("better", better);
}

// Half of it runs, and only moves make room.
Case busy_cluster(std::uint32_t seed) {
  generator::GeneratorOptions options = *generator::generator_preset("contended");
  options.seed = seed;
  options.cluster.nodes = 24;
  options.queues.count = 1;
  options.queues.skew = 0;
  options.priorities = 2;
  std::string line = generator::generate_snapshot(options);
  line.insert(1, R"("policy":{"actions":["place","consolidate"]},)");
  return Case::of_line(line);
}

// What was found until then is kept, and is a plan that breaks no rule.
TEST_P(SearchOnClusters, MayBeStoppedAtAnyTime) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const Case cluster = busy_cluster(seed);
    const Candidate before = rough_plan(cluster);
    local_search::SearchOptions options = trials(20'000);
    options.aim = GetParam();
    options.stop = [polls = 40 * seed]() mutable { return polls == 0 || --polls == 0; };
    const Candidate after = local_search::search(cluster.problem(), cluster.shares(), before, options);
    for (const referee::Violation& v : cluster.check(after.plan))
      ADD_FAILURE() << "seed " << seed << ": " << referee::rule_name(v.rule) << ", " << v.subject << ": " << v.message;
    EXPECT_TRUE(compare(after.levels, before.levels, level_ids(cluster.problem())) >= 0) << seed;
  }
}

// Hundreds of nodes, so that there are several parts.
Case large_cluster(std::uint32_t seed) {
  generator::GeneratorOptions options = test::tiny_options(seed);
  options.cluster.nodes = 150;
  return Case::of_line(generator::generate_snapshot(options));
}

TEST_P(SearchOnClusters, GivesTheSamePlanForAnyNumberOfThreads) {
  const auto with_threads = [](std::int32_t threads) {
    local_search::SearchOptions options = trials(10'000, threads);
    options.aim = GetParam();
    return options;
  };
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const Case cluster = large_cluster(seed);
    const Candidate before = rough_plan(cluster);
    const Candidate one = local_search::search(cluster.problem(), cluster.shares(), before, with_threads(1));
    const Candidate four = local_search::search(cluster.problem(), cluster.shares(), before, with_threads(4));
    EXPECT_EQ(one.plan, four.plan) << seed;
    for (const referee::Violation& v : cluster.check(one.plan))
      ADD_FAILURE() << "seed " << seed << ": " << referee::rule_name(v.rule) << ", " << v.subject << ": " << v.message;
  }
}

}  // namespace
}  // namespace muster
