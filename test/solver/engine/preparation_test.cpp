#include "solver/engine/preparation.h"

#include <string>

#include <gtest/gtest.h>

#include "test/solver/random_cluster.h"

namespace muster::engine {
namespace {

// `e` is to be evicted for `w`, `m` to be moved from a to b.
test::Cluster cluster_of() {
  return *test::build_cluster(R"({"format":"muster/v1","time":1000,"nodes":[)"
                              R"({"name":"a","resources":{"cpu":64,"memory":"64Gi"},"gpus":{"count":4}},)"
                              R"({"name":"b","resources":{"cpu":64,"memory":"64Gi"},"gpus":{"count":2}}],)"
                              R"("gangs":[{"name":"low"},{"name":"mid"},{"name":"high","priority":5}],"pods":[)"
                              R"({"name":"e","gang":"low","gpu":{"count":2},"node":"a","gpus":[0,1],"started":0},)"
                              R"({"name":"m","gang":"mid","gpu":{"count":2},"node":"a","gpus":[2,3],"started":0},)"
                              R"({"name":"w","gang":"high","gpu":{"count":4}}]})");
}
constexpr PodIndex kEvicted{0}, kMoved{1}, kWaits{2};
constexpr GangIndex kHigh{2};

TEST(SettleEvictions, CarriesOutEvictionsAndMovesAndPlacesNothing) {
  const test::Cluster cluster = cluster_of();
  Plan plan;
  plan.placements = {{kMoved, NodeIndex(1), {0, 1}, {}, 0},
                     {kWaits, NodeIndex(0), {0, 1, 2, 3}, {kEvicted, kMoved}, 1}};
  plan.evictions = {{kEvicted, EvictionReason::kPreempt, kHigh}, {kMoved, EvictionReason::kConsolidate, kHigh}};
  const SettledEvictions settled = settle_evictions(cluster.problem, plan);
  EXPECT_FALSE(settled.state.is_present(kEvicted));
  ASSERT_TRUE(settled.state.is_present(kMoved));
  EXPECT_EQ(settled.state.node_of(kMoved), NodeIndex(1));
  EXPECT_FALSE(settled.state.is_present(kWaits));
  EXPECT_FALSE(settled.candidates.any);
  ASSERT_EQ(settled.evictions.size(), 2U);
  EXPECT_EQ(settled.evictions[1].reason, EvictionReason::kConsolidate);
  EXPECT_EQ(settled.evictions[1].for_gang, kHigh);
  EXPECT_FALSE(settled.candidates.gangs[GangIndex(0)].excluded);
}

TEST(SettleEvictions, PlacesNothingOfWhatHasGoneAsStale) {
  const test::Cluster cluster = cluster_of();
  Plan plan;
  plan.evictions = {{kEvicted, EvictionReason::kStale, GangIndex::none()}};
  const SettledEvictions settled = settle_evictions(cluster.problem, plan);
  EXPECT_TRUE(settled.candidates.gangs[GangIndex(0)].excluded);
  EXPECT_FALSE(settled.candidates.gangs[GangIndex(1)].excluded);
}

}  // namespace
}  // namespace muster::engine
