#include "model/objective/levels.h"

#include <string>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "test/support/case.h"

namespace muster {
namespace {

using test::Case;

// Whether no level of the plan is better than its bound.
bool bounds_hold(const Case& c) {
  const std::vector<LevelId> ids = level_ids(*c);
  const std::vector<std::int64_t> values = evaluate(*c, c.shares(), c.plan()).values,
                                  bounds = trivial_bounds(*c, c.shares());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is_maximised(ids[i].kind) ? values[i] > bounds[i] : values[i] < bounds[i]) return false;
  }
  return true;
}

const std::string kEightGpus = R"("nodes":[{"name":"n","resources":{"cpu":10,"memory":1000},"gpus":{"count":8}}])";

std::string pods_of(std::string_view gang, int count, const std::string& rest) {
  std::string pods;
  for (int i = 0; i < count; ++i) {
    pods += (i == 0 ? "" : ",") + (R"({"name":")" + std::string(gang) + std::to_string(i) + R"(","gang":")" +
                                   std::string(gang) + R"(",)" + rest + "}");
  }
  return pods;
}

TEST(Levels, StandInTheContractsOrderOnePerPriorityWhereItSaysSo) {
  const Case c(R"("policy":{"wholeNodes":true},)" + kEightGpus +
               R"(,"pods":[{"name":"a","priority":50},{"name":"b","priority":200}])");
  const std::vector<LevelId> expected{
      {LevelKind::kShare, 200},     {LevelKind::kShare, 50},       {LevelKind::kQuota, 200},
      {LevelKind::kQuota, 50},      {LevelKind::kWork, 200},       {LevelKind::kWork, 50},
      {LevelKind::kEvicted, 0},     {LevelKind::kMoved, 0},        {LevelKind::kSeniority, 0},
      {LevelKind::kWholeNodes, 0},  {LevelKind::kWholeDomains, 0}, {LevelKind::kGangNodes, 0},
      {LevelKind::kGangDomains, 0}, {LevelKind::kGangModels, 0},   {LevelKind::kCpuOnGpuNodes, 0},
      {LevelKind::kPreference, 0},  {LevelKind::kFragmentation, 0}};
  EXPECT_EQ(level_ids(*c), expected);
}

TEST(Levels, CompareByTheFirstThatDiffersAndLessIsBetterOfWhatIsMinimised) {
  const std::vector<LevelId> ids{{LevelKind::kShare, 0}, {LevelKind::kEvicted, 0}};
  EXPECT_TRUE(compare({{2, 9}}, {{1, 0}}, ids) > 0);
  EXPECT_TRUE(compare({{2, 9}}, {{2, 0}}, ids) < 0);
  EXPECT_TRUE(compare({{2, 9}}, {{2, 9}}, ids) == 0);
}

TEST(WholenessLevels, CountNodesLeftWholeAndHowFarAGangIsSpread) {
  const std::string body =
      R"("policy":{"wholeNodes":true},"topology":["rack"],
      "nodes":[{"name":"a","resources":{"cpu":10},"gpus":{"count":2},"labels":{"rack":"1"}},
      {"name":"b","resources":{"cpu":10},"gpus":{"count":2},"labels":{"rack":"2"}},
      {"name":"c","resources":{"cpu":10},"labels":{"rack":"2"}}],"gangs":[{"name":"g"}],"pods":[)" +
      pods_of("g", 2, R"("gpu":{"count":1})") + R"(,{"name":"d","resources":{"cpu":1}}])";
  Case apart(body);
  apart.place("g0", "a", {0}).place("g1", "b", {0}).place("d", "a", {});
  EXPECT_EQ(apart.value(LevelKind::kWholeNodes), 0);
  EXPECT_EQ(apart.value(LevelKind::kGangNodes), 1);
  EXPECT_EQ(apart.value(LevelKind::kGangDomains), 1);
  EXPECT_EQ(apart.value(LevelKind::kCpuOnGpuNodes), 1);
  Case together(body);
  together.place("g0", "a", {0}).place("g1", "a", {1}).place("d", "c", {});
  EXPECT_EQ(together.value(LevelKind::kWholeNodes), 1);
  EXPECT_EQ(together.value(LevelKind::kWholeDomains), 1);
  EXPECT_EQ(together.value(LevelKind::kGangNodes), 0);
  EXPECT_EQ(together.value(LevelKind::kCpuOnGpuNodes), 0);
  EXPECT_TRUE(bounds_hold(together));
}

