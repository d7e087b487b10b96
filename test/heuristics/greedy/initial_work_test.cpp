#include "heuristics/greedy/initial_work.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "heuristics/greedy/placing.h"
#include "heuristics/state/plan_of.h"
#include "model/build/build_problem.h"
#include "test/support/built_problem.h"

namespace muster::greedy {
namespace {

constexpr const char* kNode = R"("nodes":[{"name":"n","resources":{"cpu":64},"gpus":{"count":8}}],)";

std::string running(const std::string& name, const std::string& more = "") {
  return R"({"name":")" + name + R"(","resources":{"cpu":1},"gpu":{"count":1},"node":"n")" + more + "}";
}

std::string waiting(const std::string& name, int devices, const std::string& more = "") {
  return R"({"name":")" + name + R"(","resources":{"cpu":1},"gpu":{"count":)" + std::to_string(devices) + "}" + more +
         "}";
}

class Counted {
 public:
  explicit Counted(const std::string& body)
      : problem(body),
        shares(compute_fair_shares(*problem)),
        state(*problem, ClusterState::Releasing::kFreed),
        initial(*problem, shares, state) {}
  BuiltProblem problem;
  FairShares shares;
  ClusterState state;
  InitialWork initial;
};

TEST(InitialWork, CountsWhatRunsByPriorityAndQueue) {
  const Counted cluster(std::string(kNode) + R"("pods":[)" + running("a") + "," + running("b", R"(,"priority":5)") +
                        "," + running("c") + "," + waiting("d", 1) + "]");
  ASSERT_EQ(cluster.initial.present().size(), 2U);
  EXPECT_EQ(cluster.initial.present().begin()->second, (WorkPair{1000, 0})) << "the higher priority first";
  EXPECT_EQ(std::next(cluster.initial.present().begin())->second, (WorkPair{2000, 0}));
  EXPECT_EQ(cluster.initial.waiting(), std::vector<GangIndex>{cluster.problem.gang("d")});
}

TEST(InitialWork, DoesNotCountAGangBelowItsMinimum) {
  const Counted cluster(std::string(kNode) + R"("gangs":[{"name":"g","minMember":2}],"pods":[)" +
                        running("a", R"(,"gang":"g")") + "," + waiting("b", 1, R"(,"gang":"g")") + "]");
  EXPECT_TRUE(cluster.initial.present().empty());
}

TEST(InitialWork, OneOrderIsEnoughForOneGangOfEqualPods) {
  const Counted cluster(std::string(kNode) + R"("gangs":[{"name":"g"}],"pods":[)" + running("a") + "," +
                        waiting("b", 1, R"(,"gang":"g")") + "," + waiting("c", 1, R"(,"gang":"g")") + "]");
  EXPECT_TRUE(cluster.initial.is_one_order_enough());
}

TEST(InitialWork, OneOrderIsNotEnoughWherePodsDifferOrMayStayBehindOrTwoGangsWait) {
  const auto is_enough = [](const std::string& gang, const std::string& pods) {
    return Counted(std::string(kNode) + R"("gangs":[)" + gang + R"(],"pods":[)" + pods + "]")
        .initial.is_one_order_enough();
  };
  const std::string in_gang = R"(,"gang":"g")";
  const std::string two = waiting("b", 1, in_gang) + "," + waiting("c", 1, in_gang);
  EXPECT_FALSE(is_enough(R"({"name":"g"})", waiting("b", 1, in_gang) + "," + waiting("c", 2, in_gang)));
  EXPECT_FALSE(is_enough(R"({"name":"g","minMember":1})", two));
  EXPECT_FALSE(is_enough(R"({"name":"g"})", two + "," + waiting("d", 1)));
  EXPECT_FALSE(is_enough(R"({"name":"g"})", running("a", in_gang) + "," + two)) << "some of it runs";
}

TEST(InitialWork, OneOrderIsNotEnoughBeyondTheShares) {
  const Counted cluster(std::string(kNode) + R"("gangs":[{"name":"g"}],"pods":[)" + running("a") + "," +
                        waiting("b", 4, R"(,"gang":"g")") + "," + waiting("c", 4, R"(,"gang":"g")") + "]");
  EXPECT_TRUE(cluster.initial.is_within_shares());
  EXPECT_FALSE(cluster.initial.is_one_order_enough());
}

// A generated cluster with a little that waits.
class Generated {
 public:
  Generated(std::uint64_t seed, double load) {
    generator::GeneratorOptions options = *generator::generator_preset(seed % 2 == 0 ? "contended" : "full");
    options.cluster.nodes = 6 + static_cast<int>(seed % 5);
    options.cluster.racks_per_zone = 3;  // of two zones, where there are any: no more racks than nodes
    options.seed = seed;
    options.load = load;
    Result<Snapshot> read = muster_v1::SnapshotReader().read(generator::generate_snapshot(options));
    EXPECT_TRUE(read);
    snapshot = std::make_unique<Snapshot>(std::move(*read));
    Result<Problem> built = build_problem(*snapshot);
    EXPECT_TRUE(built);
    problem = std::move(*built);
    shares = compute_fair_shares(problem);
    before.emplace(problem, ClusterState::Releasing::kFreed);
    initial.emplace(problem, shares, *before);
  }

