#include "solver/engine/preparation.h"

#include <string>

#include <gtest/gtest.h>

#include "test/solver/master_case.h"

namespace muster::engine {
namespace {

// `e` is to be evicted for `w`, `m` to be moved from a to b.
test::Case cluster_of() {
  return test::Case(test::nodes_with({{"a", 4}, {"b", 2}})
                        .gang("low")
                        .gang("mid")
                        .gang("high", R"("priority":5)")
                        .running("e", "a", 2, R"("gang":"low","gpus":[0,1],"started":0)")
                        .running("m", "a", 2, R"("gang":"mid","gpus":[2,3],"started":0)")
                        .pod("w", 4, R"("gang":"high")"));
}
constexpr PodIndex kEvicted{0}, kMoved{1}, kWaits{2};
constexpr GangIndex kHigh{2};

TEST(SettleEvictions, CarriesOutEvictionsAndMovesAndPlacesNothing) {
  const test::Case cluster = cluster_of();
  Plan plan;
  plan.placements = {{kMoved, NodeIndex(1), {0, 1}, {}, 0},
                     {kWaits, NodeIndex(0), {0, 1, 2, 3}, {kEvicted, kMoved}, 1}};
  plan.evictions = {{kEvicted, EvictionReason::kPreempt, kHigh}, {kMoved, EvictionReason::kConsolidate, kHigh}};
  const SettledEvictions settled = settle_evictions(cluster.problem(), plan);
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
  const test::Case cluster = cluster_of();
  Plan plan;
  plan.evictions = {{kEvicted, EvictionReason::kStale, GangIndex::none()}};
  const SettledEvictions settled = settle_evictions(cluster.problem(), plan);
  EXPECT_TRUE(settled.candidates.gangs[GangIndex(0)].excluded);
  EXPECT_FALSE(settled.candidates.gangs[GangIndex(1)].excluded);
}

}  // namespace
}  // namespace muster::engine
