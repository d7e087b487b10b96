#include "solver/answers/plan_pair.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "solver/answers/plan_mix.h"
#include "test/solver/random_cluster.h"
#include "test/support/case.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::answers {
namespace {

PlanPair pair_of(const Snapshot& before, const Snapshot& after, bool only_adds_room,
                 portfolio::Engine engine = portfolio::Engine::kAuto) {
  static portfolio::Portfolio portfolio(test::program());
  ExperimentOptions options;
  options.solve.deterministic = true;
  options.solve.engine = engine;
  Result<PlanPair> pair = solve_pair(before, after, only_adds_room, portfolio, options);
  if (!pair) throw std::runtime_error(pair.error().message);
  return *std::move(pair);
}

std::set<std::string> admitted_by(const Run& run) {
  std::set<std::string> names;
  for (const GangIndex gang : run.problem.gangs.indices())
    if (run.admits(gang)) names.emplace(run.problem.gangs[gang].name);
  return names;
}

std::set<std::string> without(const std::set<std::string>& all, const std::set<std::string>& some) {
  std::set<std::string> rest;
  std::ranges::set_difference(all, some, std::inserter(rest, rest.begin()));
  return rest;
}

// Gangs that do otherwise in the second plan, on the second cluster.
std::size_t differences(const PlanPair& pair) {
  const Run &before = *pair.before.run, &after = *pair.after.run;
  const FairShares shares = compute_fair_shares(after.problem);
  const Plan first = translated(before.problem, before.solution.plan, after.problem);
  return PlanMix(after.problem, shares, first, after.solution.plan).all().size();
}

// The report is that of the plan.
void expect_sound(const Run& run) {
  const FairShares shares = compute_fair_shares(run.problem);
  EXPECT_TRUE(referee::check_plan(*run.snapshot, run.problem, shares, run.solution.plan).empty());
  const Levels levels = evaluate(run.problem, shares, run.solution.plan);
  for (std::size_t i = 0; i < levels.values.size(); ++i)
    EXPECT_EQ(run.solution.report.objective[i].value, levels.values[i]) << i;
}

Snapshot read(const test::Cluster& cluster) { return test::Case::read(cluster.line()); }

TEST(PlanPair, TheSameClusterHasTheSamePlan) {
  for (const portfolio::Engine engine : {portfolio::Engine::kGreedy, portfolio::Engine::kAuto}) {
    const bool is_greedy = engine == portfolio::Engine::kGreedy;
    for (std::uint32_t seed = 1; seed <= (is_greedy ? 200U : 20U); ++seed) {
      SCOPED_TRACE(seed);
      const test::Case cluster = test::any_cluster(seed);
      const PlanPair pair = pair_of(cluster.snapshot(), cluster.snapshot(), false, engine);
      EXPECT_EQ(differences(pair), 0U);
      expect_sound(*pair.before.run);
      expect_sound(*pair.after.run);
    }
  }
}

TEST(PlanPair, NobodyLosesRoomWhereOnlyRoomIsAdded) {
  int more = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const test::Case cluster = test::any_cluster(seed);
    Snapshot larger(cluster.snapshot());
    const change::Change change = change::AddNodes{std::string(larger.nodes.front().name), 1};
    ASSERT_TRUE(only_adds_room(change));
    ASSERT_FALSE(change::apply(change, larger));
    const PlanPair pair = pair_of(cluster.snapshot(), larger, true, portfolio::Engine::kGreedy);
    const std::set<std::string> before = admitted_by(*pair.before.run), after = admitted_by(*pair.after.run);
    EXPECT_TRUE(without(before, after).empty());
    more += without(after, before).empty() ? 0 : 1;
    expect_sound(*pair.before.run);
    expect_sound(*pair.after.run);
  }
  EXPECT_GT(more, 30);
}