TEST(WholenessLevels, CountSlicesOfGpusAsGpusOfANode) {
  Case c(R"("policy":{"wholeNodes":true},"nodes":[{"name":"a","resources":{"cpu":8,"nvidia.com/mig-1g.10gb":7}},
      {"name":"b","resources":{"cpu":8}}],"pods":[{"name":"p","resources":{"cpu":1}}])");
  c.place("p", "a", {});
  EXPECT_EQ(c.value(LevelKind::kCpuOnGpuNodes), 1);
}

TEST(ShareLevel, UnitThatStraddlesTheShareDoesNotCount) {
  // Two queues of a quota of 4 each, both asking for more: shares of 4. Queue a places 3 + 2: the 3 fit, both do not.
  Case c(kEightGpus + R"(,"queues":[{"name":"a","gpu":{"quota":4}},{"name":"b","gpu":{"quota":4}}],"pods":[
      {"name":"a3","queue":"a","gpu":{"count":3}},{"name":"a2","queue":"a","gpu":{"count":2}},
      {"name":"b8","queue":"b","gpu":{"count":8}}])");
  c.place("a3", "n", {0, 1, 2}).place("a2", "n", {3, 4});
  EXPECT_EQ(c.value(LevelKind::kShare), 3000);
  EXPECT_EQ(c.value(LevelKind::kQuota), 4000);
  EXPECT_EQ(c.value(LevelKind::kWork), 5000);
  EXPECT_TRUE(bounds_hold(c));
  EXPECT_EQ(c.bound(LevelKind::kShare), 3000);  // a: 3 of 3 and 2; b: nothing of 8
}

TEST(ShareLevel, ElasticPodsAreUnitsOfTheirOwn) {
  Case c(kEightGpus +
         R"(,"queues":[{"name":"a","gpu":{"quota":4,"limit":4}}],"gangs":[{"name":"g",
      "queue":"a","minMember":2}],"pods":[)" +
         pods_of("g", 3, R"("gpu":{"count":2})") + "]");
  c.place("g0", "n", {0, 1}).place("g1", "n", {2, 3}).place("g2", "n", {4, 5});
  EXPECT_EQ(c.value(LevelKind::kShare), 4000);
  EXPECT_EQ(c.bound(LevelKind::kShare), 4000);
}

TEST(ShareLevel, GangBelowItsMinimumHasNoUnitsButItsPodsCountAsWork) {
  Case c(kEightGpus +
         R"(,"gangs":[{"name":"g","minMember":2}],"pods":[{"name":"g0","gang":"g","gpu":{"count":2},"node":"n"},
      {"name":"g1","gang":"g","gpu":{"count":2}}])");
  EXPECT_EQ(c.value(LevelKind::kShare), 0);
  EXPECT_EQ(c.value(LevelKind::kQuota), 2000);
  EXPECT_EQ(c.value(LevelKind::kWork), 2000);
}

TEST(ShareLevel, CountsEachPriorityWithAllThatIsHigher) {
  Case c(kEightGpus +
         R"(,"pods":[{"name":"low","priority":1,"gpu":{"count":3}},{"name":"high","priority":2,"gpu":{"count":1}}])");
  c.place("low", "n", {0, 1, 2}).place("high", "n", {3});
  EXPECT_EQ(c.value(LevelKind::kShare, 2), 1000);
  EXPECT_EQ(c.value(LevelKind::kShare, 1), 4000);
  EXPECT_EQ(c.value(LevelKind::kQuota, 2), 1000);
  EXPECT_EQ(c.value(LevelKind::kQuota, 1), 4000);
  EXPECT_EQ(c.value(LevelKind::kWork, 2), 1000);
  EXPECT_EQ(c.value(LevelKind::kWork, 1), 4000);
}

TEST(ShareLevel, InnerQueueCountsNoMoreThanItsOwnShare) {
  // The parent's limit of 4 is its share; its children's quotas add up to 6.
  Case c(kEightGpus +
         R"(,"queues":[{"name":"r","gpu":{"quota":4,"limit":4}},{"name":"a","parent":"r","gpu":{"quota":3}},
      {"name":"b","parent":"r","gpu":{"quota":3}}],
      "pods":[{"name":"a3","queue":"a","gpu":{"count":3}},{"name":"b3","queue":"b","gpu":{"count":3}}])");
  c.place("a3", "n", {0, 1, 2}).place("b3", "n", {3, 4, 5});
  EXPECT_EQ(c.value(LevelKind::kShare), 4000);
  EXPECT_EQ(c.value(LevelKind::kQuota), 4000);
  EXPECT_EQ(c.value(LevelKind::kWork), 6000);
}

