#include "heuristics/policies/online_placing.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "test/support/plan.h"

namespace muster::policies {
namespace {

using test::Outcome;

Outcome solved(OnlinePolicyKind policy, const std::string& body) {
  test::Case cluster(body);
  Plan plan = solve_one_by_one(*cluster, {policy, {}, {}});
  return {std::move(cluster), std::move(plan)};
}

constexpr const char* kTwoNodes =
    R"("nodes":[{"name":"a","resources":{"cpu":16},"gpus":{"count":4}},
       {"name":"b","resources":{"cpu":16},"gpus":{"count":4}}],)";

TEST(OneByOne, MostAllocatedFillsWhereLeastAllocatedSpreads) {
  const std::string body = std::string(kTwoNodes) + R"("pods":[{"name":"r","resources":{"cpu":4},"node":"b"},
     {"name":"p","resources":{"cpu":2}}])";
  EXPECT_EQ(solved(OnlinePolicyKind::kMostAllocated, body).node("p"), "b");
  EXPECT_EQ(solved(OnlinePolicyKind::kLeastAllocated, body).node("p"), "a");
}

TEST(OneByOne, BestFitAndDotProductFillWhatIsBegun) {
  const std::string body =
      std::string(kTwoNodes) + R"("pods":[{"name":"r","resources":{"cpu":8},"gpu":{"count":2},"node":"b"},
     {"name":"p","resources":{"cpu":8},"gpu":{"count":2}}])";
  EXPECT_EQ(solved(OnlinePolicyKind::kBestFit, body).node("p"), "b");
  EXPECT_EQ(solved(OnlinePolicyKind::kDotProduct, body).node("p"), "b");
}

TEST(OneByOne, FgdFillsTheGapThatNoOtherPodCanUse) {
  // With 0.5 free on b nothing of the workload fits except the half itself.
  const std::string body = std::string(kTwoNodes) +
                           R"("pods":[{"name":"r","resources":{"cpu":1},"gpu":{"fraction":0.5},"node":"b","gpus":[2]},
     {"name":"half","resources":{"cpu":1},"gpu":{"fraction":0.5}},{"name":"w0","resources":{"cpu":1},"gpu":{"count":1}},
     {"name":"w1","resources":{"cpu":1},"gpu":{"count":1}},{"name":"w2","resources":{"cpu":1},"gpu":{"count":1}}])";
  EXPECT_EQ(solved(OnlinePolicyKind::kFgd, body).node("half"), "b");
}

TEST(OneByOne, TakesTheHighestPriorityThenTheOldestFirst) {
  const std::string body = R"("nodes":[{"name":"n","gpus":{"count":2}}],"pods":[
     {"name":"young","created":999000,"gpu":{"count":1}},{"name":"old","created":900000,"gpu":{"count":1}},
     {"name":"high","created":999999,"priority":9,"gpu":{"count":1}}])";
  for (const OnlinePolicyKind policy : online_policies()) {
    const Outcome outcome = solved(policy, body);
    EXPECT_EQ(outcome.node("high") + outcome.node("old") + outcome.node("young"), "nn") << online_policy_name(policy);
  }
}

TEST(OneByOne, TakesTheOrderThatItIsGiven) {
  const test::Case problem(R"("nodes":[{"name":"n","gpus":{"count":1}}],"pods":[
     {"name":"first","created":900000,"gpu":{"count":1}},{"name":"second","created":999000,"gpu":{"count":1}}])");
  const PodIndex second = problem.pod("second");
  const Plan plan = solve_one_by_one(
      *problem,
      {OnlinePolicyKind::kBestFit, {problem->pods[second].gang, problem->pods[problem.pod("first")].gang}, {}});
  ASSERT_EQ(plan.placements.size(), 1U);
  EXPECT_EQ(plan.placements[0].pod, second);
}

TEST(OneByOne, PlacesAGangWholeOrNotAtAll) {
  const std::string body = R"("nodes":[{"name":"n","gpus":{"count":3}}],"gangs":[{"name":"g","minMember":4}],"pods":[
     {"name":"g0","gang":"g","gpu":{"count":1}},{"name":"g1","gang":"g","gpu":{"count":1}},
     {"name":"g2","gang":"g","gpu":{"count":1}},{"name":"g3","gang":"g","gpu":{"count":1}},
     {"name":"alone","gpu":{"count":1}}])";
  const Outcome outcome = solved(OnlinePolicyKind::kMostAllocated, body);
  EXPECT_EQ(outcome.plan().placements.size(), 1U);
  EXPECT_EQ(outcome.node("alone"), "n");
}

TEST(OneByOne, LeavesWhatRunsWhereItIs) {
  const std::string body = R"("nodes":[{"name":"n","gpus":{"count":1}}],"pods":[
     {"name":"low","priority":1,"gpu":{"count":1},"node":"n"},{"name":"high","priority":9,"gpu":{"count":1}}])";
  const Outcome outcome = solved(OnlinePolicyKind::kFgd, body);
  EXPECT_EQ(outcome.plan().placements.size() + outcome.plan().evictions.size(), 0U);
}

generator::GeneratorOptions random_options(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto part = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  generator::GeneratorOptions options = *generator::generator_preset("full");
  options.seed = seed;
  options.cluster.nodes = static_cast<std::int32_t>(6 + random() % 8);
  options.cluster.gpus_per_node = static_cast<std::int32_t>(1 + random() % 8);
  options.cluster.zones = 2;
  options.cluster.racks_per_zone = 3;
  options.gangs.largest = static_cast<std::int32_t>(1 + random() % 10);
  options.queues.limit = random() % 2 == 0 ? 0 : 1 + part();
  options.running.occupied = part();
  options.running.releasing = 0.3 * part();
  options.gangs.elastic = part();
  options.gangs.subgroups = part();
  options.gangs.one_a_node = random() % 2 == 0 ? 0 : part();
  options.load = 0.5 + part();
  return options;
}

TEST(OneByOneOnRandomSnapshots, TheRefereePassesEveryPlanAndItIsTheSameAgain) {
  std::size_t placed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Snapshot snapshot = test::Case::read(generator::generate_snapshot(random_options(seed)));
    for (SnapshotGang& gang : snapshot.gangs) {  // some that run are below their minimum now, and have to go
      if (gang.min_member && (seed + gang.name.size()) % 5 == 0) ++*gang.min_member;
      if (seed % 4 == 0) gang.stale_since = snapshot.time - 1000 * kNanosecondsPerSecond;
    }
    const test::Case problem(std::move(snapshot));
    for (const OnlinePolicyKind policy : online_policies()) {
      const Plan plan = solve_one_by_one(*problem, {policy, {}, {}});
      EXPECT_EQ(test::text_of(problem.check(plan)), "") << "seed " << seed << ' ' << online_policy_name(policy);
      const Plan again = solve_one_by_one(*problem, {policy, {}, {}});
      EXPECT_EQ(plan.placements.size(), again.placements.size());
      EXPECT_TRUE(std::ranges::equal(plan.placements, again.placements, [](const Placement& a, const Placement& b) {
        return a.pod == b.pod && a.node == b.node;
      }));
      placed += plan.placements.size();
    }
  }
  EXPECT_GT(placed, 1000U);
}

}  // namespace
}  // namespace muster::policies