// `small` and `large` do not fit together, even with the second node.
test::Cluster small_or_large(bool is_cordoned) {
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4, is_cordoned ? R"("unschedulable":true)" : "");
  cluster.queue("q").gang("small", R"("queue":"q","minMember":1)").gang("large", R"("queue":"q","minMember":2)");
  cluster.pods("small", 1, 4, R"("gang":"small")").pods("large", 2, 4, R"("gang":"large")");
  return cluster;
}

TEST(PlanPair, WhatTheBestPlanExchangesIsToldApart) {
  const PlanPair pair = pair_of(read(small_or_large(true)), read(small_or_large(false)), true);
  EXPECT_EQ(admitted_by(*pair.after.run), std::set<std::string>{"small"});
  EXPECT_EQ(pair.trade.more, std::vector<std::string>{"large"});
  EXPECT_EQ(pair.trade.fewer, std::vector<std::string>{"small"});
  EXPECT_NE(pair.after.run->solution.proof, Proof::kOptimal);
}

TEST(PlanPair, AnyOtherChangeMayTakeRoom) {
  const PlanPair pair = pair_of(read(small_or_large(true)), read(small_or_large(false)), false);
  EXPECT_EQ(admitted_by(*pair.after.run), std::set<std::string>{"large"});
  EXPECT_TRUE(pair.trade.fewer.empty());
  EXPECT_EQ(pair.after.run->solution.proof, Proof::kOptimal);
}

TEST(PlanPair, TheReverseChangeTakesBackWhatItGave) {
  const PlanPair pair = pair_of(read(small_or_large(false)), read(small_or_large(true)), false);
  EXPECT_EQ(admitted_by(*pair.before.run), std::set<std::string>{"large"});
  EXPECT_EQ(admitted_by(*pair.after.run), std::set<std::string>{"small"});
}

// Of two orders of greedy; their mixtures are plans that the referee passes, as far as there are any.
TEST(PlanMix, EachGangDoesAsOneOfBothPlansSays) {
  int mixed = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const test::Case cluster = test::any_cluster(seed);
    greedy::GreedyOptions options;
    const Plan first = greedy::solve_greedy(cluster.problem(), cluster.shares(), options).plan;
    options.starts = 1;
    const Plan second = greedy::solve_greedy(cluster.problem(), cluster.shares(), options).plan;
    const PlanMix mix(cluster.problem(), cluster.shares(), first, second);
    const auto none = mix.with({}), all = mix.with(mix.all());
    ASSERT_TRUE(none && all);
    EXPECT_EQ(none->levels, evaluate(cluster.problem(), cluster.shares(), first));
    EXPECT_EQ(all->levels, evaluate(cluster.problem(), cluster.shares(), second));
    for (const GangIndex gang : mix.all()) {
      const auto some = mix.with({gang});
      if (!some) continue;
      EXPECT_TRUE(cluster.check(some->plan).empty());
      mixed += mix.all().size() > 1 ? 1 : 0;
    }
    const GangSet least = mix.with_what_is_in_the_way(mix.of_other_presence(), {});
    EXPECT_TRUE(mix.with(least));
  }
  EXPECT_GT(mixed, 10);
}

TEST(PlanMix, PlansAreTranslatedByNames) {
  test::Cluster both, one;
  both.node("a", 4).node("b", 4).queue("q").pod("x", 2, R"("queue":"q")").pod("y", 2, R"("queue":"q")");
  one.node("b", 4).queue("q").pod("y", 2, R"("queue":"q")").pod("x", 2, R"("queue":"q")");
  const test::Case from(both), to(one);
  Plan plan;
  plan.placements = {{PodIndex(0), NodeIndex(0), {0, 1}, {}}, {PodIndex(1), NodeIndex(1), {2, 3}, {}}};
  const Plan translated_plan = translated(from.problem(), plan, to.problem());
  ASSERT_EQ(translated_plan.placements.size(), 1U);
  EXPECT_EQ(translated_plan.placements[0].pod, PodIndex(0));
  EXPECT_EQ(translated_plan.placements[0].node, NodeIndex(0));
  EXPECT_EQ(translated_plan.placements[0].devices, (DeviceList{2, 3}));
}

}  // namespace
}  // namespace muster::answers