TEST(ShareLevel, WorkOfPodsWithoutGpusIsCountedApart) {
  // Half the cores are half of 8 GPUs; the GPU share of the queue bounds only what asks for GPUs.
  Case c(
      kEightGpus +
      R"(,"queues":[{"name":"a","gpu":{"quota":1,"limit":1}}],"pods":[{"name":"cpu","queue":"a","resources":{"cpu":5}},
      {"name":"gpu","queue":"a","gpu":{"count":2}}])");
  c.place("cpu", "n").place("gpu", "n", {0, 1});
  EXPECT_EQ(c.value(LevelKind::kShare), 4000);
  EXPECT_EQ(c.value(LevelKind::kQuota), 5000);
}

TEST(WorkLevel, OnlyTheLevelsAfterQuotaTakeTheWeight) {
  Case c(kEightGpus + R"(,"pods":[{"name":"p","weight":1.5,"gpu":{"count":1}}])");
  c.place("p", "n", {0});
  EXPECT_EQ(c.value(LevelKind::kShare), 1000);
  EXPECT_EQ(c.value(LevelKind::kQuota), 1000);
  EXPECT_EQ(c.value(LevelKind::kWork), 1500);
}

TEST(EvictedLevel, IsWorkTimesSecondsRunAndLeavesOutWhatIsMovedOrStale) {
  Case c(kEightGpus +
         R"(,"pods":[{"name":"gone","gpu":{"count":2},"node":"n","started":999900},
      {"name":"fresh","gpu":{"count":1},"node":"n","started":1000000},
      {"name":"moved","gpu":{"count":1},"node":"n","gpus":[4]},{"name":"stale","gpu":{"count":1},"node":"n"}])");
  c.evict("gone")
      .evict("fresh")
      .evict("moved", EvictionReason::kConsolidate)
      .evict("stale", EvictionReason::kStale)
      .place("moved", "n", {5});
  EXPECT_EQ(c.value(LevelKind::kEvicted), 2000 * 100 + 1000 * 1);
  EXPECT_EQ(c.value(LevelKind::kMoved), 1000);
  EXPECT_EQ(c.value(LevelKind::kWork), 1000);
  EXPECT_EQ(c.value(LevelKind::kSeniority), 0);
}

TEST(SeniorityLevel, IsWorkTimesSecondsWaitedOfWhatIsNewlyPlaced) {
  Case c(kEightGpus +
         R"(,"pods":[{"name":"old","gpu":{"count":2},"created":999000},{"name":"new",
      "gpu":{"count":1},"created":999999}])");
  EXPECT_EQ(c.bound(LevelKind::kSeniority), 2'001'000);
  c.place("old", "n", {0, 1});
  EXPECT_EQ(c.value(LevelKind::kSeniority), 2'000'000);
}

