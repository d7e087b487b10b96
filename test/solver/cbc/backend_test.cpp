#include "solver/cbc/backend.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "solver/lp/milp.h"
#include "test/solver/random_milp.h"
#include "test/support/paths.h"

namespace muster::cbc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

MilpRequest request_of(Clock::duration budget) {
  MilpRequest request;
  request.deadline = Clock::now() + budget;
  return request;
}

Backend faulty(const std::string& fault) {
  BackendOptions options;
  options.worker_program = test::program();
  options.fault = fault;
  options.memory_limit = std::uint64_t{1} << 30;
  return Backend(std::move(options));
}

lp::Milp easy() {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 7);
  milp.add_column({5, 0, 10, true}, {{0, 3}});
  milp.add_column({3, 0, 10, true}, {{0, 2}});
  return milp;
}

// Far beyond what CBC can finish in a test.
lp::Milp hard(int rows = 60, int columns = 400) {
  std::mt19937 random(11);
  return test::packing_milp(random, rows, columns);
}

TEST(Backend, FindsWhatTryingEveryPointFinds) {
  Backend backend(test::program());
  std::mt19937 random(1);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    const lp::Milp milp = test::random_milp(random);
    const std::optional<double> best = test::best_by_trying(milp);
    const MilpAnswer answer = backend.solve(milp, request_of(seconds(20)));
    ASSERT_EQ(answer.status, best ? SolveStatus::kOptimal : SolveStatus::kInfeasible) << answer.message;
    if (!best) continue;
    EXPECT_EQ(answer.objective, *best);
    EXPECT_EQ(answer.bound, *best);
    EXPECT_TRUE(lp::is_feasible(milp, answer.x, 1e-6));
    EXPECT_EQ(lp::objective_value(milp, answer.x), answer.objective);
  }
  EXPECT_EQ(backend.failures(), 0);
}

TEST(Backend, FindsTheOptimumOfLargeCostsExactly) {
  Backend backend(test::program());
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    lp::Milp milp = test::random_milp(random);
    for (double& cost : milp.objective) cost = cost * 1e8 + test::pick(random, -9, 9);
    const std::optional<double> best = test::best_by_trying(milp);
    const MilpAnswer answer = backend.solve(milp, request_of(seconds(20)));
    ASSERT_EQ(answer.status, best ? SolveStatus::kOptimal : SolveStatus::kInfeasible) << answer.message;
    if (best) {
      EXPECT_EQ(answer.objective, *best);
    }
  }
}

TEST(Backend, PricesOfARelaxationProveItsOptimum) {
  Backend backend(test::program());
  std::mt19937 random(3);
  int optima = 0;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    const lp::Milp milp = test::random_milp(random);
    MilpRequest request = request_of(seconds(20));
    request.relax = true;
    const MilpAnswer answer = backend.solve(milp, request);
    if (answer.status == SolveStatus::kInfeasible) {
      EXPECT_FALSE(test::best_by_trying(milp));
      continue;
    }
    ASSERT_EQ(answer.status, SolveStatus::kOptimal) << answer.message;
    ASSERT_EQ(answer.row_price.size(), milp.row_lower.size());
    EXPECT_NEAR(test::dual_bound(milp, answer.row_price), answer.objective, 1e-6);
    EXPECT_GE(answer.bound, answer.objective);
    EXPECT_LE(answer.bound, answer.objective + 1e-3);
    ++optima;
  }
  EXPECT_GE(optima, 40);
}

TEST(Backend, PriceOfAFullCapacityIsPositive) {
  Backend backend(test::program());
  MilpRequest request = request_of(seconds(20));
  request.relax = true;
  const MilpAnswer answer = backend.solve(easy(), request);
  ASSERT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_NEAR(answer.row_price.at(0), 5.0 / 3, 1e-9);
}

TEST(Backend, BoundsOfAStoppedSearchHoldAndItsPointsAreFeasible) {
  Backend backend(test::program());
  std::mt19937 random(4);
  for (int round = 0; round < 12; ++round) {
    const lp::Milp milp = test::packing_milp(random, 15, 25);
    const MilpAnswer exact = backend.solve(milp, request_of(seconds(60)));
    ASSERT_EQ(exact.status, SolveStatus::kOptimal);
    for (const std::int64_t nodes : {0, 1, 5}) {
      SCOPED_TRACE(std::to_string(round) + " " + std::to_string(nodes));
      MilpRequest request = request_of(seconds(60));
      request.node_limit = nodes;
      const MilpAnswer answer = backend.solve(milp, request);
      EXPECT_GE(answer.bound, exact.objective);
      EXPECT_LE(answer.objective, exact.objective);
      EXPECT_TRUE(answer.status != SolveStatus::kOptimal || answer.objective == exact.objective);
      EXPECT_TRUE(answer.x.empty() || lp::is_feasible(milp, answer.x, 1e-6));
    }
  }
}