  // None: not by sums alone.
  std::optional<Plan> plan(const PlacingOrder& order, bool walks_all) const {
    const QueueBounds bounds = queue_bounds(problem, *before);
    const preemption::EvictionRules rules(problem, shares, *before);
    const StopRequest never;
    const std::vector<bool> nothing(problem.gangs.size(), false);
    ClusterState state = *before;
    placement::NodeChooser chooser(state, bounds, order.nodes);
    placement::GangPlacer placer(state, bounds, chooser, order.pods);
    preemption::PreemptionPlanner room({problem, shares, bounds, rules, state, chooser, placer, never}, {});
    const PlacingInput input{problem, shares, order, nothing, never, *initial, walks_all};
    if (place_all(input, state, placer, room) == PlacingOutcome::kOrderMatters) return std::nullopt;
    room.reprieve();
    return plan_of(problem, state, room.evictions());
  }

  std::unique_ptr<Snapshot> snapshot;
  Problem problem;
  FairShares shares;
  std::optional<ClusterState> before;
  std::optional<InitialWork> initial;
};

const std::vector<PlacingOrder>& orders_of_gangs() {
  static const std::vector<PlacingOrder> orders = [] {
    std::vector<PlacingOrder> all;
    for (const GangOrder gangs : {GangOrder::kQueueByQueue, GangOrder::kBigFirst, GangOrder::kOldestBigFirst}) {
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
    const Generated cluster(seed, 0.1 + 0.1 * static_cast<double>(seed % 8));
    if (!cluster.initial->is_within_shares()) continue;
    for (const PlacingOrder& order : orders_of_gangs()) {
      const std::optional<Plan> by_sums = cluster.plan(order, false);
      if (!by_sums) continue;
      EXPECT_EQ(*by_sums, *cluster.plan(order, true)) << "seed " << seed;
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
    const Generated cluster(seed, 0.02);
    if (!cluster.initial->is_one_order_enough() || cluster.initial->waiting().empty()) continue;
    const Plan first = *cluster.plan(orders_of_gangs().front(), true);
    for (const PlacingOrder& order : orders_of_gangs()) {
      EXPECT_EQ(*cluster.plan(order, true), first) << "seed " << seed;
      EXPECT_EQ(*cluster.plan(order, false), first) << "seed " << seed;
    }
    ++clusters;
    evicting += first.evictions.empty() ? 0 : 1;
  }
  EXPECT_GT(clusters, 20);
  EXPECT_GT(evicting, 3);
}

}  // namespace
}  // namespace muster::greedy
