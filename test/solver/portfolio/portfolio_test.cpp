#include "solver/portfolio/portfolio.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "datasets/generator/generator.h"
#include "heuristics/greedy/greedy.h"
#include "heuristics/state/candidate.h"
#include "io/muster_v1/plan_line.h"
#include "model/objective/evaluation.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::portfolio {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Case;

constexpr test::ClusterShape kEvicting{.may_evict = true, .running = 50};

// Generated ones, random ones that only place, and random ones that may evict, in turn.
Case mixed_cluster(std::uint32_t seed) {
  return seed % 3 == 0 ? test::random_cluster(seed, kEvicting) : test::any_cluster(seed / 3 * 2 + seed % 3);
}

SolveOptions within(Clock::duration budget) {
  SolveOptions options;
  options.deadline = Clock::now() + budget;
  return options;
}

SolveOptions deterministic(std::int32_t threads = 1) {
  SolveOptions options;
  options.deterministic = true;
  options.threads = threads;
  return options;
}

void expect_legal(const Case& cluster, const Plan& plan) {
  for (const referee::Violation& v : cluster.check(plan))
    ADD_FAILURE() << referee::rule_name(v.rule) << ", " << v.subject << ": " << v.message;
}

// The levels that the report gives are those of the plan.
void expect_true_values(const Case& cluster, const Solution& solution) {
  const Levels levels = evaluate(cluster.problem(), cluster.shares(), solution.plan);
  ASSERT_EQ(solution.report.objective.size(), levels.values.size());
  for (std::size_t i = 0; i < levels.values.size(); ++i)
    EXPECT_EQ(solution.report.objective[i].value, levels.values[i]) << level_name(solution.report.objective[i].id.kind);
}

void expect_not_worse_than_greedy(const Case& cluster, const Plan& plan) {
  const Candidate greedy = greedy::solve_greedy(cluster.problem(), cluster.shares(), {});
  const Levels levels = evaluate(cluster.problem(), cluster.shares(), plan);
  EXPECT_TRUE(compare(levels, greedy.levels, level_ids(cluster.problem())) >= 0);
}

std::string line_of(const Case& cluster, const Solution& solution) {
  const muster_v1::SolverStatement statement{solution.origin, solution.proof, solution.gap, 0, 0, false, {}};
  std::string text;
  muster_v1::write_plan({cluster.problem(), solution.plan, solution.report, statement, false}, text);
  return text;
}

Case cluster_in_which_nothing_fits() {
  generator::GeneratorOptions options;
  options.situation = generator::Situation::kUnplaceable;
  options.cluster.nodes = 100;
  options.size.gang_pods = 4;
  return Case::of_line(generator::generate_snapshot(options));
}

TEST(Portfolio, ProvesTheEmptyPlanOnEveryLevelWhereNothingCanBePlaced) {
  const Case cluster = cluster_in_which_nothing_fits();
  Portfolio portfolio(test::program());
  SolveOptions solve = within(seconds(60));
  solve.deterministic = true;
  const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), solve);
  EXPECT_TRUE(solution.plan.placements.empty());
  EXPECT_TRUE(solution.plan.evictions.empty());
  EXPECT_EQ(solution.proof, Proof::kOptimal);
}

// A search that goes on although nothing can be gained would take the hour.
TEST(Portfolio, EndsOnceNothingCanBePlaced) {
  const Case cluster = cluster_in_which_nothing_fits();
  Portfolio portfolio(test::program());
  const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), within(std::chrono::hours(1)));
  EXPECT_EQ(solution.proof, Proof::kOptimal);
  EXPECT_TRUE(solution.plan.placements.empty());
}

TEST(Portfolio, PlansNoWorseWhatItHasPlannedBefore) {
  generator::GeneratorOptions options;
  options.cluster.nodes = 60;
  options.load = 1.5;
  options.place_only = true;
  for (options.seed = 1; options.seed <= 5; ++options.seed) {
    const Case cluster = Case::of_line(generator::generate_snapshot(options));
    Portfolio portfolio(test::program());
    // The second time only greedy and what is remembered fit into the budget.
    const Solution first = portfolio.solve(cluster.snapshot(), cluster.problem(), within(seconds(2)));
    const Solution second = portfolio.solve(cluster.snapshot(), cluster.problem(), within(milliseconds(300)));
    const Levels a = evaluate(cluster.problem(), cluster.shares(), first.plan),
                 b = evaluate(cluster.problem(), cluster.shares(), second.plan);
    EXPECT_TRUE(compare(b, a, level_ids(cluster.problem())) >= 0) << options.seed;
  }
}

// --- workers that fail

// One for which CBC is asked: its greedy plan is not proven by sums alone.
Case contested_cluster() {
  generator::GeneratorOptions options;
  options.seed = 7;
  options.cluster.nodes = 6;
  options.cluster.gpus_per_node = 4;
  options.cluster.cores_per_node = 32;
  options.gangs.largest = 4;
  options.queues.count = 3;
  options.load = 2;
  return Case::of_line(generator::generate_snapshot(options));
}