TEST(Backend, StopsWithinTheGapAskedFor) {
  Backend backend(test::program());
  std::mt19937 random(5);
  const lp::Milp milp = test::packing_milp(random, 20, 40);
  MilpRequest request = request_of(seconds(60));
  request.relative_gap = 0.05;
  const MilpAnswer answer = backend.solve(milp, request);
  ASSERT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_LE(answer.bound - answer.objective, 0.05 * answer.bound + 1);
}

TEST(Backend, StartArrivesEvenWithoutANodeToSpend) {
  Backend backend(test::program());
  std::mt19937 random(6);
  for (int round = 0; round < 10; ++round) {
    SCOPED_TRACE(round);
    const lp::Milp milp = test::packing_milp(random, 20, 30);
    const MilpAnswer exact = backend.solve(milp, request_of(seconds(60)));
    ASSERT_EQ(exact.status, SolveStatus::kOptimal);
    MilpRequest request = request_of(seconds(60));
    request.node_limit = 0;
    request.start = exact.x;
    const MilpAnswer answer = backend.solve(milp, request);
    EXPECT_TRUE(answer.start_was_used);
    EXPECT_EQ(answer.objective, exact.objective);
    EXPECT_GE(answer.bound, exact.objective);
  }
}

TEST(Backend, SearchGoesOnFromAPoorStart) {
  Backend backend(test::program());
  std::mt19937 random(7);
  const lp::Milp milp = test::packing_milp(random, 15, 25);
  const MilpAnswer exact = backend.solve(milp, request_of(seconds(60)));
  MilpRequest request = request_of(seconds(60));
  request.start.assign(milp.objective.size(), 0.0);
  const MilpAnswer answer = backend.solve(milp, request);
  EXPECT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_TRUE(answer.start_was_used);
  EXPECT_EQ(answer.objective, exact.objective);
}

TEST(Backend, StartThatIsNotFeasibleIsLeftOut) {
  Backend backend(test::program());
  MilpRequest request = request_of(seconds(20));
  request.start = {10, 10};
  const MilpAnswer answer = backend.solve(easy(), request);
  EXPECT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_FALSE(answer.start_was_used);
  EXPECT_EQ(answer.message, "the start is not feasible");
  EXPECT_EQ(answer.objective, 11);  // 1 and 2
}

TEST(Backend, CutoffAboveTheOptimumIsProvenToBeOutOfReach) {
  Backend backend(test::program());
  MilpRequest request = request_of(seconds(20));
  request.cutoff = 12;
  const MilpAnswer answer = backend.solve(easy(), request);
  EXPECT_EQ(answer.status, SolveStatus::kInfeasible);
  EXPECT_EQ(answer.bound, 12);
}

TEST(Backend, CutoffBelowTheOptimumLeavesItInReach) {
  Backend backend(test::program());
  MilpRequest request = request_of(seconds(20));
  request.cutoff = 10;
  const MilpAnswer answer = backend.solve(easy(), request);
  EXPECT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_EQ(answer.objective, 11);
}

TEST(Backend, SaysWhatIsUnboundedAndWhatIsInfeasible) {
  Backend backend(test::program());
  lp::Milp unbounded;
  unbounded.add_row(-lp::kInfinity, 5);
  unbounded.add_column({1, 0, lp::kInfinity, true}, {{0, -1}});
  EXPECT_EQ(backend.solve(unbounded, request_of(seconds(20))).status, SolveStatus::kUnbounded);
  lp::Milp infeasible;
  infeasible.add_row(5, lp::kInfinity);
  infeasible.add_column({1, 0, 1, true}, {{0, 1}});
  EXPECT_EQ(backend.solve(infeasible, request_of(seconds(20))).status, SolveStatus::kInfeasible);
  lp::Milp fraction;  // feasible only between integers
  fraction.add_row(1, 1);
  fraction.add_column({1, 0, 3, true}, {{0, 2}});
  EXPECT_EQ(backend.solve(fraction, request_of(seconds(20))).status, SolveStatus::kInfeasible);
}

