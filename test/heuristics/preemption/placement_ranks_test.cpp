#include <vector>

#include <gtest/gtest.h>

#include "heuristics/preemption/claim.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

// `new` is placed at rank 3 where `low` ran.
class Ranks : public testing::Test {
 protected:
  Ranks() {
    all_.state.take(all_.pod("low"));
    all_.state.put(new_, all_.node("a"), {0});
    all_.context.ranks.note(new_, 3);
    all_.context.ranks.protect_claimants({});
    all_.claim.claimant = all_.problem.gang("two");
  }
  bool gives_way_at(std::int32_t rank) {
    all_.claim.rank = rank;
    return all_.context.ranks.may_give_way(new_, all_.claim);
  }

  Planning all_{kTwoRun};
  PodIndex new_ = all_.pod("new");
};

TEST_F(Ranks, APodGivesWayToEarlierRanksOnly) {
  EXPECT_TRUE(gives_way_at(2));
  EXPECT_FALSE(gives_way_at(3));
  EXPECT_TRUE(all_.context.ranks.any_after(2));
  EXPECT_FALSE(all_.context.ranks.any_after(3));
}

TEST_F(Ranks, TheFirstRankCountsUntilThePodLeaves) {
  all_.context.ranks.note(new_, 5);
  EXPECT_FALSE(gives_way_at(4));
  all_.state.take(new_);
  all_.context.ranks.note(new_, 5);
  all_.state.put(new_, all_.node("a"), {0});
  EXPECT_FALSE(gives_way_at(0)) << "not noted since";
  all_.context.ranks.note(new_, 5);
  EXPECT_TRUE(gives_way_at(4));
}

TEST_F(Ranks, RunningPodsAndTheClaimantsOwnDoNotGiveWay) {
  all_.context.ranks.note(all_.pod("high"), 3);
  EXPECT_FALSE(all_.context.ranks.may_give_way(all_.pod("high"), all_.claim));
  all_.claim.claimant = all_.problem.gang("new");
  EXPECT_FALSE(gives_way_at(2));
}

TEST_F(Ranks, AGangWithVictimsDoesNotGiveWay) {
  const std::vector<PlannedEviction> evictions{{all_.pod("low"), EvictionReason::kPreempt, all_.problem.gang("new")}};
  all_.context.ranks.protect_claimants(evictions);
  EXPECT_FALSE(gives_way_at(2));
}

}  // namespace
}  // namespace muster::preemption
