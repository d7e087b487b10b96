#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "heuristics/greedy/placing.h"
#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/plan_of.h"
#include "test/heuristics/greedy/greedy_case.h"

namespace muster::greedy {
namespace {

constexpr const char* kCore = R"("resources":{"cpu":1})";
constexpr const char* kInGang = R"("resources":{"cpu":1},"gang":"g")";

test::Cluster node_of_eight() { return test::Cluster().node("n", 8, R"("resources":{"cpu":64})"); }

GreedyCase counted(const test::Cluster& cluster) { return GreedyCase(test::Case(cluster)); }

TEST(InitialWork, CountsWhatRunsByPriorityAndQueue) {
  const GreedyCase cluster = counted(node_of_eight()
                                         .running("a", "n", 1, kCore)
                                         .running("b", "n", 1, R"("resources":{"cpu":1},"priority":5)")
                                         .running("c", "n", 1, kCore)
                                         .pod("d", 1, kCore));
  ASSERT_EQ(cluster.initial.present().size(), 2U);
  EXPECT_EQ(cluster.initial.present().begin()->second, (WorkPair{1000, 0})) << "the higher priority first";
  EXPECT_EQ(std::next(cluster.initial.present().begin())->second, (WorkPair{2000, 0}));
  EXPECT_EQ(cluster.initial.waiting(), std::vector<GangIndex>{cluster.problem.gang("d")});
}

TEST(InitialWork, DoesNotCountAGangBelowItsMinimum) {
  const GreedyCase cluster =
      counted(node_of_eight().gang("g", R"("minMember":2)").running("a", "n", 1, kInGang).pod("b", 1, kInGang));
  EXPECT_TRUE(cluster.initial.present().empty());
}

TEST(InitialWork, OneOrderIsEnoughForOneGangOfEqualPods) {
  const GreedyCase cluster =
      counted(node_of_eight().gang("g").running("a", "n", 1, kCore).pod("b", 1, kInGang).pod("c", 1, kInGang));
  EXPECT_TRUE(cluster.initial.is_one_order_enough());
}

TEST(InitialWork, OneOrderIsNotEnoughWherePodsDifferOrMayStayBehindOrTwoGangsWait) {
  const auto is_enough = [](const test::Cluster& cluster) { return counted(cluster).initial.is_one_order_enough(); };
  const auto two = [](const char* gang) {
    return node_of_eight().gang("g", gang).pod("b", 1, kInGang).pod("c", 1, kInGang);
  };
  EXPECT_FALSE(is_enough(node_of_eight().gang("g").pod("b", 1, kInGang).pod("c", 2, kInGang)));
  EXPECT_FALSE(is_enough(two(R"("minMember":1)")));
  EXPECT_FALSE(is_enough(two("").pod("d", 1, kCore)));
  EXPECT_FALSE(is_enough(two("").running("a", "n", 1, kInGang))) << "some of it runs";
}

TEST(InitialWork, OneOrderIsNotEnoughBeyondTheShares) {
  const GreedyCase cluster =
      counted(node_of_eight().gang("g").running("a", "n", 1, kCore).pod("b", 4, kInGang).pod("c", 4, kInGang));
  EXPECT_TRUE(cluster.initial.is_within_shares());
  EXPECT_FALSE(cluster.initial.is_one_order_enough());
}

// A generated cluster with a little that waits.
GreedyCase generated(std::uint64_t seed, double load) {
  generator::GeneratorOptions options = *generator::generator_preset(seed % 2 == 0 ? "contended" : "full");
  options.cluster.nodes = 6 + static_cast<int>(seed % 5);
  options.cluster.racks_per_zone = 3;  // of two zones, where there are any: no more racks than nodes
  options.seed = seed;
  options.load = load;
  return GreedyCase(test::Case::of_line(generator::generate_snapshot(options)));
}

// None: not by sums alone.
std::optional<Plan> plan(const GreedyCase& cluster, const PlacingOrder& order, bool walks_all) {
  const Problem& problem = *cluster.problem;
  const FairShares& shares = cluster.shares;
  const QueueBounds bounds = queue_bounds(problem, cluster.before);
  const preemption::EvictionRules rules(problem, shares, cluster.before);
  const StopRequest never;
  ClusterState state = cluster.before;
  placement::NodeChooser chooser(state, bounds, order.nodes);
  placement::GangPlacer placer(state, bounds, chooser, order.pods);
  preemption::PreemptionPlanner room({rules, placer, never});
  const PlacingInput input{problem, shares, order, cluster.none_excluded, never, cluster.initial, walks_all};
  if (place_all(input, state, placer, room) == PlacingOutcome::kOrderMatters) return std::nullopt;
  room.reprieve();
  return plan_of(problem, state, room.context().ledger.evictions());
}

const std::vector<PlacingOrder>& orders_of_gangs() {
  static const std::vector<PlacingOrder> orders = [] {
    std::vector<PlacingOrder> all;
    for (const GangOrder gangs : {GangOrder::kQueueByQueue, GangOrder::kBigFirst, GangOrder::kOldestFirst}) {
      for (const ClaimTime claims : {ClaimTime::kAtEnd, ClaimTime::kAtOnce})
        all.push_back({gangs, placement::PodOrder::kBigFirst, placement::NodeRule::kKeepCpu, claims});
    }
    return all;
  }();
  return orders;
}

TEST(InitialWork, SumsGiveThePlanThatWalkingAllGangsGives) {
  int same = 0, evicting = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const GreedyCase cluster = generated(seed, 0.1 + 0.1 * static_cast<double>(seed % 8));
    if (!cluster.initial.is_within_shares()) continue;
    for (const PlacingOrder& order : orders_of_gangs()) {
      const std::optional<Plan> by_sums = plan(cluster, order, false);
      if (!by_sums) continue;
      EXPECT_EQ(*by_sums, *plan(cluster, order, true)) << "seed " << seed;
      ++same;
      evicting += by_sums->evictions.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(same, 50);
  EXPECT_GT(evicting, 10);
}

TEST(InitialWork, WhereOneOrderIsEnoughAllOrdersGiveItsPlan) {
  int clusters = 0, evicting = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const GreedyCase cluster = generated(seed, 0.02);
    if (!cluster.initial.is_one_order_enough() || cluster.initial.waiting().empty()) continue;
    const Plan first = *plan(cluster, orders_of_gangs().front(), true);
    for (const PlacingOrder& order : orders_of_gangs()) {
      EXPECT_EQ(*plan(cluster, order, true), first) << "seed " << seed;
      EXPECT_EQ(*plan(cluster, order, false), first) << "seed " << seed;
    }
    ++clusters;
    evicting += first.evictions.empty() ? 0 : 1;
  }
  EXPECT_GT(clusters, 20);
  EXPECT_GT(evicting, 3);
}

}  // namespace
}  // namespace muster::greedy
