#include <gtest/gtest.h>

#include "heuristics/state/groups.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

TEST(PutBack, APodReturnsToItsNodeAndDevices) {
  Planning all(kTwoRun);
  const PodIndex low = all.pod("low");
  all.state.take(low);
  ASSERT_TRUE(put_back(all.state, all.bounds, low));
  EXPECT_TRUE(is_home(all.state, low));
}

TEST(PutBack, FailsWithoutAChangeIfItsDevicesAreTaken) {
  Planning all(kTwoRun);
  all.state.take(all.pod("low"));
  all.state.put(all.pod("new"), all.node("a"), {0});
  const auto before = all.state.checkpoint();
  EXPECT_FALSE(put_back(all.state, all.bounds, all.pod("low")));
  EXPECT_EQ(all.state.checkpoint(), before);
}

TEST(PutBack, ANewPodReturnsToWhereItWasPut) {
  Planning all(kTwoRun);
  all.state.take(all.pod("low"));
  EXPECT_TRUE(put_back(all.state, all.bounds, all.pod("new"), {all.node("a"), {0}}));
  EXPECT_EQ(all.state.node_of(all.pod("new")), all.node("a"));
}

// `runs` must not be next to a pod that is labelled app=x.
constexpr const char* kApart = R"(
 "nodes":[{"name":"a","gpus":{"count":3},"labels":{"host":"a"}}],
 "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},
          "podAntiAffinity":[{"topologyKey":"host","labelSelector":{"matchLabels":{"app":"x"}}}]},
         {"name":"ran","labels":{"app":"x"},"node":"a","gpus":[1],"gpu":{"count":1}},
         {"name":"new","labels":{"app":"x"},"gpu":{"count":1}}])";

TEST(PutBack, PodsThatRanNextToEachOtherMayContinueButNotNextToANewOne) {
  Planning all(kApart);
  const PodIndex runs = all.pod("runs");
  all.state.take(runs);
  all.state.put(all.pod("new"), all.node("a"), {2});
  EXPECT_FALSE(put_back(all.state, all.bounds, runs));
  all.state.take(all.pod("new"));
  EXPECT_TRUE(put_back(all.state, all.bounds, runs)) << "although the other one is still there";
}

}  // namespace
}  // namespace muster::preemption
