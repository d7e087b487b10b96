#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/greedy/gang_order.h"
#include "test/heuristics/greedy/greedy_case.h"
#include "test/support/unmet.h"

namespace muster::greedy {
namespace {

test::Cluster one_node(int gpus) { return test::Cluster().node("n", gpus); }

GreedyCase case_of(const test::Cluster& cluster) { return GreedyCase(test::Case(cluster)); }

// The names of the gangs of which a pod may be placed, in order; sections are separated by "|".
std::string sequence(const GreedyCase& cluster, const PlacingOrder& order, const std::vector<bool>& excluded) {
  const WaitingGangs& gangs = cluster.initial.waiting_gangs();
  GangSequence sequence(gangs, gang_sort_keys(cluster.state, gangs, order, excluded), excluded);
  std::string names;
  for (const GangSequence::Section& section : sequence.sections()) {
    names += names.empty() ? "" : " |";
    for (const GangEntry& entry : sequence.entries(section))
      names += (names.empty() ? "" : " ") + cluster.name_of(entry.gang);
  }
  return names;
}
std::string sequence(const GreedyCase& cluster, GangOrder order) {
  return sequence(cluster, {.gangs = order}, cluster.none_excluded);
}

TEST(GangSequence, FollowsPriorityThenSizeThenAge) {
  const GreedyCase cluster = case_of(one_node(8)
                                         .pod("small", 1, R"("created":100)")
                                         .pod("old", 2, R"("created":100)")
                                         .pod("young", 2, R"("created":900)")
                                         .pod("urgent", 1, R"("priority":5)"));
  EXPECT_EQ(sequence(cluster, GangOrder::kQueueByQueue), "urgent | old young small");
}

TEST(GangSequence, PutsTheLargestPodOrTheLargestGangFirst) {
  const GreedyCase cluster = case_of(one_node(8).gang("g").pods("g", 2, 2, R"("gang":"g")").pod("single", 3));
  EXPECT_EQ(sequence(cluster, GangOrder::kQueueByQueue), "g single");
  EXPECT_EQ(sequence(cluster, GangOrder::kBigFirst), "single g");
}

// The quota of q has room for 3 GPUs. Those that have their turn wait for ports, too, so nothing is kept for them.
TEST(GangSequence, PutsThoseFirstThatHaveTheirTurnAndThenTheMostSenior) {
  const auto strict = [](int created, int seconds) {
    return R"("queue":"q","priority":125,"created":)" + std::to_string(created) + R"(,"expectedDuration":)" +
           std::to_string(seconds);
  };
  const GreedyCase cluster = case_of(one_node(8)
                                         .queue("q", R"("gpu":{"quota":3})")
                                         .pod("single", 1, strict(900'000, 3600) + R"(,"hostPorts":[{"port":80}])")
                                         .pod("pair", 2, strict(990'000, 3600) + R"(,"hostPorts":[{"port":90}])")
                                         .pod("other-pair", 2, strict(990'000, 36'000))
                                         .pod("long", 1, strict(900'000, 360'000)));
  EXPECT_EQ(sequence(cluster, GangOrder::kInTurn), "pair single other-pair long");
}

TEST(GangSequence, PutsTheMostCpuPerGpuFirst) {
  const GreedyCase cluster(R"("nodes":[{"name":"n","resources":{"cpu":64},"gpus":{"count":8}}],"pods":[
      {"name":"lean","resources":{"cpu":2},"gpu":{"count":4}},
      {"name":"heavy","resources":{"cpu":8},"gpu":{"count":1}}])");
  EXPECT_EQ(sequence(cluster, GangOrder::kBigFirst), "lean heavy");
  EXPECT_EQ(sequence(cluster, GangOrder::kCpuFirst), "heavy lean");
}

TEST(GangSequence, PutsTheOldestThatFitInTotalBeforeLargerOnes) {
  const GreedyCase cluster = case_of(one_node(2)
                                         .pod("old", 1, R"("created":100)")
                                         .pod("older", 1, R"("created":50)")
                                         .pod("large", 2, R"("created":900)"));
  EXPECT_EQ(sequence(cluster, GangOrder::kBigFirst), "large older old");
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFirst), "older old large");
}

TEST(GangSequence, PassesOverAnOldGangThatTheRestOfTheSumHasNoRoomFor) {
  const GreedyCase cluster = case_of(one_node(4)
                                         .pod("oldest", 1, R"("created":50)")
                                         .pod("large", 4, R"("created":100)")
                                         .pod("recent", 2, R"("created":800)")
                                         .pod("later", 1, R"("created":900)"));
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFirst), "recent oldest later large");
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFilling), "recent oldest later large");
}

