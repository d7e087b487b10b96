#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/preemption/victims.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

// `g` needs two of its three pods; two of them run on `a`, one on `b`. `single` runs on `b`.
constexpr const char* kGang = R"(
 "nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
 "gangs":[{"name":"g","minMember":2,"priority":1}],
 "pods":[{"name":"g-0","gang":"g","node":"a","gpus":[0],"gpu":{"count":1}},
         {"name":"g-1","gang":"g","node":"a","gpus":[1],"gpu":{"count":1}},
         {"name":"g-2","gang":"g","node":"b","gpus":[0],"gpu":{"count":1}},
         {"name":"single","node":"b","gpus":[1],"gpu":{"count":1},"priority":2},
         {"name":"new","gpu":{"count":1},"priority":9}])";

class Finder : public testing::Test {
 protected:
  Finder() { all_.claim_for("new", PreemptionMode::kPreempt); }
  // The pods of each unit, ascending.
  static std::vector<std::vector<PodIndex>> pods_of(const std::vector<VictimUnit>& units) {
    std::vector<std::vector<PodIndex>> pods;
    for (VictimUnit unit : units) {
      std::ranges::sort(unit.pods);
      pods.push_back(unit.pods);
    }
    std::ranges::sort(pods);
    return pods;
  }
  using Pods = std::vector<std::vector<PodIndex>>;
  Planning all_{kGang};
  PodIndex g0_ = all_.pod("g-0"), g1_ = all_.pod("g-1"), g2_ = all_.pod("g-2"), single_ = all_.pod("single");
};

TEST_F(Finder, SurplusPodsLeaveAlone) {
  EXPECT_EQ(pods_of(units_on(all_.context, all_.claim, all_.node("a"))), (Pods{{g0_}, {g1_}}));
}

TEST_F(Finder, AGangThatWouldFallBelowItsMinimumLeavesAsAWhole) {
  all_.state.take(g2_);
  EXPECT_EQ(pods_of(units_on(all_.context, all_.claim, all_.node("a"))), (Pods{{g0_, g1_}})) << "listed once";
}

TEST_F(Finder, PodsOfGangsThatAreBeingRelocatedStay) {
  all_.claim.relocating = {all_.problem.gang("g")};
  EXPECT_EQ(pods_of(units_on(all_.context, all_.claim, all_.node("b"))), (Pods{{single_}}));
  all_.claim.relocating.clear();
  EXPECT_EQ(pods_of(units_on(all_.context, all_.claim, all_.node("b"))), (Pods{{g2_}, {single_}}));
}

TEST_F(Finder, EachPodMovesByItself) {
  all_.state.take(g2_);
  const std::vector<VictimUnit> moves = moves_on(all_.context, all_.claim, all_.node("a"));
  EXPECT_EQ(pods_of(moves), (Pods{{g0_}, {g1_}}));
  EXPECT_TRUE(moves.front().must_move);
  EXPECT_EQ(moves.front().cost.moved, all_.problem->pods[g0_].weighted_work);
}

TEST_F(Finder, TheCheapestUnitOfAQueueIsOfTheLowestPriority) {
  const auto unit = cheapest_below(all_.context, all_.claim, QueueIndex::none(), ResourceIndex::none());
  ASSERT_TRUE(unit);
  EXPECT_NE(unit->pods.front(), single_);
  all_.claim_for("g", PreemptionMode::kPreempt);
  EXPECT_FALSE(cheapest_below(all_.context, all_.claim, QueueIndex::none(), ResourceIndex::none()))
      << "nothing is below the claimant";
}

}  // namespace
}  // namespace muster::preemption
