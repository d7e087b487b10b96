#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "test/heuristics/greedy/greedy_case.h"

namespace muster::greedy {
namespace {

constexpr const char* kNode = R"("nodes":[{"name":"n","gpus":{"count":4}}],)";

std::string pods(const std::string& more = "") {
  return R"("pods":[{"name":"a","gpu":{"count":1}},{"name":"b","gpu":{"count":2}})" + more + "]";
}

std::vector<PlacingOrder> orders(const std::string& body, const GreedyOptions& options) {
  const test::Case problem(body);
  const StartContext context(*problem, problem.shares(), 1);
  return distinct_orders(context, options);
}

GreedyOptions with_starts(std::int32_t starts) {
  GreedyOptions options;
  options.starts = starts;
  return options;
}

TEST(StartOrders, BeginWithThePolicysOwnOrderIfQueuesCompete) {
  const auto found = orders(std::string(R"("queues":[{"name":"q"},{"name":"r"}],)") + kNode +
                                R"("pods":[{"name":"a","queue":"q"},{"name":"b","queue":"r"}])",
                            with_starts(3));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front().gangs, GangOrder::kQueueByQueue);
}

TEST(StartOrders, BeginWithTheOneThatPacksBestIfThereIsOneQueueAndNoVictim) {
  EXPECT_EQ(orders(kNode + pods(), {}).front().gangs, GangOrder::kBigFirst);
}

TEST(StartOrders, MakeRoomAtTheEndFirstIfThereAreVictims) {
  const std::string running = R"(,{"name":"r","gpu":{"count":1},"node":"n"})";
  EXPECT_EQ(orders(kNode + pods(running), {}).front().claims, ClaimTime::kAtEnd);
}

TEST(StartOrders, HaveTurnsIfDurationsAreKnown) {
  const std::string known = std::string(R"("policy":{"expectedDurations":[]},)") + kNode;
  EXPECT_EQ(orders(known + pods(), {}).front().gangs, GangOrder::kInTurn);
  const auto evicting = orders(known + pods(R"(,{"name":"r","gpu":{"count":1},"node":"n"})"), {});
  EXPECT_EQ(evicting.front().claims, ClaimTime::kAtEnd);
  EXPECT_EQ(evicting.at(1).gangs, GangOrder::kInTurn);
  const std::string waited = std::string(R"("policy":{"expectedDurations":[],"overTime":{"order":"waited"}},)") + kNode;
  for (const PlacingOrder& order : orders(waited + pods(), {})) EXPECT_NE(order.gangs, GangOrder::kInTurn);
}

TEST(StartOrders, AreAllThereAreUnlessFewerAreAskedFor) {
  const std::size_t all = orders(kNode + pods(), {}).size();
  EXPECT_GT(all, 2U);
  EXPECT_EQ(orders(kNode + pods(), with_starts(100)).size(), all);
  EXPECT_EQ(orders(kNode + pods(), with_starts(2)).size(), 2U);
}

TEST(StartOrders, AreOneForEachOrderOfPodsAndNodesIfTheOrderOfGangsDoesNotMatter) {
  const auto found = orders(std::string(kNode) + R"("pods":[{"name":"a","gpu":{"count":1}}])", {});
  EXPECT_LT(found.size(), orders(kNode + pods(), {}).size());
  EXPECT_GE(found.size(), 1U);
}

TEST(StartOrders, HaveTheOldestThatFillTheDevicesBesideASingleOneIfSumsTellWhatFits) {
  const auto single = [](const std::string& body) {
    std::vector<GangOrder> gangs;
    for (const PlacingOrder& order : orders(body, with_starts(1))) gangs.push_back(order.gangs);
    return gangs;
  };
  const std::vector<GangOrder> packing{GangOrder::kBigFirst};
  EXPECT_EQ(single(kNode + pods()), (std::vector<GangOrder>{GangOrder::kBigFirst, GangOrder::kOldestFilling}));
  EXPECT_EQ(single(kNode + pods(R"(,{"name":"c","gpu":{"count":3}})")), packing);
  EXPECT_EQ(single(kNode + pods(R"(,{"name":"r","gpu":{"count":1},"node":"n","preemptible":false})")), packing);
}

TEST(StartOrders, SpreadIfThePolicyDoes) {
  const std::string policy = R"("policy":{"placement":"spread"},)";
  for (const PlacingOrder& order : orders(policy + kNode + pods(), {}))
    EXPECT_EQ(order.nodes, placement::NodeRule::kSpread);
}

}  // namespace
}  // namespace muster::greedy