// A gang of two and others on two nodes: rows 0 to 4 describe which pods are there, 5 and 6 that each node has one
// content, 7 is a limit. CBC's preprocessing loses the optimum of this model and reports 937 as the best.
TEST(Backend, KeepsTheOptimumOfEquationsWithACoefficientOfTwo) {
  lp::Milp milp;
  for (int supply = 0; supply < 5; ++supply) milp.add_row(0, 0);
  milp.add_row(1, 1);
  milp.add_row(1, 1);
  milp.add_row(-lp::kInfinity, 1);
  milp.add_column({937, 0, 1, true}, {{0, 2}});
  milp.add_column({0, 0, 2, true}, {{1, 1}});
  milp.add_column({0, 0, 1, true}, {{2, 1}, {7, 1}});
  milp.add_column({1000, 0, 1, true}, {{3, 1}, {7, 1}});
  milp.add_column({0, 0, 0, true}, {{4, 1}});
  milp.add_column({0, 0, 1, true}, {{5, 1}});
  milp.add_column({0, 0, 1, true}, {{3, -1}, {5, 1}});
  milp.add_column({0, 0, 1, true}, {{2, -1}, {5, 1}});
  milp.add_column({0, 0, 1, true}, {{0, -1}, {5, 1}});
  milp.add_column({0, 0, 1, true}, {{0, -1}, {2, -1}, {5, 1}});
  milp.add_column({0, 0, 1, true}, {{6, 1}});
  milp.add_column({0, 0, 1, true}, {{0, -1}, {6, 1}});
  Backend backend(test::program());
  const MilpAnswer answer = backend.solve(milp, request_of(seconds(20)));
  EXPECT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_EQ(answer.objective, 1000);
  EXPECT_EQ(answer.bound, 1000);
}

TEST(Backend, SolvesModelsWithoutColumnsOrRows) {
  Backend backend(test::program());
  lp::Milp empty;
  EXPECT_EQ(backend.solve(empty, request_of(seconds(20))).status, SolveStatus::kOptimal);
  empty.add_row(1, 2);
  EXPECT_EQ(backend.solve(empty, request_of(seconds(20))).status, SolveStatus::kInfeasible);
  lp::Milp rowless;
  rowless.add_column({2, 0, 3, true}, {});
  rowless.add_column({-2, -1, 3, false}, {});
  const MilpAnswer answer = backend.solve(rowless, request_of(seconds(20)));
  EXPECT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_EQ(answer.objective, 8);
}

TEST(Backend, ReturnsInTimeFromAHardModel) {
  Backend backend(test::program());
  const lp::Milp milp = hard();
  const Clock::time_point begin = Clock::now();
  const MilpAnswer answer = backend.solve(milp, request_of(milliseconds(50)));
  EXPECT_LT(Clock::now() - begin, seconds(2));
  EXPECT_NE(answer.status, SolveStatus::kOptimal);
  EXPECT_TRUE(answer.x.empty() || lp::is_feasible(milp, answer.x, 1e-6));
}

TEST(Backend, StartsNoWorkerForARequestThatCannotWaitForIt) {
  Backend backend(test::program());
  const MilpAnswer late = backend.solve(easy(), request_of(milliseconds(5)));
  EXPECT_EQ(late.status, SolveStatus::kNoSolution);
  EXPECT_EQ(late.message, "there is too little time to start a worker");
  EXPECT_EQ(backend.failures(), 0);
  EXPECT_EQ(backend.solve(easy(), request_of(seconds(20))).status, SolveStatus::kOptimal);
}

TEST(Backend, WorkerThatCouldNotAnswerInTimeIsNotAskedAndLivesOn) {
  Backend backend(test::program());
  backend.prepare();
  EXPECT_EQ(backend.solve(hard(), request_of(milliseconds(1))).status, SolveStatus::kNoSolution);
  EXPECT_EQ(backend.failures(), 0);
}

TEST(Backend, LpThatTheWorkerWasNotToldOfIsNotOpen) {
  Backend backend(test::program());
  MilpRequest passed = request_of(seconds(-1));
  backend.open_lp(easy(), passed);
  EXPECT_FALSE(backend.is_open());
  ASSERT_EQ(backend.open_lp(easy(), request_of(seconds(20))).status, SolveStatus::kOptimal);
  ASSERT_TRUE(backend.is_open());
  lp::Milp more;
  more.add_row(-lp::kInfinity, 7);
  more.add_column({4, 0, 10, false}, {{0, 1}});
  backend.extend_lp(more, passed);
  EXPECT_FALSE(backend.is_open()) << "the worker lacks these columns";
}

