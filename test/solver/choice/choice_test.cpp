#include "solver/choice/choice.h"

#include <gtest/gtest.h>

#include "model/objective/level_bounds.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/scene.h"

namespace muster::choice {
namespace {

ChoiceInput input_of(const test::Scene& scene) {
  return {scene.cluster.problem, scene.cluster.shares,    scene.rules,      scene.sub.demand,
          scene.sub.zones,       scene.sub.anti_affinity, scene.sub.before, scene.sub.base};
}

struct Chosen {
  Choice choice;
  std::vector<LevelId> ids;
  std::int64_t pods = 0;     // placed that waited
  std::int64_t evicted = 0;  // pods
};

Chosen choose(const test::Scene& scene) {
  cbc::Backend backend(MUSTER_BINARY);
  ChoiceModel model(input_of(scene));
  const Deadline deadline(Deadline::Clock::now() + std::chrono::seconds(20), false);
  if (!model.formulate(deadline)) return {};
  Chosen chosen{model.choose(trivial_bounds(scene.cluster.problem, scene.cluster.shares), {}, deadline, backend),
                level_ids(scene.cluster.problem)};
  if (!chosen.choice.solution) return chosen;
  for (const formulation::CellIndex cell : scene.sub.demand.cells.indices())
    if (scene.sub.demand.cells[cell].moves.is_none()) chosen.pods += chosen.choice.solution->pods[cell];
  for (const auto& channels : chosen.choice.solution->evicted)
    for (const auto& [channel, pods] : channels) chosen.evicted += pods;
  return chosen;
}

std::string running(const std::string& name, int gpus, const std::string& node) {
  return R"({"name":")" + name + R"(","priority":10,"gpu":{"count":)" + std::to_string(gpus) + R"(},"node":")" + node +
         R"(","started":0})";
}

// Two nodes of four GPUs; two pods run on each, of which one has two GPUs and the other one.
std::string pods_of_two_nodes() {
  return running("a", 2, "m") + "," + running("b", 1, "m") + "," + running("c", 2, "n") + "," + running("d", 1, "n");
}

TEST(Choice, PlacesWhatFitsOnceOthersHaveMovedWithoutEvictingThem) {
  // Two GPUs are free, one on each node: together only after a move.
  const test::Scene scene(test::cluster_of(test::node_line("m", 4) + "," + test::node_line("n", 4),
                                           pods_of_two_nodes() + R"(,{"name":"w","priority":10,"gpu":{"count":2}})"));
  const Chosen chosen = choose(scene);
  ASSERT_TRUE(chosen.choice.solution.has_value());
  EXPECT_EQ(chosen.pods, 1);
  EXPECT_EQ(chosen.evicted, 0);
  for (const ChosenLevel& level : chosen.choice.levels) EXPECT_EQ(level.bound, level.value);
}

TEST(Choice, EvictsTheLeastThatMakesRoom) {
  // Four GPUs for a pod of higher priority: two are free, two have to be evicted.
  const test::Scene scene(test::cluster_of(test::node_line("m", 4) + "," + test::node_line("n", 4),
                                           pods_of_two_nodes() + R"(,{"name":"w","priority":20,"gpu":{"count":4}})"));
  const Chosen chosen = choose(scene);
  ASSERT_TRUE(chosen.choice.solution.has_value());
  EXPECT_EQ(chosen.pods, 1);
  EXPECT_EQ(chosen.choice.levels.back().value, 2000 * 1000);  // two GPUs for a thousand seconds
}

TEST(Choice, AdmitsNoPodThatFitsOnNoEmptyNode) {
  const test::Scene scene(test::cluster_of(test::node_line("m", 4) + "," + test::node_line("n", 4),
                                           pods_of_two_nodes() + R"(,{"name":"w","priority":20,"gpu":{"count":5}})"));
  const Chosen chosen = choose(scene);
  EXPECT_EQ(chosen.pods, 0);
  EXPECT_EQ(chosen.evicted, 0);
}

// Two GPUs are free, one on each node; without moves one pod of one GPU has to go.
TEST(Choice, KnowsWherePodsAreThatMayNotBeMoved) {
  const test::Scene scene(test::cluster_of(test::node_line("m", 4) + "," + test::node_line("n", 4),
                                           pods_of_two_nodes() + R"(,{"name":"w","priority":20,"gpu":{"count":2}})",
                                           R"(,"policy":{"actions":["place","preempt"]})"));
  const Chosen chosen = choose(scene);
  ASSERT_TRUE(chosen.choice.solution.has_value());
  EXPECT_EQ(chosen.pods, 1);
  EXPECT_EQ(chosen.evicted, 1);
  EXPECT_EQ(chosen.choice.levels.back().value, 1000 * 1000);
}

TEST(Choice, KnowsThatFreeGpusOfTwoNodesAreNotOfOne) {
  const test::Scene scene(test::cluster_of(test::node_line("m", 4) + "," + test::node_line("n", 4),
                                           pods_of_two_nodes() + R"(,{"name":"w","priority":20,"gpu":{"count":2}})",
                                           R"(,"policy":{"actions":["place"]})"));
  EXPECT_EQ(choose(scene).pods, 0);
}

// Level by level down to `evicted`: no bound of the choice is better than the optimum of the model with all places.
TEST(Choice, BoundsTheOptimumOfTheExactModel) {
  cbc::Backend backend(MUSTER_BINARY);
  const Deadline::Clock::time_point far = Deadline::Clock::now() + std::chrono::hours(1);
  int compared = 0, equal = 0;
  for (std::uint32_t seed = 2; seed < 242; seed += 3) {
    const test::Scene scene(test::any_cluster(seed));
    test::ExactFormulation exact(scene.cluster);
    if (!exact.is_listed || !exact.candidates.complete) continue;
    const Chosen chosen = choose(scene);
    for (std::size_t i = 0; i < chosen.choice.levels.size(); ++i) {
      const auto expression = exact.formulation.level(chosen.ids[i]);
      ASSERT_TRUE(expression.has_value());
      const ChosenLevel& level = chosen.choice.levels[i];
      ASSERT_TRUE(level.bound.has_value());
      std::int64_t optimum = expression->constant;
      if (!expression->terms.empty()) {
        cbc::MilpRequest request;
        request.deadline = far;
        const cbc::MilpAnswer answer = backend.solve(exact.model_of(chosen.ids[i], *expression), request);
        if (answer.status != cbc::SolveStatus::kOptimal) break;
        optimum = lp::value_of(*expression, answer.x);
        exact.formulation.hold(chosen.ids[i], *expression, optimum);
      }
      if (is_maximised(chosen.ids[i].kind))
        EXPECT_GE(*level.bound, optimum) << seed << ' ' << level_name(chosen.ids[i].kind);
      else
        EXPECT_LE(*level.bound, optimum) << seed << ' ' << level_name(chosen.ids[i].kind);
      ++compared;
      if (level.value != optimum) break;  // from here on the bounds are those of other plans
      ++equal;
    }
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(equal, compared / 2);
}

}  // namespace
}  // namespace muster::choice
