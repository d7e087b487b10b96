#include "heuristics/local_search/trial_gain.h"

#include <optional>

#include <gtest/gtest.h>

#include "test/heuristics/local_search/part/operators_case.h"

namespace muster::local_search {
namespace {

class TrialGainTest : public testing::Test {
 protected:
  void place(const char* name) {
    TrialPod made = search_.trial_pod(name);
    ASSERT_TRUE(case_.neighbourhood.put(made, RepairRule::kFullest));
    case_.trial.placed.push_back(made);
  }
  // The pod of the node at the position.
  void destroy(std::size_t at) {
    const PartNode& node = case_.neighbourhood.node(at);
    TrialPod made{node.pods[0].pod, search_.problem->pods[node.pods[0].pod].pod_class, node.node, NodeIndex::none(),
                  node.pods[0].devices};
    case_.neighbourhood.take(at, node.pods[0]);
    case_.trial.optional.push_back(made);
  }
  std::optional<Gain> gain() {
    case_.trial.match();
    return gain_.of(case_.trial, case_.neighbourhood);
  }

  SearchCase search_{R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
      "pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},{"name":"big","gpu":{"count":2}}])",
                     {{"x", "a", {0}}, {"y", "b", {0}}}};
  OperatorsCase case_{search_, search_.part({"big"})};
  TrialGain gain_{search_.scope, search_.state, true};
};

TEST_F(TrialGainTest, IsTheWorthOfWhatIsAdded) {
  case_.neighbourhood.add(0);
  destroy(0);
  place("big");
  const std::optional<Gain> found = gain();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->worth, search_.scope.worth(search_.pod("big")) - search_.scope.worth(search_.pod("x")));
}

TEST_F(TrialGainTest, IsNoneIfWorkIsLost) {
  case_.neighbourhood.add(0);
  destroy(0);
  EXPECT_FALSE(gain());
}

TEST_F(TrialGainTest, IsNoneIfNothingChanges) {
  case_.neighbourhood.add(0);
  destroy(0);
  place("x");
  EXPECT_FALSE(gain());
}

TEST_F(TrialGainTest, CountsANodeThatIsWholeAgain) {
  case_.add_all_nodes();
  destroy(1);
  TrialPod y = search_.trial_pod("y");
  ASSERT_TRUE(case_.neighbourhood.put(y, RepairRule::kFullest));
  ASSERT_EQ(y.to, search_.node("a"));
  case_.trial.placed.push_back(y);
  const std::optional<Gain> found = gain();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->worth, 0);
  EXPECT_EQ(found->wholeness[0], 1);
  EXPECT_EQ(gain_.breaking_change(search_.node("b")), -1);
  EXPECT_EQ(gain_.breaking_change(search_.node("a")), +1);
}

}  // namespace
}  // namespace muster::local_search