TEST(Backend, KeepsTheStartWhenThereIsNoTime) {
  Backend backend(test::program());
  const lp::Milp milp = hard();
  for (const milliseconds budget : {milliseconds(0), milliseconds(3), milliseconds(30)}) {
    MilpRequest request = request_of(budget);
    request.start.assign(milp.objective.size(), 0.0);
    const MilpAnswer answer = backend.solve(milp, request);
    EXPECT_EQ(answer.status, SolveStatus::kFeasible);
    ASSERT_EQ(answer.x.size(), milp.objective.size());
    EXPECT_GE(answer.objective, 0);
  }
}

// A request with its own limit, of which nothing is spent.
MilpRequest limited_by_work(std::int64_t units) {
  MilpRequest request = request_of(seconds(120));
  request.work = WorkLimit(units);
  return request;
}

TEST(Backend, WorkLimitGivesTheSameAnswerEachTime) {
  constexpr std::int64_t kSome = 1'000'000;
  Backend backend(test::program());
  std::mt19937 random(8);
  const lp::Milp milp = test::packing_milp(random, 30, 60);
  const MilpAnswer first = backend.solve(milp, limited_by_work(kSome));
  backend.solve(easy(), limited_by_work(kSome));  // whatever the worker has done between
  const MilpAnswer second = backend.solve(milp, limited_by_work(kSome));
  const MilpAnswer third = Backend(test::program()).solve(milp, limited_by_work(kSome));
  EXPECT_EQ(first.work, second.work);
  EXPECT_EQ(first.work, third.work);
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(first.x, third.x);
  EXPECT_EQ(first.bound, second.bound);
  EXPECT_EQ(first.bound, third.bound);
  EXPECT_EQ(first.nodes, second.nodes);
}

TEST(Backend, WorkLimitIsKeptAndItsBoundHolds) {
  Backend backend(test::program());
  std::mt19937 random(9);
  for (int round = 0; round < 10; ++round) {
    const lp::Milp milp = test::packing_milp(random, 20, 40);
    const MilpRequest whole = limited_by_work(std::numeric_limits<std::int64_t>::max() / 2);
    const MilpAnswer exact = backend.solve(milp, whole);
    ASSERT_EQ(exact.status, SolveStatus::kOptimal);
    EXPECT_EQ(exact.work, whole.work.spent());
    for (const std::int64_t share : {1, 10, 50}) {
      SCOPED_TRACE(std::to_string(round) + ": " + std::to_string(share) + " %");
      const MilpRequest request = limited_by_work(exact.work * share / 100);
      const MilpAnswer answer = backend.solve(milp, request);
      EXPECT_LE(answer.work, exact.work);
      EXPECT_TRUE(request.work.is_reached());
      EXPECT_NE(answer.status, SolveStatus::kFailed);
      EXPECT_GE(answer.bound, exact.objective);
      EXPECT_EQ(backend.solve(milp, request).status, SolveStatus::kNoSolution) << "nothing is left of the limit";
    }
  }
}

class FaultyWorker : public ::testing::TestWithParam<std::string> {};

TEST_P(FaultyWorker, IsAStatusAndNothingWorse) {
  Backend backend = faulty(GetParam());
  for (int round = 1; round <= 3; ++round) {
    const Clock::time_point begin = Clock::now();
    const MilpAnswer answer = backend.solve(easy(), request_of(milliseconds(300)));
    EXPECT_LT(Clock::now() - begin, seconds(5));
    EXPECT_EQ(answer.status, SolveStatus::kFailed);
    EXPECT_FALSE(answer.message.empty());
    EXPECT_TRUE(answer.x.empty());
    EXPECT_EQ(backend.failures(), round);
  }
}

TEST_P(FaultyWorker, LeavesTheStartStanding) {
  Backend backend = faulty(GetParam());
  MilpRequest request = request_of(milliseconds(300));
  request.start = {1, 1};
  const MilpAnswer answer = backend.solve(easy(), request);
  EXPECT_EQ(answer.status, SolveStatus::kFeasible);
  EXPECT_EQ(answer.objective, 8);
  EXPECT_EQ(answer.bound, lp::kInfinity);
}