class PortfolioWithFault : public testing::TestWithParam<const char*> {
 protected:
  static cbc::BackendOptions faulty() {
    cbc::BackendOptions options;
    options.worker_program = test::program();
    options.fault = GetParam();
    options.memory_limit = std::uint64_t{1} << 30;
    return options;
  }
};

TEST_P(PortfolioWithFault, AnswersWithALegalPlanThatIsNotWorseThanGreedy) {
  const Case cluster = contested_cluster();
  Portfolio portfolio(faulty());
  for (int cycle = 0; cycle < 2; ++cycle) {
    const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), within(seconds(1)));
    expect_legal(cluster, solution.plan);
    expect_true_values(cluster, solution);
    expect_not_worse_than_greedy(cluster, solution.plan);
  }
}

TEST_P(PortfolioWithFault, AnswersInTime) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "everything takes ten times as long";
#endif
  const Case cluster = contested_cluster();
  Portfolio portfolio(faulty());
  const Clock::time_point start = Clock::now();
  portfolio.solve(cluster.snapshot(), cluster.problem(), within(milliseconds(300)));
  // Generous: the test looks for a cycle that waits for its worker.
  EXPECT_LT(Clock::now() - start, milliseconds(300) + seconds(2));
}

// One that hangs is stopped at the deadline, as one that only has too much to do: it is not among these.
class PortfolioWithBrokenWorker : public PortfolioWithFault {};

TEST_P(PortfolioWithBrokenWorker, TellsOfTheDefect) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (GetParam() == std::string("alloc")) GTEST_SKIP() << "sanitizers cannot live with a limit of address space";
  const seconds budget(30);  // of which they need some to report the fault of the worker, before it ends
#else
  const seconds budget(3);
#endif
  const Case cluster = contested_cluster();
  Portfolio portfolio(faulty());
  const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), within(budget));
  EXPECT_FALSE(solution.defects.empty());
}

std::string fault_name(const testing::TestParamInfo<const char*>& parameter) {
  std::string name = parameter.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Every, PortfolioWithFault,
                         testing::Values("segv", "hang", "alloc", "kill", "garbage", "hang-after-incumbent"),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Every, PortfolioWithBrokenWorker, testing::Values("segv", "alloc", "kill", "garbage"),
                         fault_name);

TEST(Portfolio, AnswersWithoutAWorkerProgram) {
  const Case cluster = contested_cluster();
  Portfolio portfolio("/nonexistent/muster");
  const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), within(seconds(4)));
  expect_legal(cluster, solution.plan);
  expect_not_worse_than_greedy(cluster, solution.plan);
  EXPECT_FALSE(solution.defects.empty());
}

// --- properties

TEST(Portfolio, IsNeverWorseThanGreedy) {
  Portfolio portfolio(test::program());
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    const Case cluster = mixed_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), within(seconds(2)));
    expect_not_worse_than_greedy(cluster, solution.plan);
  }
}

TEST(Portfolio, PlansObeyTheRulesAndNoneIsRejectedOnTheWay) {
  Portfolio portfolio(test::program());
  for (std::uint32_t seed = 101; seed <= 150; ++seed) {
    const Case cluster = mixed_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), within(seconds(2)));
    expect_legal(cluster, solution.plan);
    expect_true_values(cluster, solution);
    EXPECT_EQ(solution.defects, std::vector<std::string>{});
  }
}

TEST(Portfolio, ValuesDoNotPassTheirBounds) {
  Portfolio portfolio(test::program());
  std::int64_t bounds = 0;
  for (std::uint32_t seed = 201; seed <= 250; ++seed) {
    const Case cluster = mixed_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), within(seconds(2)));
    for (const explain::LevelReport& level : solution.report.objective) {
      if (!level.bound) continue;
      ++bounds;
      if (is_maximised(level.id.kind)) {
        EXPECT_LE(level.value, *level.bound) << level_name(level.id.kind);
      } else {
        EXPECT_GE(level.value, *level.bound) << level_name(level.id.kind);
      }
    }
  }
  EXPECT_GE(bounds, 300);
}

TEST(Portfolio, GivesOnePlanAndOneReportForAnyNumberOfThreads) {
  Portfolio portfolio(test::program());
  for (std::uint32_t seed = 301; seed <= 320; ++seed) {
    const Case cluster = mixed_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const Solution first = portfolio.solve(cluster.snapshot(), cluster.problem(), deterministic());
    for (const std::int32_t threads : {1, 2, 4}) {
      const Solution again = portfolio.solve(cluster.snapshot(), cluster.problem(), deterministic(threads));
      EXPECT_EQ(again.plan, first.plan) << threads << " threads";
      EXPECT_EQ(line_of(cluster, again), line_of(cluster, first)) << threads << " threads";
    }
  }
}

