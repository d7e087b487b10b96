#include "solver/engine/whole_model.h"

#include <gtest/gtest.h>

#include "test/solver/random_cluster.h"

namespace muster::engine {
namespace {

using test::Case;

// A formulation of the cluster with columns for all nodes, up to the given number.
struct Model {
  Model(const Case& cluster, std::size_t most_columns)
      : before(cluster.problem(), ClusterState::Releasing::kFreed),
        rules(cluster.problem(), cluster.shares(), before),
        setting{cluster.problem(), cluster.shares(), rules},
        candidates(formulation::find_candidates(cluster.problem(), rules, before)),
        restricted(setting, before, candidates),
        whole(cluster.problem(), restricted, most_columns) {}

  ClusterState before;
  preemption::EvictionRules rules;
  column_generation::Setting setting;
  formulation::EvictionCandidates candidates;
  column_generation::RestrictedMaster restricted;
  WholeModel whole;
};

TEST(WholeModel, IsNotLaidOutWhereItWouldHaveMoreColumnsThanItMay) {
  int refused = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const Case cluster = test::any_cluster(seed);
    const Model model(cluster, 1'000'000);
    if (!model.whole.is_whole()) continue;
    const std::size_t columns = model.whole.columns();
    if (columns == 0) continue;
    for (const std::size_t most : {columns / 8, columns / 2, columns - 1}) {
      const Model smaller(cluster, most);
      EXPECT_TRUE(!smaller.whole.is_whole() || smaller.whole.columns() <= most) << seed;
      refused += smaller.whole.is_whole() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 30);
}

TEST(WholeModel, AddsTheColumnsThatItHasLaidOut) {
  int added = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const Case cluster = test::any_cluster(seed);
    Model model(cluster, 1'000'000);
    if (!model.whole.is_whole() ||
        model.restricted.anti_affinity.demands_with_terms(model.restricted.demand).size() > 0)
      continue;
    ASSERT_TRUE(model.restricted.formulate(false, Deadline(Deadline::Clock::time_point::max(), false)));
    const std::int32_t before = model.restricted.formulation->model().columns();
    model.whole.add_to(*model.restricted.formulation);
    EXPECT_EQ(static_cast<std::size_t>(model.restricted.formulation->model().columns() - before),
              model.whole.columns());
    ++added;
  }
  EXPECT_GT(added, 10);
}

TEST(WholeModel, ReadsNobodyWhereASolutionPutsNobody) {
  int nodes_read = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const Case cluster = test::any_cluster(seed);
    Model model(cluster, 1'000'000);
    if (!model.whole.is_whole()) continue;
    ASSERT_TRUE(model.restricted.formulate(false, Deadline(Deadline::Clock::time_point::max(), false)));
    model.whole.add_to(*model.restricted.formulation);
    // No pods anywhere: every node has at most one configuration, and nothing in it.
    const std::vector<double> x(static_cast<std::size_t>(model.restricted.formulation->model().columns()), 0.0);
    const WholeModel::Content content = model.whole.read(*model.restricted.formulation, x);
    for (const formulation::ResidualClassIndex residual : model.restricted.supply.residuals.indices()) {
      std::int64_t nodes = 0;
      for (const auto& [position, count] : content.solution.configurations[residual.value()]) {
        nodes += count;
        EXPECT_TRUE(content.configurations[residual][position].steps.empty());
        ++nodes_read;
      }
      EXPECT_LE(nodes, model.restricted.supply.residuals[residual].count());
    }
  }
  EXPECT_GT(nodes_read, 0);
}

}  // namespace
}  // namespace muster::engine