TEST_P(FaultyWorker, ClosesTheOpenLp) {
  Backend backend = faulty(GetParam());
  EXPECT_EQ(backend.open_lp(easy(), request_of(milliseconds(300))).status, SolveStatus::kFailed);
  EXPECT_FALSE(backend.is_open());
}

INSTANTIATE_TEST_SUITE_P(EachFault, FaultyWorker, ::testing::Values("segv", "kill", "hang", "garbage"),
                         [](const auto& instance) { return instance.param; });

TEST(Backend, WorkerWithoutMemoryIsAFailure) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers cannot live with a limit of address space";
#endif
  Backend backend = faulty("alloc");
  const MilpAnswer answer = backend.solve(easy(), request_of(seconds(20)));
  EXPECT_EQ(answer.status, SolveStatus::kFailed);
  EXPECT_EQ(backend.failures(), 1);
}

TEST(Backend, WhatAKilledWorkerHadFoundIsKept) {
  Backend backend = faulty("hang-after-incumbent");
  const lp::Milp milp = easy();
  const MilpAnswer answer = backend.solve(milp, request_of(milliseconds(500)));
  EXPECT_EQ(answer.status, SolveStatus::kFeasible);
  ASSERT_FALSE(answer.x.empty());
  EXPECT_TRUE(lp::is_feasible(milp, answer.x, 1e-6));
  EXPECT_GE(answer.bound, 11);
  EXPECT_EQ(backend.failures(), 1);
}

TEST(Backend, ProgramThatIsNotThereIsAFailure) {
  Backend backend("/nonexistent/muster");
  const MilpAnswer answer = backend.solve(easy(), request_of(seconds(1)));
  EXPECT_EQ(answer.status, SolveStatus::kFailed);
  EXPECT_NE(answer.message.find("/nonexistent/muster"), std::string::npos);
}

TEST(Backend, ProgramThatIsNoWorkerIsAFailure) {
  Backend backend("/bin/true");
  EXPECT_EQ(backend.solve(easy(), request_of(seconds(1))).status, SolveStatus::kFailed);
}

TEST(Backend, OneWorkerServesManyRequests) {
  Backend backend(test::program());
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(backend.solve(easy(), request_of(seconds(20))).objective, 11);
  }
  EXPECT_EQ(backend.failures(), 0);
}

TEST(Backend, TwoThreadsWithABackendEachDoNotDisturbOneAnother) {
  std::mt19937 random(9);
  std::vector<lp::Milp> models;
  std::vector<std::optional<double>> best;
  for (int round = 0; round < 60; ++round) {
    models.push_back(test::random_milp(random));
    best.push_back(test::best_by_trying(models.back()));
  }
  std::atomic<int> mismatches = 0;
  const auto solve_all = [&] {
    Backend backend(test::program());
    for (std::size_t round = 0; round < models.size(); ++round) {
      const MilpAnswer answer = backend.solve(models[round], request_of(seconds(20)));
      const bool same = best[round] ? answer.status == SolveStatus::kOptimal && answer.objective == *best[round]
                                    : answer.status == SolveStatus::kInfeasible;
      if (!same) ++mismatches;
    }
  };
  std::thread first(solve_all);
  std::thread second(solve_all);
  first.join();
  second.join();
  EXPECT_EQ(mismatches, 0);
}

// The second begins a moment later, and ends both.
TEST(BackendRace, EndsWithTheFirstAnswerThatIsSettledWhicheverItIs) {
  Backend backend(test::program());
  const lp::Milp slow = hard(), quick = easy();
  const MilpRequest request = request_of(seconds(60));
  const auto begun = Clock::now();
  for (const bool is_second : {true, false, true}) {
    OneQuestion of_slow({slow, request}), of_quick({quick, request});
    if (is_second)
      backend.race(of_slow, of_quick, request.deadline);
    else
      backend.race(of_quick, of_slow, request.deadline);
    const MilpAnswer& winner = of_quick.answer();
    const MilpAnswer& loser = of_slow.answer();
    EXPECT_EQ(winner.status, SolveStatus::kOptimal);
    EXPECT_DOUBLE_EQ(winner.objective, 11);
    EXPECT_DOUBLE_EQ(winner.bound, 11);
    EXPECT_TRUE(loser.status == SolveStatus::kFeasible || loser.status == SolveStatus::kNoSolution);
    if (loser.x.empty()) continue;
    EXPECT_TRUE(lp::is_feasible(slow, loser.x, 1e-6));
    EXPECT_GE(loser.bound, loser.objective);
  }
  EXPECT_LT(Clock::now() - begun, seconds(30));
  EXPECT_EQ(backend.failures(), 0) << "a worker that was stopped has not failed";
  EXPECT_EQ(backend.solve(quick, request_of(seconds(20))).status, SolveStatus::kOptimal);
}

