#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/local_search/repair.h"
#include "test/heuristics/local_search/part/operators_case.h"
#include "test/support/unmet.h"

namespace muster::local_search {
namespace {

class DestroyTest : public testing::Test {
 protected:
  // Until the operator has drawn that all pods are destroyed.
  void destroy_all() {
    for (int i = 0; i < 100; ++i) {
      OperatorsCase& made = case_.emplace(search_, search_.part());
      made.random = RandomSource(static_cast<std::uint64_t>(i));
      made.add_all_nodes();
      made.trial.leaving = leaving_;
      DestroyAndRepair(search_.scope, made.gangs, made.waiting, made.random).destroy(made.neighbourhood, made.trial);
      if (made.trial.required.size() + made.trial.optional.size() == 4) return;
    }
    ADD_FAILURE() << "it has never destroyed all";
  }
  static bool holds(const std::vector<TrialPod>& pods, PodIndex pod) {
    return std::ranges::find(pods, pod, &TrialPod::pod) != pods.end();
  }

  SearchCase search_{R"("nodes":[{"name":"a","gpus":{"count":4}}],"gangs":[{"name":"rigid"}],
      "pods":[{"name":"r0","gang":"rigid","gpu":{"count":1}},{"name":"r1","gang":"rigid","gpu":{"count":1}},
              {"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}}])",
                     {{"r0", "a", {0}}, {"r1", "a", {1}}, {"x", "a", {2}}, {"y", "a", {3}}}};
  GangIndex leaving_ = GangIndex::none();
  std::optional<OperatorsCase> case_;
};

TEST_F(DestroyTest, RequiresTheRepairOfPodsThatTheirGangNeeds) {
  destroy_all();
  EXPECT_TRUE(holds(case_->trial.required, search_.pod("r0")));
  EXPECT_TRUE(holds(case_->trial.required, search_.pod("r1")));
}

TEST_F(DestroyTest, LetsPodsWaitThatMayBeDropped) {
  destroy_all();
  EXPECT_TRUE(holds(case_->trial.optional, search_.pod("x")));
  ASSERT_EQ(case_->waiting.groups().size(), 1U);
  EXPECT_EQ(case_->waiting.groups()[0].pods.size(), 2U);
}

TEST_F(DestroyTest, DestroysAGangThatLeavesWhole) {
  leaving_ = search_.gang("rigid");
  destroy_all();
  EXPECT_TRUE(case_->trial.required.empty());
  EXPECT_TRUE(holds(case_->trial.optional, search_.pod("r0")));
  EXPECT_EQ(case_->waiting.groups()[0].pods.size(), 2U) << "its pods do not wait by themselves";
}

TEST_F(DestroyTest, FreesTheNodes) {
  destroy_all();
  EXPECT_EQ(case_->neighbourhood.most_free().share, CoarseAmounts::kDevice);
}

TEST_F(DestroyTest, RequiresATrialWithoutPods) {
  OperatorsCase& made = case_.emplace(search_, search_.part());
  made.trial.required.emplace_back();
  DestroyAndRepair operators(search_.scope, made.gangs, made.waiting, made.random);
  expect_unmet([&] { operators.destroy(made.neighbourhood, made.trial); }, "");
}

}  // namespace
}  // namespace muster::local_search
