#include "solver/budget/time_plan.h"

#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

InstanceSize size_of(std::int64_t pods, std::int64_t nodes, std::int64_t occupied = 0, std::int64_t leaving = 0) {
  InstanceSize size;
  size.pods = pods;
  size.nodes = nodes;
  size.gangs = pods / 4;
  size.occupied_nodes = occupied;
  size.leaving = leaving;
  return size;
}

// Milliseconds of a problem of 100,000 items on an idle machine, as documented in docs/benchmarks/speed.md.
constexpr LearntTimes kLearnt{.end = 60, .checking = 30, .stopping = 10, .greedy_start = 80, .first_plan = 500};

double sum_of(const TimeAllotments& all) {
  double sum = 0;
  for (const auto& [name, ms] : all) sum += ms;
  return sum;
}

double of(const TimeAllotments& all, std::string_view phase) {
  for (const auto& [name, ms] : all)
    if (name == phase) return ms;
  return -1;
}

// What runs, in words: the number of greedy's starts (0: as many as it has), whether the first is alone, then the MILP
// engine beside a search, alone, or not at all.
std::string strategy(const InstanceSize& size, const TimeBudget& budget) {
  const TimePlan plan = make_time_plan(size, kLearnt, budget);
  std::string text = std::to_string(plan.greedy.starts) + (plan.greedy.first_alone ? " alone, " : ", ");
  if (plan.may_search && plan.is_short_for_milp(budget.ms)) return text + "search";
  return text + (plan.is_milp_alone(budget.ms) ? "milp" : "both");
}

