#include "heuristics/preemption/eviction_ledger.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

class Ledger : public testing::Test {
 protected:
  explicit Ledger(const std::string& body = kTwoRun) : all_(body) { all_.claim_for("new", PreemptionMode::kPreempt); }
  Planning all_;
  EvictionLedger& ledger_ = all_.ledger;
  PodIndex low_ = all_.pod("low"), high_ = all_.pod("high"), new_ = all_.pod("new");
};

TEST_F(Ledger, RecordsForWhichClaimAPodWasTaken) {
  ledger_.take({low_}, all_.claim);
  EXPECT_FALSE(all_.state.is_present(low_));
  const std::vector<PlannedEviction> evictions = ledger_.evictions();
  ASSERT_EQ(evictions.size(), 1U);
  EXPECT_EQ(evictions[0].pod, low_);
  EXPECT_EQ(evictions[0].reason, EvictionReason::kPreempt);
  EXPECT_EQ(evictions[0].for_gang, all_.problem.gang("new"));
}

TEST_F(Ledger, APodThatIsBackCountsNoMore) {
  ledger_.take({low_}, all_.claim);
  all_.state.put(low_, all_.node("a"), {0});
  EXPECT_TRUE(ledger_.evictions().empty());
  EXPECT_TRUE(ledger_.was_taken(low_));
}

TEST_F(Ledger, AMovedPodCounts) {
  ledger_.take({low_, high_}, all_.claim);
  all_.state.put(low_, all_.node("a"), {1});
  EXPECT_EQ(ledger_.evictions().size(), 2U);
}

TEST_F(Ledger, NewPodsGiveWayAndAreNotEvicted) {
  all_.state.take(low_);
  all_.state.put(new_, all_.node("a"), {0});
  ledger_.begin_attempt();
  ledger_.take({new_}, all_.claim);
  EXPECT_TRUE(ledger_.evictions().empty());
  EXPECT_EQ(ledger_.gave_way(), std::vector{all_.problem.gang("new")});
  ledger_.begin_attempt();
  EXPECT_TRUE(ledger_.gave_way().empty());
}

TEST_F(Ledger, RollsTheStateBackWithItsRecords) {
  ledger_.take({low_}, all_.claim);
  const auto before = ledger_.begin_attempt();
  ledger_.take({high_}, all_.claim);
  ledger_.expect_evictions();
  EXPECT_EQ(ledger_.taken_in_attempt(), std::vector{high_});
  EXPECT_EQ(ledger_.taken(), (std::vector{low_, high_}));
  ledger_.rollback(before);
  EXPECT_TRUE(all_.state.is_present(high_));
  EXPECT_FALSE(all_.state.is_present(low_));
  EXPECT_EQ(ledger_.taken(), std::vector{low_});
  EXPECT_FALSE(ledger_.has_evicted());
}

TEST_F(Ledger, TheVictimsOfAClaimantThatIsNotPlacedGetAnother) {
  ledger_.take({low_, high_}, all_.claim);
  all_.state.put(all_.pod("two"), all_.node("a"), {0, 1});
  ledger_.name_claimants();
  ASSERT_EQ(ledger_.evictions().size(), 2U);
  for (const PlannedEviction& eviction : ledger_.evictions()) EXPECT_EQ(eviction.for_gang, all_.problem.gang("two"));
}

// Queue `left` is beyond its share; `fill`, of queue `right`, may reclaim what `new` would have preempted.
class LedgerOfTwoQueues : public Ledger {
 protected:
  LedgerOfTwoQueues()
      : Ledger(R"("queues":[{"name":"left","gpu":{"quota":0}},{"name":"right","gpu":{"quota":2}}],
          "nodes":[{"name":"a","gpus":{"count":2}}],
          "pods":[{"name":"low","queue":"left","node":"a","gpus":[0],"gpu":{"count":1},"priority":1},
                  {"name":"high","queue":"left","node":"a","gpus":[1],"gpu":{"count":1},"priority":5},
                  {"name":"new","queue":"left","gpu":{"count":1},"priority":9},
                  {"name":"fill","queue":"right","gpu":{"count":2},"priority":1}])") {}
};

TEST_F(LedgerOfTwoQueues, AnotherClaimantMayHaveAnotherReason) {
  ledger_.take({low_, high_}, all_.claim);
  all_.state.put(all_.pod("fill"), all_.node("a"), {0, 1});
  ledger_.name_claimants();
  ASSERT_EQ(ledger_.evictions().size(), 2U);
  for (const PlannedEviction& eviction : ledger_.evictions()) {
    EXPECT_EQ(eviction.for_gang, all_.problem.gang("fill"));
    EXPECT_EQ(eviction.reason, EvictionReason::kReclaim);
  }
}

TEST_F(Ledger, TheLossIsThatOfPodsThatArePlacedNowhere) {
  const Pod& high = all_.problem->pods[high_];
  ledger_.take({low_, high_}, all_.claim);
  all_.state.put(low_, all_.node("a"), {1});
  EXPECT_EQ(ledger_.evicted_loss(), high.weighted_work * high.run_seconds);
}

class LimitedMoves : public Ledger {
 protected:
  LimitedMoves() : Ledger(std::string(R"("policy":{"maxMoves":1},)") + kTwoRun) {}
};

TEST_F(LimitedMoves, AreCountedAsTheyAre) {
  EXPECT_TRUE(ledger_.may_move_more(1));
  EXPECT_FALSE(ledger_.may_move_more(2));
  ledger_.take({low_, high_}, all_.claim);
  all_.state.put(low_, all_.node("a"), {1});
  EXPECT_TRUE(ledger_.may_move_more(0));
  EXPECT_FALSE(ledger_.may_move_more(1));
}

}  // namespace
}  // namespace muster::preemption
