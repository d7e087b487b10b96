#include "solver/choice/choice.h"

#include <gtest/gtest.h>

#include "model/objective/level_bounds.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/master_case.h"

namespace muster::choice {
namespace {

using test::MasterCase;
using test::nodes_with;

ChoiceInput input_of(const MasterCase& scene) {
  return {*scene.cluster,  scene.cluster.shares(),  scene.rules,      scene.sub.demand,
          scene.sub.zones, scene.sub.anti_affinity, scene.sub.before, scene.sub.base};
}

struct Chosen {
  Choice choice;
  std::vector<LevelId> ids;
  std::int64_t pods = 0;     // placed that waited
  std::int64_t evicted = 0;  // pods
};

Chosen choose(const MasterCase& scene) {
  cbc::Backend backend(MUSTER_BINARY);
  ChoiceModel model(input_of(scene));
  const Deadline deadline(Deadline::Clock::now() + std::chrono::seconds(20), false);
  if (!model.formulate(deadline)) return {};
  Chosen chosen{model.choose(trivial_bounds(*scene.cluster, scene.cluster.shares()), {}, deadline, backend),
                level_ids(*scene.cluster)};
  if (!chosen.choice.solution) return chosen;
  for (const formulation::CellIndex cell : scene.sub.demand.cells.indices())
    if (scene.sub.demand.cells[cell].moves.is_none()) chosen.pods += chosen.choice.solution->pods[cell];
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

// Level by level down to `evicted`: no bound of the choice is better than the optimum of the model with all places.
TEST(Choice, BoundsTheOptimumOfTheExactModel) {
  cbc::Backend backend(MUSTER_BINARY);
  const Deadline::Clock::time_point far = Deadline::Clock::now() + std::chrono::hours(1);
  int compared = 0, equal = 0;
  for (std::uint32_t seed = 2; seed < 242; seed += 3) {
    const MasterCase scene(test::any_cluster(seed));
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