TEST(TimePlan, ChoosesTheEnginesBySizeAndBudget) {
  struct Row {
    std::string name;
    InstanceSize size;
    double ms;
    std::string expected;
  };
  const Row table[] = {
      {"small, short budget", size_of(900, 100), 50, "0 alone, both"},
      {"small", size_of(900, 100), 1'000, "0, both"},
      {"large, less than a start of greedy", size_of(9'000, 1'000), 60, "0 alone, search"},
      {"large, less than a first plan of the MILP engine", size_of(9'000, 1'000), 400, "0, search"},
      {"large, time for a first plan", size_of(9'000, 1'000), 1'000, "0, milp"},
      {"large, time for most of the gain", size_of(9'000, 1'000), 6'000, "0, both"},
      {"very large, alike nodes", size_of(90'000, 10'000), 400, "1, search"},
      {"very large, nodes that differ", size_of(90'000, 10'000, 5'000), 400, "2, search"},
      {"very large, an engine follows", size_of(90'000, 10'000, 5'000), 10'000, "1, both"},
      {"with evictions", size_of(9'000, 1'000, 900, 8'000), 3'000, "0, milp"},
  };
  for (const Row& row : table) EXPECT_EQ(strategy(row.size, {.ms = row.ms}), row.expected) << row.name;
}

TEST(TimePlan, RunsASingleEngineWithAllTheTime) {
  const TimeBudget greedy{.ms = 1'000, .has_milp = false, .has_search = false};
  const TimePlan plan = make_time_plan(size_of(9'000, 1'000), kLearnt, greedy);
  EXPECT_EQ(plan.greedy.first_ms, 1'000 - 60 - 10);
  EXPECT_EQ(plan.greedy.more_ms, plan.greedy.first_ms);
  EXPECT_EQ(of(allotments(plan, greedy), "greedy"), 940);
  const TimeBudget milp{.ms = 1'000, .has_search = false};
  EXPECT_EQ(of(allotments(make_time_plan(size_of(9'000, 1'000), kLearnt, milp), milp), "search"), 0);
}

TEST(TimePlan, GivesGreedyLittleUnlessItHasNoTimeForMore) {
  const TimePlan usual = make_time_plan(size_of(9'000, 1'000), kLearnt, {.ms = 10'000});
  EXPECT_DOUBLE_EQ(usual.greedy.more_ms, 3'000 - 70);
  EXPECT_DOUBLE_EQ(usual.greedy.first_ms, 7'000 - 70);
  const TimePlan evicting = make_time_plan(size_of(9'000, 1'000, 900, 8'000), kLearnt, {.ms = 10'000});
  EXPECT_DOUBLE_EQ(evicting.greedy.more_ms, 3'000 - 130) << "victims that turn out needless are another end";
}

// Another one at the same time, which may come too late, has as much time.
TEST(TimePlan, GivesWhatIsBesideASingleStartAsMuchTime) {
  const TimePlan plan = make_time_plan(size_of(90'000, 10'000), kLearnt, {.ms = 400});
  ASSERT_EQ(plan.greedy.starts, 1);
  EXPECT_FALSE(plan.greedy.first_alone);
  EXPECT_EQ(plan.greedy.more_ms, plan.greedy.first_ms);
}

TEST(TimePlan, AllotsNoMoreThanTheBudget) {
  for (const double ms : {1.0, 50.0, 200.0, 1'000.0, 10'000.0, 100'000.0})
    for (const InstanceSize& size : {size_of(10, 2), size_of(9'000, 1'000), size_of(90'000, 10'000, 5'000, 4'000)})
      for (const bool has_milp : {false, true}) {
        const TimeBudget budget{.ms = ms, .has_milp = has_milp, .has_search = has_milp};
        const TimeAllotments all = allotments(make_time_plan(size, kLearnt, budget), budget);
        EXPECT_NEAR(sum_of(all), ms, 1e-9 * ms);
        for (const auto& [phase, share] : all) EXPECT_GE(share, 0) << phase << " of " << ms;
      }
}

TEST(TimePlan, NeverGivesTheEnginesLessOfALongerBudget) {
  for (const InstanceSize& size : {size_of(900, 100), size_of(9'000, 1'000), size_of(90'000, 10'000, 5'000)}) {
    double before = 0;
    for (double ms = 100; ms <= 100'000; ms *= 1.1) {
      const TimeAllotments all = allotments(make_time_plan(size, kLearnt, {.ms = ms}), {.ms = ms});
      const double engines = of(all, "greedy") + of(all, "search") + of(all, "milp");
      EXPECT_GE(engines, before) << ms;
      before = engines;
    }
  }
}

TEST(TimePlan, LeavesTheLastSearchWhatTheMilpEngineHasNoUseFor) {
  TimePlan plan = make_time_plan(size_of(9'000, 1'000), kLearnt, {.ms = 20'000});
  EXPECT_DOUBLE_EQ(plan.needs.all_gain, 10'000);
  EXPECT_NEAR(time_for_last_search(plan, 12'000), 2'000, 1e-6);
  EXPECT_NEAR(time_for_last_search(plan, 5'000), 500, 1e-6) << "at least a tenth";
  EXPECT_NEAR(time_for_last_search(plan, 50'000), 15'000, 1e-6) << "at most a part";
  EXPECT_EQ(time_for_last_search(plan, -5), 0);
}

TEST(TimePlan, CountsWorkWithoutAClock) {
  const TimeBudget budget{.ms = 3'600'000, .has_clock = false};
  const TimePlan small = make_time_plan(size_of(9, 1), {}, budget);
  EXPECT_EQ(small.milp_work, 200'000'000);
  EXPECT_EQ(small.search.most_trials, 200);
  EXPECT_EQ(small.search.settled_trials, 10);
  const TimePlan large = make_time_plan(size_of(90'000, 10'000), {}, budget);
  EXPECT_EQ(large.milp_work, 20'000'000'000);
  EXPECT_EQ(large.search.most_trials, 100'000);
  EXPECT_EQ(allotments(large, budget), (TimeAllotments{{"searchTrials", 100'000}, {"milpWork", 20'000'000'000}}));
}

// Where pods may be evicted and there is time for it, choosing gets the second thread; else greedy's second start does,
// for as long as the first.
TEST(TimePlan, ChoosesBesideGreedyWhereThereIsTimeForIt) {
  LearntTimes learnt = kLearnt;
  learnt.choice = 2'000;
  InstanceSize size = size_of(5'000, 1'000, 1'000, 3'000);
  EXPECT_FALSE(make_time_plan(size, learnt, {.ms = 2'000, .threads = 2}).chooses_beside_greedy) << "moves alone";
  size.kinds = 100;
  const auto plan_of = [&](TimeBudget budget) { return make_time_plan(size, learnt, budget); };
  const TimePlan chooses = plan_of({.ms = 2'000, .threads = 2}), starts = plan_of({.ms = 1'999, .threads = 2});
  EXPECT_TRUE(chooses.chooses_beside_greedy);
  EXPECT_LT(chooses.greedy.more_ms, chooses.greedy.first_ms / 2);
  EXPECT_FALSE(starts.chooses_beside_greedy);
  EXPECT_EQ(starts.greedy.more_ms, starts.greedy.first_ms);
  EXPECT_FALSE(plan_of({.ms = 2'000, .threads = 1}).chooses_beside_greedy);
  EXPECT_FALSE(plan_of({.ms = 2'000, .has_milp = false, .threads = 2}).chooses_beside_greedy);
  EXPECT_FALSE(plan_of({.ms = 3'600'000, .has_clock = false, .threads = 2}).chooses_beside_greedy);
  const TimePlan stays = make_time_plan(size_of(5'000, 1'000, 1'000), learnt, {.ms = 2'000, .threads = 2});
  EXPECT_FALSE(stays.chooses_beside_greedy);
}

}  // namespace
}  // namespace muster