TEST(BackendRace, KeepsTheStartAndTheBoundsOfBothWhenItsTimeIsUp) {
  Backend backend(test::program());
  const lp::Milp milp = hard();
  MilpRequest request = request_of(milliseconds(300));
  request.start.assign(milp.objective.size(), 0.0);
  OneQuestion first({milp, request}), second({milp, request});
  backend.race(first, second, request.deadline);
  EXPECT_LT(Clock::now() - request.deadline, milliseconds(200));
  for (const MilpAnswer& answer : {first.answer(), second.answer()}) {
    ASSERT_FALSE(answer.x.empty());
    EXPECT_EQ(answer.status, SolveStatus::kFeasible);
    EXPECT_GE(answer.bound, answer.objective);
  }
}

// Asks for models one after another, and is settled by the last.
class Questions : public Lane {
 public:
  explicit Questions(std::vector<Question> questions) : questions_(std::move(questions)) {}
  const Question* next() override { return answers.size() < questions_.size() ? &questions_[answers.size()] : nullptr; }
  void hear(MilpAnswer answer) override { answers.push_back(std::move(answer)); }
  bool is_settled() const override { return answers.size() == questions_.size(); }

  std::vector<MilpAnswer> answers;

 private:
  std::vector<Question> questions_;
};

TEST(BackendRace, AsksOneQuestionOfALaneAfterAnother) {
  Backend backend(test::program());
  const MilpRequest request = request_of(seconds(60));
  lp::Milp impossible = easy();
  impossible.lower[0] = impossible.upper[0] + 1;
  MilpRequest relaxed = request, short_one = request_of(milliseconds(200));
  relaxed.relax = true;
  OneQuestion first({hard(), request});
  // Its nodes take little time, so that CBC looks at the clock often.
  const lp::Milp with_short_steps = hard(30, 100);
  Questions second({{easy(), relaxed}, {impossible, request}, {with_short_steps, short_one}, {easy(), request}});
  backend.race(first, second, request.deadline);
  EXPECT_LT(Clock::now() - request.deadline, -seconds(30));
  ASSERT_EQ(second.answers.size(), 4);
  EXPECT_EQ(second.answers[0].status, SolveStatus::kOptimal);
  EXPECT_FALSE(second.answers[0].row_price.empty());
  EXPECT_EQ(second.answers[1].status, SolveStatus::kInfeasible);
  EXPECT_TRUE(second.answers[2].status == SolveStatus::kFeasible ||
              second.answers[2].status == SolveStatus::kNoSolution)
      << "its time is up before that of the race";
  EXPECT_EQ(second.answers[3].status, SolveStatus::kOptimal);
  EXPECT_DOUBLE_EQ(second.answers[3].objective, 11);
  EXPECT_EQ(backend.failures(), 0);
}

// Its first question is of no interest any more as soon as something is known of it.
class Fickle : public Questions {
 public:
  using Questions::Questions;
  void hear_bound(double bound) override { bound_ = bound; }
  bool is_stale() const override { return answers.empty() && bound_ < lp::kInfinity; }

 private:
  double bound_ = lp::kInfinity;
};

TEST(BackendRace, StopsAQuestionThatIsStaleAndAsksTheNextOne) {
  Backend backend(test::program());
  const MilpRequest request = request_of(seconds(60));
  Fickle first({{hard(), request}, {easy(), request}});
  OneQuestion second({hard(), request});
  backend.race(first, second, request.deadline);
  EXPECT_LT(Clock::now() - request.deadline, -seconds(30));
  ASSERT_EQ(first.answers.size(), 2);
  EXPECT_LT(first.answers[0].bound, lp::kInfinity) << "what was known by then";
  EXPECT_EQ(first.answers[1].status, SolveStatus::kOptimal);
}

