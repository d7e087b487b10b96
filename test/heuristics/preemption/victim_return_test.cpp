#include <gtest/gtest.h>

#include "heuristics/preemption/settling.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

class Returns : public testing::Test {
 protected:
  Returns() {
    all_.claim_for("new", PreemptionMode::kPreempt);
    all_.context.watch.has_grown();
    all_.ledger.begin_attempt();
    all_.ledger.expect_evictions();
  }
  Planning all_{kTwoRun};
  PodIndex low_ = all_.pod("low"), high_ = all_.pod("high"), new_ = all_.pod("new"), other_ = all_.pod("other");
};

TEST_F(Returns, AVictimThatIsNotInTheWayComesBack) {
  all_.ledger.take({low_, high_}, all_.claim);
  all_.state.put(new_, all_.node("a"), {0});
  settle_victims(all_.context);
  EXPECT_FALSE(all_.state.is_present(low_));
  EXPECT_TRUE(is_home(all_.state, high_));
}

TEST_F(Returns, AVictimMovesOnWhereItFits) {
  all_.state.take(other_);  // leaves room on `b`
  all_.ledger.take({low_}, all_.claim);
  all_.state.put(new_, all_.node("a"), {0});
  settle_victims(all_.context);
  EXPECT_EQ(all_.state.node_of(low_), all_.node("b"));
}

TEST_F(Returns, AMovedVictimGoesHomeOnceItCan) {
  all_.state.take(other_);
  all_.ledger.take({low_}, all_.claim);
  all_.state.put(low_, all_.node("b"), {0});
  bring_victims_back(all_.context);
  EXPECT_TRUE(is_home(all_.state, low_));
  EXPECT_TRUE(all_.ledger.evictions().empty());
}

TEST_F(Returns, PodsThatGaveWayArePlacedAgain) {
  all_.state.take(other_);
  all_.state.put(new_, all_.node("b"), {0});
  all_.claim_for("two", PreemptionMode::kPreempt);
  all_.ledger.take({new_}, all_.claim);
  ASSERT_FALSE(all_.state.is_present(new_));
  place_again(all_.context);
  EXPECT_EQ(all_.state.node_of(new_), all_.node("b"));
}

}  // namespace
}  // namespace muster::preemption
