#include "solver/choice/choice.h"

#include <random>

#include <gtest/gtest.h>

#include "model/objective/level_bounds.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/master_case.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::choice {
namespace {

using test::MasterCase;
using test::nodes_with;

ChoiceInput input_of(const MasterCase& scene) {
  return {*scene.cluster,          scene.cluster.shares(), scene.rules,
          scene.restricted.demand, scene.restricted.zones, scene.restricted.anti_affinity,
          scene.restricted.before, scene.restricted.base};
}

struct Chosen {
  Choice choice;
  std::vector<LevelId> ids;
  std::int64_t pods = 0;     // placed that waited
  std::int64_t evicted = 0;  // pods
};

Chosen choose(const MasterCase& scene) {
  cbc::Backend backend(test::program());
  ChoiceModel model(input_of(scene));
  const Deadline deadline(Deadline::Clock::now() + std::chrono::seconds(20), false);
  if (!model.formulate(deadline)) return {};
  Chosen chosen{model.choose(trivial_bounds(*scene.cluster, scene.cluster.shares()), {Plan{}}, deadline, backend),
                level_ids(*scene.cluster)};
  if (!chosen.choice.solution) return chosen;
  for (const formulation::CellIndex cell : scene.restricted.demand.cells.indices())
    if (scene.restricted.demand.cells[cell].moves.is_none()) chosen.pods += chosen.choice.solution->pods[cell];
  for (const auto& channels : chosen.choice.solution->evicted)
    for (const auto& [channel, pods] : channels) chosen.evicted += pods;
  return chosen;
}

// Two nodes of four GPUs; two pods run on each, of which one has two GPUs and the other one. A pod waits.
test::Cluster two_nodes(int asks, int priority) {
  constexpr const char* kRuns = R"("priority":10,"started":0)";
  return nodes_with({{"m", 4}, {"n", 4}})
      .running("a", "m", 2, kRuns)
      .running("b", "m", 1, kRuns)
      .running("c", "n", 2, kRuns)
      .running("d", "n", 1, kRuns)
      .pod("w", asks, R"("priority":)" + std::to_string(priority));
}

TEST(Choice, PlacesWhatFitsOnceOthersHaveMovedWithoutEvictingThem) {
  // Two GPUs are free, one on each node: together only after a move.
  const MasterCase scene(two_nodes(2, 10));
  const Chosen chosen = choose(scene);
  ASSERT_TRUE(chosen.choice.solution.has_value());
  EXPECT_EQ(chosen.pods, 1);
  EXPECT_EQ(chosen.evicted, 0);
  for (const ChosenLevel& level : chosen.choice.levels) EXPECT_EQ(level.bound, level.value);
}

TEST(Choice, EvictsTheLeastThatMakesRoom) {
  // Four GPUs for a pod of higher priority: two are free, two have to be evicted.
  const MasterCase scene(two_nodes(4, 20));
  const Chosen chosen = choose(scene);
  ASSERT_TRUE(chosen.choice.solution.has_value());
  EXPECT_EQ(chosen.pods, 1);
  EXPECT_EQ(chosen.choice.levels.back().value, 2000 * 1000);  // two GPUs for a thousand seconds
}

TEST(Choice, AdmitsNoPodThatFitsOnNoEmptyNode) {
  const MasterCase scene(two_nodes(5, 20));
  const Chosen chosen = choose(scene);
  EXPECT_EQ(chosen.pods, 0);
  EXPECT_EQ(chosen.evicted, 0);
}

// Two GPUs are free, one on each node; without moves one pod of one GPU has to go.
TEST(Choice, KnowsWherePodsAreThatMayNotBeMoved) {
  const MasterCase scene(two_nodes(2, 20).policy(R"("actions":["place","preempt"])"));
  const Chosen chosen = choose(scene);
  ASSERT_TRUE(chosen.choice.solution.has_value());
  EXPECT_EQ(chosen.pods, 1);
  EXPECT_EQ(chosen.evicted, 1);
  EXPECT_EQ(chosen.choice.levels.back().value, 1000 * 1000);
}

TEST(Choice, KnowsThatFreeGpusOfTwoNodesAreNotOfOne) {
  const MasterCase scene(two_nodes(2, 20).policy(R"("actions":["place"])"));
  EXPECT_EQ(choose(scene).pods, 0);
}

// CBC says nothing of numbers that doubles do not tell apart, each time anew and without a step that would be counted.
TEST(Choice, EndsIfNeitherOfItsWaysProvesMore) {
  test::Cluster cluster = nodes_with({{"m", 8}, {"n", 8}});
  cluster.at(2'000'000).pod("w", 8, R"("priority":20)");
  cluster.running("old", "m", 8, R"("priority":10,"weight":1000000000,"started":272000)");
  cluster.running("young", "n", 8, R"("priority":10,"weight":1000000000,"started":1996400)");
  const MasterCase scene(cluster);
  cbc::Backend backend(test::program());
  ChoiceModel model(input_of(scene));
  ASSERT_TRUE(model.formulate(test::no_deadline()));
  const Choice choice =
      model.choose(trivial_bounds(*scene.cluster, scene.cluster.shares()), {Plan{}}, test::no_deadline(), backend);
  EXPECT_FALSE(choice.levels.empty());
}

// Two devices, on each a sharer of a half and one of 0.4. A pod of 0.6 of higher priority waits: a half has to leave.
test::Cluster two_shared_devices(const std::string& actions) {
  test::Cluster cluster = nodes_with({{"m", 2}});
  for (const char* device : {"0", "1"})
    for (const char* share : {"0.5", "0.4"})
      cluster.pod(std::string("r") + device + share[2],
                  std::string(R"("priority":10,"started":0,"node":"m","gpus":[)") + device + R"(],"gpu":{"fraction":)" +
                      share + "}");
  return cluster.pod("w", R"("priority":20,"gpu":{"fraction":0.6})").policy(R"("actions":)" + actions);
}

TEST(Choice, KnowsWhichPodsShareADevice) {
  const MasterCase moves(two_shared_devices(R"(["place","preempt","consolidate"])"));
  EXPECT_EQ(choose(moves).choice.levels.back().value, 400 * 1000);  // the halves together, 0.4 and 0.6 together
  const MasterCase none(two_shared_devices(R"(["place","preempt"])"));
  EXPECT_EQ(choose(none).choice.levels.back().value, 500 * 1000);
}

// Twelve sharers can leave in more ways than are listed: the model gets weaker, its bound remains one.
TEST(Choice, BoundsWhatManySharersOfADeviceCost) {
  test::Cluster cluster = nodes_with({{"m", 1}});
  for (int i = 0; i < 12; ++i)
    cluster.pod("r" + std::to_string(i), R"("priority":10,"started":0,"node":"m","gpus":[0],"gpu":{"fraction":0.08})");
  cluster.pod("w", 1, R"("priority":20)").policy(R"("actions":["place","preempt"])");
  const Chosen whole = choose(MasterCase(cluster));
  EXPECT_EQ(whole.pods, 1);
  EXPECT_EQ(whole.choice.levels.back().bound, 12 * 80 * 1000);  // to clear the device is always told apart
}

struct Compared {
  int levels = 0, equal = 0;
};

// Level by level down to `evicted`: no bound of the choice is better than the optimum of the model with all places.
void compare_with_exact(test::Case cluster, std::uint32_t seed, cbc::Backend& backend, Compared& compared) {
  const MasterCase scene(std::move(cluster));
  test::ExactFormulation exact(scene.cluster);
  if (!exact.is_listed || !exact.candidates.complete) return;
  const Chosen chosen = choose(scene);
  for (std::size_t i = 0; i < chosen.choice.levels.size(); ++i) {
    const auto expression = exact.formulation.level(chosen.ids[i]);
    ASSERT_TRUE(expression.has_value());
    const ChosenLevel& level = chosen.choice.levels[i];
    ASSERT_TRUE(level.bound.has_value());
    std::int64_t optimum = expression->constant;
    if (!expression->terms.empty()) {
      cbc::MilpRequest request;
      request.deadline = Deadline::Clock::now() + std::chrono::hours(1);
      const cbc::MilpAnswer answer = backend.solve(exact.model_of(chosen.ids[i], *expression), request);
      if (answer.status != cbc::SolveStatus::kOptimal) break;
      optimum = lp::value_of(*expression, answer.x);
      exact.formulation.hold(chosen.ids[i], *expression, optimum);
    }
    if (is_maximised(chosen.ids[i].kind))
      EXPECT_GE(*level.bound, optimum) << seed << ' ' << level_name(chosen.ids[i].kind);
    else
      EXPECT_LE(*level.bound, optimum) << seed << ' ' << level_name(chosen.ids[i].kind);
    ++compared.levels;
    if (level.value != optimum) break;  // from here on the bounds are those of other plans
    ++compared.equal;
  }
}

TEST(Choice, BoundsTheOptimumOfTheExactModel) {
  cbc::Backend backend(test::program());
  Compared compared;
  for (std::uint32_t seed = 2; seed < 242; seed += 3)
    compare_with_exact(test::any_cluster(seed), seed, backend, compared);
  EXPECT_GT(compared.levels, 200);
  EXPECT_GT(compared.equal, compared.levels / 2);
}

// Two nodes of two devices each, full of sharers, some of them in gangs of two; others of higher priority wait.
test::Cluster many_sharers(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto drawn = [&](int lowest, int highest) {  // the same with every library
    return lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1));
  };
  test::Cluster cluster = nodes_with({{"m", 2}, {"n", 2}});
  int pods = 0;
  for (const char* node : {"m", "n"})
    for (const char* device : {"0", "1"})
      for (int left = 10; left >= 2;) {
        const int share = drawn(2, std::min(left, 6));
        left -= share;
        const std::string name = std::to_string(pods);
        std::string more = R"("node":")" + std::string(node) + R"(","gpus":[)" + device + "]";
        more += R"(,"started":)" + std::to_string(100 * drawn(0, 9));
        more += R"(,"gpu":{"fraction":0.)" + std::to_string(share) + "}";
        const std::string gang = "g" + std::to_string(pods % 3);
        more += pods++ < 6 ? R"(,"gang":")" + gang + '"' : std::string(R"(,"priority":10)");
        cluster.pod("r" + name, more);
      }
  for (const char* gang : {"g0", "g1", "g2"}) cluster.gang(gang, R"("minMember":2,"priority":10)");
  for (int i = 0; i < 3; ++i)
    cluster.pod("w" + std::to_string(i), R"("priority":20,"gpu":{"fraction":0.)" + std::to_string(drawn(4, 9)) + "}");
  return cluster.policy(R"("actions":["place","preempt"])");
}

// Here the choice knows all that decides, so that it is exact in nearly all.
TEST(Choice, BoundsTheOptimumOfManySharers) {
  cbc::Backend backend(test::program());
  Compared compared;
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    compare_with_exact(test::Case(many_sharers(seed)), seed, backend, compared);
  EXPECT_GT(compared.levels, 100);
  EXPECT_GT(compared.equal, compared.levels * 9 / 10);
}

TEST(Choice, KnowsThatPodsExcludeEachOtherFromANode) {
  test::Cluster cluster;
  for (const std::string name : {"m", "n"})
    cluster.node(name, 4, R"("resources":{"cpu":9},"labels":{"kubernetes.io/hostname":")" + name + R"("})");
  cluster.gang("g", R"("minMember":3)");
  cluster.pods("g", 3, 1, R"("gang":"g","podAntiAffinity":{"topologyKey":"kubernetes.io/hostname","matchGang":true})");
  const MasterCase scene(cluster);
  const Chosen chosen = choose(scene);
  EXPECT_EQ(chosen.choice.levels.front().bound, 0);  // there are two nodes
}

}  // namespace
}  // namespace muster::choice