TEST(PreferenceLevel, AddsNominationAndTermsAndSubtractsSoftTaints) {
  Case c(
      R"("nodes":[{"name":"a","labels":{"x":"1"},"gpus":{"count":2}},{"name":"b","gpus":{"count":2},
      "taints":[{"key":"t","effect":"PreferNoSchedule"}]}],"pods":[
      {"name":"p","gpu":{"count":1},"nominatedNode":"a","nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
        {"weight":25,"preference":{"matchExpressions":[{"key":"x","operator":"Exists"}]}}]}},
      {"name":"q","gpu":{"count":1}}])");
  EXPECT_EQ(c.bound(LevelKind::kPreference), 125'000);
  c.place("p", "a", {0});
  EXPECT_EQ(c.value(LevelKind::kPreference), 125'000);  // 1000 x (1 + 0.25), in hundredths
  c.place("q", "b", {0});
  EXPECT_EQ(c.value(LevelKind::kPreference), 25'000);
  EXPECT_TRUE(bounds_hold(c));
}

TEST(PreferenceLevel, CountsGangsAndSubgroupsThatLieInOneDomainOfTheirLevel) {
  const std::string body =
      R"("topology":["rack"],"nodes":[{"name":"a","labels":{"rack":"1"},"gpus":{"count":8}},
      {"name":"b","labels":{"rack":"2"},"gpus":{"count":8}}],
      "gangs":[{"name":"g","topology":{"preferred":"rack"},"subgroups":[{"name":"x","topology":{"preferred":"rack"}},
      {"name":"y","topology":{"preferred":"rack"}}]}],"pods":[
      {"name":"x0","gang":"g","subgroup":"x","gpu":{"count":1}},{"name":"x1","gang":"g",
      "subgroup":"x","gpu":{"count":1}},
      {"name":"y0","gang":"g","subgroup":"y","gpu":{"count":1}}])";
  EXPECT_EQ(Case(body).place("x0", "a", {0}).place("x1", "a", {1}).place("y0", "a", {2}).value(LevelKind::kPreference),
            600'000);
  EXPECT_EQ(Case(body).place("x0", "a", {0}).place("x1", "a", {1}).place("y0", "b", {2}).value(LevelKind::kPreference),
            300'000);
  EXPECT_EQ(Case(body).place("x0", "a", {0}).place("x1", "b", {1}).place("y0", "b", {2}).value(LevelKind::kPreference),
            100'000);
  EXPECT_EQ(Case(body).bound(LevelKind::kPreference), 600'000);
}

TEST(PreferenceLevel, PodsThatRunDecideWhetherAGangIsTogetherButAreNotCounted) {
  const auto value = [](const std::string& node) {
    Case c(
        R"("topology":["rack"],"nodes":[{"name":"a","labels":{"rack":"1"},"gpus":{"count":8}},
      {"name":"b","labels":{"rack":"2"},"gpus":{"count":8}}],
        "gangs":[{"name":"g","minMember":1,"topology":{"preferred":"rack"}}],"pods":[{"name":"r",
      "gang":"g","gpu":{"count":4},"node":"a"},{"name":"p","gang":"g","gpu":{"count":1}}])");
    return c.place("p", node, {4}).value(LevelKind::kPreference);
  };
  EXPECT_EQ(value("a"), 100'000);
  EXPECT_EQ(value("b"), 0);
}

TEST(FragmentationLevel, IsWhatTheExpectedWorkloadCannotUse) {
  // Free: 1 whole device, 0.5, 0.25 and none. A class of 0.3 of a device cannot use 0.25; one whole cannot use 0.75;
  // two whole cannot use anything, nor can one without GPU.
  const auto value = [](const std::string& expected) {
    Case c(
        R"("nodes":[{"name":"n","resources":{"cpu":10},"gpus":{"count":4}}],"policy":{"expectedWorkload":[{"weight":1,
      "pod":)" +
        expected + R"(}]},"pods":[
        {"name":"a","node":"n","gpu":{"count":1},"gpus":[3]},{"name":"b","node":"n","gpu":{"fraction":0.5},"gpus":[1]},
        {"name":"c","node":"n","gpu":{"fraction":0.75},"gpus":[2],"resources":{"cpu":4}}])");
    return c.value(LevelKind::kFragmentation);
  };
  EXPECT_EQ(value(R"({"gpu":{"fraction":0.3}})"), 250 * 1'000'000);
  EXPECT_EQ(value(R"({"gpu":{"count":1}})"), 750 * 1'000'000);
  EXPECT_EQ(value(R"({"gpu":{"count":2}})"), 1750 * 1'000'000);
  EXPECT_EQ(value(R"({"resources":{"cpu":1}})"), 1750 * 1'000'000);
  EXPECT_EQ(value(R"({"gpu":{"fraction":0.3},"resources":{"cpu":7}})"), 1750 * 1'000'000);
  EXPECT_EQ(value(R"({"gpu":{"fraction":0.3},"nodeSelector":{"x":"y"}})"), 1750 * 1'000'000);
}

TEST(FragmentationLevel, WeighsClassesAndLooksAtTheEndOfThePlan) {
  Case c(
      R"("nodes":[{"name":"n","gpus":{"count":2}},{"name":"cpu"}],"policy":{"expectedWorkload":[{"weight":0.25,
      "pod":{"gpu":{"count":2}}},{"weight":0.5,"pod":{"gpu":{"count":1}}}]},
      "pods":[{"name":"leaving","node":"n","gpu":{"count":1},"gpus":[0],"status":"releasing"},
      {"name":"evicted","node":"n","gpu":{"count":1},"gpus":[1]},
              {"name":"half","gpu":{"fraction":0.5}}])");
  c.evict("evicted").place("half", "n", {1});
  // Idle in the end: 1000 and 500. The class of two can use none of it, the class of one all but the half.
  EXPECT_EQ(c.value(LevelKind::kFragmentation), 1500 * 250'000 + 500 * 500'000);
}

