#include <gtest/gtest.h>

#include "heuristics/placement/regions.h"
#include "test/support/case.h"

namespace muster::placement {
namespace {

constexpr const char* kCluster = R"(
 "nodes":[{"name":"a","resources":{"cpu":"8"},"gpus":{"count":2}},{"name":"b","resources":{"cpu":"8"},"gpus":{"count":1}}],
 "pods":[{"name":"runs","resources":{"cpu":"2"},"gpu":{"count":1},"node":"a","gpus":[0]},
         {"name":"leaves","resources":{"cpu":"1"},"gpu":{"count":1},"node":"b","gpus":[0],"status":"releasing"},
         {"name":"waits","resources":{"cpu":"1"},"gpu":{"count":2}}])";

class RoomAtOnce : public testing::Test {
 protected:
  test::Case problem_{kCluster};
  ClusterState state_{*problem_, ClusterState::Releasing::kFreed};
  ImmediateCapacity room_{state_};
};

TEST_F(RoomAtOnce, IsWhatTheStateHasFreeWhereNothingDeparts) {
  const NodeIndex a = problem_.node("a");
  EXPECT_FALSE(room_.has_departing(a));
  EXPECT_EQ(room_.of(a).free[kCpu.value()], 6'000);
}

TEST_F(RoomAtOnce, ExcludesWhatAReleasingPodHolds) {
  const NodeIndex b = problem_.node("b");
  EXPECT_TRUE(room_.has_departing(b));
  EXPECT_EQ(state_.free(b)[kCpu.value()], 8'000);
  EXPECT_EQ(room_.of(b).free[kCpu.value()], 7'000);
  EXPECT_EQ(room_.of(b).devices[0], 0);
}

TEST_F(RoomAtOnce, ExcludesWhatAPodHoldsThatTheStateHasTaken) {
  const NodeIndex a = problem_.node("a");
  const auto before = state_.checkpoint();
  state_.take(problem_.pod("runs"));
  EXPECT_TRUE(room_.has_departing(a));
  EXPECT_EQ(room_.of(a).free[kCpu.value()], 6'000);
  EXPECT_FALSE(room_.fits(problem_.class_of("waits"), a));
  state_.rollback(before);
  EXPECT_FALSE(room_.has_departing(a));
}

}  // namespace
}  // namespace muster::placement
