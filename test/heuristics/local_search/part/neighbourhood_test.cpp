#include "heuristics/local_search/neighbourhood.h"

#include <gtest/gtest.h>

#include "test/heuristics/local_search/search_case.h"

namespace muster::local_search {
namespace {

// The first device of `a` is in use; `b` and `c` are idle.
class NeighbourhoodTest : public testing::Test {
 protected:
  SearchCase search_{
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}},{"name":"c","gpus":{"count":1}}],
      "pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},{"name":"pair","gpu":{"count":2}}])",
      {{"x", "a", {0}}}};
  PartNodes nodes_{search_.scope, search_.state, search_.part().nodes};
  RandomSource random_{1};
  Neighbourhood neighbourhood_{search_.scope, nodes_, random_};
};

TEST_F(NeighbourhoodTest, HoldsEachNodeOnce) {
  neighbourhood_.add(1);
  neighbourhood_.add(1);
  neighbourhood_.add(0);
  ASSERT_EQ(neighbourhood_.size(), 2U);
  EXPECT_EQ(neighbourhood_.node(0).node, search_.node("b"));
}

TEST_F(NeighbourhoodTest, PutsAPodOnTheFullestNodeThatFits) {
  for (const std::size_t position : {1U, 0U}) neighbourhood_.add(position);
  TrialPod y = search_.trial_pod("y"), pair = search_.trial_pod("pair");
  ASSERT_TRUE(neighbourhood_.put(y, RepairRule::kFullest));
  EXPECT_EQ(y.to, search_.node("a"));
  EXPECT_EQ(y.to_devices, DeviceList{1});
  ASSERT_TRUE(neighbourhood_.put(pair, RepairRule::kFullest));
  EXPECT_EQ(pair.to, search_.node("b"));
  TrialPod more = search_.trial_pod("y");
  EXPECT_FALSE(neighbourhood_.put(more, RepairRule::kAny)) << "both are full";
}

TEST_F(NeighbourhoodTest, HasTheRoomOfDestroyedPodsAndOfThoseTakenBack) {
  neighbourhood_.add(0);
  const PodClass& pair_class = search_.problem.class_of("pair");
  EXPECT_FALSE(neighbourhood_.fits_anywhere(pair_class));
  neighbourhood_.take(0, nodes_[0].pods.front());
  EXPECT_TRUE(neighbourhood_.fits_anywhere(pair_class));
  TrialPod y = search_.trial_pod("y");
  ASSERT_TRUE(neighbourhood_.put(y, RepairRule::kAny));
  EXPECT_FALSE(neighbourhood_.fits_anywhere(pair_class));
  neighbourhood_.take_back(y);
  EXPECT_TRUE(neighbourhood_.fits_anywhere(pair_class));
  EXPECT_EQ(nodes_[0].idle, 1000) << "the part itself has not changed";
}

TEST_F(NeighbourhoodTest, KnowsWhatIsFreeAtMostOnOneNode) {
  EXPECT_EQ(neighbourhood_.most_free().share, 0);
  neighbourhood_.add(2);
  EXPECT_EQ(neighbourhood_.most_free().share, CoarseAmounts::kDevice);
}

TEST_F(NeighbourhoodTest, BeginsAnewOnceCleared) {
  neighbourhood_.add(0);
  neighbourhood_.take(0, nodes_[0].pods.front());
  neighbourhood_.clear();
  EXPECT_TRUE(neighbourhood_.is_empty());
  neighbourhood_.add(0);
  EXPECT_FALSE(neighbourhood_.fits_anywhere(search_.problem.class_of("pair")));
}

}  // namespace
}  // namespace muster::local_search