TEST(Portfolio, AnswersDoNotDependOnWhatWasSolvedBefore) {
  Portfolio used(test::program());
  for (std::uint32_t seed = 401; seed <= 410; ++seed) {
    const Case cluster = mixed_cluster(seed);
    SCOPED_TRACE(cluster.line());
    Portfolio fresh(test::program());
    const Solution one = used.solve(cluster.snapshot(), cluster.problem(), deterministic());
    EXPECT_EQ(line_of(cluster, one),
              line_of(cluster, fresh.solve(cluster.snapshot(), cluster.problem(), deterministic())));
  }
}

// --- the edges

void expect_an_empty_plan(const Case& cluster) {
  Portfolio portfolio(test::program());
  for (const Engine engine : {Engine::kAuto, Engine::kGreedy, Engine::kMilp}) {
    SolveOptions options = within(seconds(5));
    options.engine = engine;
    const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), options);
    expect_legal(cluster, solution.plan);
    EXPECT_TRUE(solution.plan.placements.empty());
    EXPECT_TRUE(solution.plan.evictions.empty());
    EXPECT_EQ(solution.origin, Origin::kNone);
    EXPECT_EQ(solution.defects, std::vector<std::string>{});
  }
}

// The engine that waits for greedy's first plan ends, too, if greedy ends without one.
TEST(Portfolio, ADefectWhileAnEngineWaitsForGreedyEndsTheCycle) {
  const Case cluster = test::random_cluster(3, kEvicting);
  SolveOptions options = within(seconds(5));
  options.threads = 2;
  options.trace = [](const TraceEvent&) { throw std::runtime_error("no disk"); };
  Portfolio portfolio(test::program());
  EXPECT_THROW(portfolio.solve(cluster.snapshot(), cluster.problem(), options), std::runtime_error);
  options.trace = nullptr;
  options.deadline = Clock::now() + seconds(5);
  expect_legal(cluster, portfolio.solve(cluster.snapshot(), cluster.problem(), options).plan);
}

TEST(Portfolio, AnEmptySnapshotHasAnEmptyPlan) { expect_an_empty_plan(Case("")); }

TEST(Portfolio, ASnapshotWithoutNodesHasAnEmptyPlan) {
  expect_an_empty_plan(Case(R"("pods":[{"name":"a","gpu":{"count":1}},{"name":"b","resources":{"cpu":1}}])"));
}

TEST(Portfolio, ASnapshotWithoutPodsHasAnEmptyPlan) {
  expect_an_empty_plan(Case(R"("nodes":[{"name":"n","resources":{"cpu":4},"gpus":{"count":2}}])"));
}

TEST(Portfolio, GivesALegalPlanWhenTheDeadlineHasAlreadyPassed) {
  Portfolio portfolio(test::program());
  for (std::uint32_t seed = 501; seed <= 520; ++seed) {
    const Case cluster = mixed_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), within(-seconds(1)));
    expect_legal(cluster, solution.plan);
    expect_true_values(cluster, solution);
  }
}

TEST(Portfolio, WritesTheFirstModelAsAnMpsFile) {
  const Case cluster = contested_cluster();
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("portfolio_test." + std::to_string(::getpid()) + ".mps");
  std::filesystem::remove(path);
  SolveOptions options = within(seconds(3));
  options.write_model = path.string();
  Portfolio portfolio(test::program());
  portfolio.solve(cluster.snapshot(), cluster.problem(), options);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  EXPECT_NE(text.find(" N  negated_objective\n"), std::string::npos) << text.substr(0, 100);
  EXPECT_TRUE(text.ends_with("ENDATA\n"));
  EXPECT_NE(text.find(" nodes0 "), std::string::npos) << "rows have their names";
}

TEST(Portfolio, WritesAllModelsToAFolder) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("portfolio_test." + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const Case cluster = contested_cluster();
  SolveOptions options = within(seconds(3));
  options.deterministic = true;
  options.write_model = folder.string();
  Portfolio portfolio(test::program());
  portfolio.solve(cluster.snapshot(), cluster.problem(), options);
  std::size_t files = 0;
  while (std::filesystem::exists(folder / (std::to_string(files + 1) + ".mps"))) ++files;
  EXPECT_GT(files, 1U) << "more than one level has a model";
  const auto of_first_cycle = files;
  portfolio.solve(cluster.snapshot(), cluster.problem(), options);
  while (std::filesystem::exists(folder / (std::to_string(files + 1) + ".mps"))) ++files;
  EXPECT_EQ(files, 2 * of_first_cycle) << "those of the next cycle follow";
  std::filesystem::remove_all(folder);
}

TEST(Portfolio, AModelThatCannotBeWrittenIsADefectAndNoHindrance) {
  const Case cluster = contested_cluster();
  SolveOptions options = within(seconds(3));
  options.write_model = "/nonexistent/model.mps";
  Portfolio portfolio(test::program());
  const Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), options);
  expect_legal(cluster, solution.plan);
  EXPECT_EQ(solution.defects, std::vector<std::string>{"cannot write /nonexistent/model.mps"});
}

}  // namespace
}  // namespace muster::portfolio