TEST(SpreadLevel, IsTheSumOfSquaresOfWhatIsInUse) {
  Case c(
      R"("policy":{"placement":"spread"},"nodes":[{"name":"a","gpus":{"count":2}},
      {"name":"b","gpus":{"count":2}}],"pods":[{"name":"p","node":"a","gpu":{"count":1}},
      {"name":"q","gpu":{"fraction":0.5}}])");
  EXPECT_EQ(c.value(LevelKind::kFragmentation), 1'000'000);
  c.place("q", "b", {0});
  EXPECT_EQ(c.value(LevelKind::kFragmentation), 1'250'000);
  Case cores(
      R"("policy":{"placement":"spread"},"nodes":[{"name":"a","resources":{"cpu":4}},
      {"name":"b","resources":{"cpu":4}}],"pods":[{"name":"p","node":"a","resources":{"cpu":1}}])");
  EXPECT_EQ(cores.value(LevelKind::kFragmentation), 1'000'000);
  EXPECT_EQ(level_scale(LevelKind::kFragmentation, PlacementPolicy::kSpread), 1);
}

TEST(TrivialBounds, LeaveOutWhatNoPlanCanPlace) {
  const Case c(kEightGpus + R"(,"queues":[{"name":"q"}],"gangs":[{"name":"short","queue":"q","minMember":3}],"pods":[
      {"name":"late","queue":"q","created":999000,"timeout":10,"gpu":{"count":1}},
      {"name":"nowhere","queue":"q","nodeSelector":{"x":"y"},"gpu":{"count":1}},
      {"name":"homeless","queue":"x","gpu":{"count":1}},{"name":"gated","queue":"q",
      "status":"gated","gpu":{"count":1}},)" +
               pods_of("short", 2, R"("gpu":{"count":1})") + R"(,{"name":"fine","queue":"q","gpu":{"count":1}}])");
  EXPECT_EQ(c.bound(LevelKind::kWork), 1000);
  EXPECT_EQ(c.bound(LevelKind::kShare), 1000);
}

TEST(TrivialBounds, GangOfUnlikePodsIsBoundedByItsPods) {
  // Whatever the plan places, a unit is a union of pods: of 3, 3 and 1 within a share of 5 no more than 4.
  Case c(
      kEightGpus +
      R"(,"queues":[{"name":"a","gpu":{"quota":5,"limit":5}}],"gangs":[{"name":"g","queue":"a","minMember":1}],"pods":[
      {"name":"x","gang":"g","gpu":{"count":3}},{"name":"y","gang":"g","gpu":{"count":3}},
      {"name":"z","gang":"g","gpu":{"count":1}}])");
  EXPECT_EQ(c.bound(LevelKind::kShare), 4000);
  EXPECT_EQ(c.place("x", "n", {0, 1, 2}).value(LevelKind::kShare), 3000);
}

TEST(TrivialBounds, TheClusterHoldsTheOldestAndWhatWeighsMost) {
  const std::string pods =
      R"(,"pods":[{"name":"old","created":999000,"gpu":{"count":6}},{"name":"heavy","weight":2,"created":999500,
      "gpu":{"count":4}},{"name":"new","created":999900,"gpu":{"count":8}}])";
  const Case c(kEightGpus + pods);
  EXPECT_EQ(c.bound(LevelKind::kWork), 2 * 4'000 + 4'000);
  // A second waited of heavy's pods counts twice: as old as the oldest. Of 8 GPUs none is left for the youngest.
  EXPECT_EQ(c.bound(LevelKind::kSeniority), 8'000 * 1'000);
}

TEST(TrivialBounds, PodsThatCannotLeaveTakeTheCapacityOfTheOldest) {
  const std::string pods =
      R"("pods":[{"name":"here","gpu":{"count":5},"node":"n","gpus":[0,1,2,3,4]},
      {"name":"old","created":999000,"gpu":{"count":4}}])";
  const Case staying(kEightGpus + R"(,"policy":{"actions":["place"]},)" + pods), leaving(kEightGpus + "," + pods);
  EXPECT_EQ(staying.bound(LevelKind::kSeniority), 3'000 * 1'000);
  EXPECT_EQ(leaving.bound(LevelKind::kSeniority), 4'000 * 1'000);
}

}  // namespace
}  // namespace muster
