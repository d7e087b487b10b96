// How many pods of a class fit after a plan.
#include <string>

#include <gtest/gtest.h>

#include "model/explain/blockers.h"
#include "test/support/case.h"

namespace muster::explain {
namespace {

const std::string kTwoNodes = R"("nodes":[{"name":"a","gpus":{"count":4}},{"name":"b","gpus":{"count":4}}],"pods":[)"
                              R"({"name":"r","node":"a","gpu":{"count":3}},{"name":"p","gpu":{"count":2}}])";

TEST(PodCensus, CountsThePodsThatFitOnAllNodesTogether) {
  const test::Case built(kTwoNodes);
  RemainingCapacity room = RemainingCapacity::after(*built, after_plan(*built, {}));
  PodCensus census(*built, room);
  EXPECT_EQ(census.of(built->pods[built.pod("p")].pod_class).total, 2);
}

TEST(PodCensus, TellsWhatBlocksOneMoreAndWhatBlocksTheFirst) {
  const test::Case built(kTwoNodes);
  RemainingCapacity room = RemainingCapacity::after(*built, after_plan(*built, {}));
  PodCensus census(*built, room);
  const PodClassIndex pod_class = built->pods[built.pod("p")].pod_class;
  EXPECT_EQ(census.of(pod_class).full.available(), 0);
  EXPECT_EQ(census.fresh_tally(pod_class).available(), 1);
}

TEST(PodCensus, LeavesTheRoomAsItWas) {
  const test::Case built(kTwoNodes);
  RemainingCapacity room = RemainingCapacity::after(*built, after_plan(*built, {}));
  const std::size_t mark = room.mark();
  PodCensus census(*built, room);
  census.of(built->pods[built.pod("p")].pod_class);
  EXPECT_EQ(room.mark(), mark);
}

TEST(PodCensus, KnowsTheClassesThatItHasCounted) {
  const test::Case built(kTwoNodes);
  RemainingCapacity room = RemainingCapacity::after(*built, after_plan(*built, {}));
  PodCensus census(*built, room);
  const PodClassIndex pod_class = built->pods[built.pod("p")].pod_class;
  EXPECT_FALSE(census.has(pod_class));
  census.of(pod_class);
  EXPECT_TRUE(census.has(pod_class));
}

TEST(PodCensus, FindsPodsOfAClassInTheirOwnWayByTheTermsThatTheyOwnAndMatch) {
  const std::string apart =
      R"("labels":{"app":"x"},"podAntiAffinity":{"topologyKey":"h","labelSelector":{"matchLabels":{"app":"x"}}})";
  const test::Case built(R"("nodes":[{"name":"a","labels":{"h":"a"}}],"pods":[{"name":"p",)" + apart +
                         R"(},{"name":"q","labels":{"app":"x"}}])");
  RemainingCapacity room = RemainingCapacity::after(*built, after_plan(*built, {}));
  PodCensus census(*built, room);
  EXPECT_TRUE(census.of(built->pods[built.pod("p")].pod_class).full.charges(FilterCode::kPodAntiAffinity));
  EXPECT_FALSE(census.of(built->pods[built.pod("q")].pod_class).full.charges(FilterCode::kPodAntiAffinity));
}

}  // namespace
}  // namespace muster::explain