TEST(GangSequence, PutsTheLargestFirstIfTheOldestWouldNotFillTheDevices) {
  const GreedyCase cluster = case_of(one_node(4)
                                         .pod("old", 3, R"("created":50)")
                                         .pod("large", 4, R"("created":100)")
                                         .pod("recent", 2, R"("created":800)"));
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFirst), "old large recent");
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFilling), "large old recent");
}

TEST(GangSequence, PutsLightPodsNextToSharersIfTheOldestFillTheDevices) {
  const GreedyCase cluster(R"("nodes":[{"name":"n","resources":{"cpu":64},"gpus":{"count":4}}],"pods":[
      {"name":"heavy","created":100,"resources":{"cpu":16},"gpu":{"count":1}},
      {"name":"light","created":200,"resources":{"cpu":4},"gpu":{"count":1}},
      {"name":"two","created":300,"resources":{"cpu":16},"gpu":{"count":1}},
      {"name":"half","created":400,"resources":{"cpu":8},"gpu":{"fraction":0.5}},
      {"name":"other-half","created":500,"resources":{"cpu":8},"gpu":{"fraction":0.5}},
      {"name":"young","created":900,"resources":{"cpu":1},"gpu":{"count":1}}])");
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFilling), "half other-half light heavy two young");
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFirst), "half other-half heavy light two young");
}

TEST(GangSequence, LeavesOutSharersThatWouldNotFillADevice) {
  // Two of the older sharers fill a device; the youngest would have one to itself.
  const auto created = [](int time) { return R"("gpu":{"fraction":0.5},"created":)" + std::to_string(time); };
  const GreedyCase cluster = case_of(one_node(2)
                                         .pod("a", created(100))
                                         .pod("b", created(200))
                                         .pod("c", created(300))
                                         .pod("whole", 1, R"("created":400)"));
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFirst), "a b whole c");
  EXPECT_EQ(sequence(cluster, GangOrder::kOldestFilling), "a b whole c");
}

TEST(GangSequence, HasNoEntriesOfExcludedGangs) {
  const GreedyCase cluster = case_of(one_node(8).pod("a", 1).pod("b", 2));
  std::vector<bool> excluded = cluster.none_excluded;
  excluded[cluster.problem.gang("b").value()] = true;
  EXPECT_EQ(sequence(cluster, {}, excluded), "a");
}

TEST(GangSequence, KnowsWhichGangsMayHavePodsBeyondTheirMinimum) {
  const GreedyCase cluster = case_of(one_node(8)
                                         .gang("rigid")
                                         .gang("elastic", R"("minMember":1)")
                                         .pods("r", 2, 1, R"("gang":"rigid")")
                                         .pods("e", 2, 1, R"("gang":"elastic")"));
  const WaitingGangs& gangs = cluster.initial.waiting_gangs();
  const GangSequence sequence(gangs, gang_sort_keys(cluster.state, gangs, {}, cluster.none_excluded),
                              cluster.none_excluded);
  std::vector<std::string> names;
  sequence.for_each_elastic(sequence.sections().front(), [&](const GangEntry& entry) {
    names.push_back(cluster.name_of(entry.gang));
    return true;
  });
  EXPECT_EQ(names, std::vector<std::string>{"elastic"});
}

TEST(GangSequence, RequiresAKeyForEachGang) {
  const GreedyCase cluster = case_of(one_node(8).pod("a", 1));
  expect_unmet([&] { GangSequence(cluster.initial.waiting_gangs(), {}, cluster.none_excluded); }, "");
}

}  // namespace
}  // namespace muster::greedy