TEST_P(FaultyWorker, EndsARaceByItsDeadlineWithNothing) {
  Backend backend = faulty(GetParam());
  // Only a worker that hangs needs all of it; to start one that fails takes longest with sanitizers.
  const MilpRequest request = request_of(milliseconds(GetParam() == "hang" ? 300 : 5000));
  OneQuestion first({easy(), request}), second({easy(), request});
  backend.race(first, second, request.deadline);
  EXPECT_LT(Clock::now() - request.deadline, milliseconds(500));
  for (const MilpAnswer& answer : {first.answer(), second.answer()}) EXPECT_NE(answer.status, SolveStatus::kOptimal);
  if (GetParam() == "hang") return;
  EXPECT_EQ(first.answer().status, SolveStatus::kFailed);
  EXPECT_FALSE(first.answer().message.empty());
  EXPECT_GT(backend.failures(), 0);
}

TEST(Backend, OutlivesTheThreadThatMadeItsWorkers) {
  Backend backend(test::program());
  std::thread([&] { backend.prepare(); }).join();
  EXPECT_EQ(backend.solve(easy(), request_of(seconds(20))).objective, 11);
}

// A cutting-stock master: `rows` demands, columns that are patterns.
lp::Milp patterns(std::mt19937& random, int rows, int columns) {
  lp::Milp milp;
  for (int row = 0; row < rows; ++row) milp.add_row(-lp::kInfinity, 5 + row % 7);
  for (int column = 0; column < columns; ++column) {
    std::vector<lp::Entry> entries;
    for (int row = 0; row < rows; ++row) {
      if (test::pick(random, 0, 9) == 0) entries.push_back({row, static_cast<double>(test::pick(random, 1, 4))});
    }
    milp.add_column({static_cast<double>(test::pick(random, 5, 20)), 0, 3, false}, entries);
  }
  return milp;
}

lp::Milp first_columns(const lp::Milp& milp, std::int32_t begin, std::int32_t end) {
  lp::Milp part;
  part.row_lower = milp.row_lower;
  part.row_upper = milp.row_upper;
  for (auto column = static_cast<std::size_t>(begin); column < static_cast<std::size_t>(end); ++column) {
    std::vector<lp::Entry> entries;
    for (auto entry = static_cast<std::size_t>(milp.column_begin[column]);
         entry < static_cast<std::size_t>(milp.column_begin[column + 1]); ++entry) {
      entries.push_back({milp.entry_row[entry], milp.entry_value[entry]});
    }
    part.add_column({milp.objective[column], milp.lower[column], milp.upper[column], false}, entries);
  }
  return part;
}

TEST(Backend, LpThatGrowsReachesTheOptimumOfTheWholeLp) {
  Backend backend(test::program());
  std::mt19937 random(10);
  const lp::Milp whole = patterns(random, 30, 120);
  MilpAnswer answer = backend.open_lp(first_columns(whole, 0, 40), request_of(seconds(20)));
  ASSERT_EQ(answer.status, SolveStatus::kOptimal) << answer.message;
  double previous = answer.objective;
  for (const std::int32_t begin : {40, 80}) {
    ASSERT_TRUE(backend.is_open());
    answer = backend.extend_lp(first_columns(whole, begin, begin + 40), request_of(seconds(20)));
    ASSERT_EQ(answer.status, SolveStatus::kOptimal) << answer.message;
    EXPECT_GE(answer.objective, previous - 1e-9);
    previous = answer.objective;
  }
  EXPECT_EQ(answer.x.size(), whole.objective.size());
  EXPECT_TRUE(lp::is_feasible(whole, answer.x, 1e-6));
  EXPECT_NEAR(test::dual_bound(whole, answer.row_price), answer.objective, 1e-5);
}

TEST(Backend, OpenLpSurvivesAMilpInBetween) {
  Backend backend(test::program());
  std::mt19937 random(12);
  const lp::Milp whole = patterns(random, 10, 40);
  backend.open_lp(first_columns(whole, 0, 20), request_of(seconds(20)));
  backend.solve(easy(), request_of(seconds(20)));
  const MilpAnswer answer = backend.extend_lp(first_columns(whole, 20, 40), request_of(seconds(20)));
  EXPECT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_NEAR(test::dual_bound(whole, answer.row_price), answer.objective, 1e-6);
}

TEST(Backend, LpCannotBeExtendedBeforeItIsOpen) {
  Backend backend(test::program());
  EXPECT_EQ(backend.extend_lp(easy(), request_of(seconds(1))).status, SolveStatus::kFailed);
  EXPECT_FALSE(backend.is_open());
}

}  // namespace
}  // namespace muster::cbc
