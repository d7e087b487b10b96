#include "heuristics/preemption/arrivals.h"

#include <vector>

#include <gtest/gtest.h>

#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

// A chain of moves: `new` takes the room of `one`, which takes that of `two`, which goes to the free node.
class ArrivalsTest : public testing::Test {
 protected:
  ArrivalsTest() {
    all_.claim_for("new", PreemptionMode::kPreempt);
    all_.ledger.take({one_, two_, apart_}, all_.claim);
    all_.state.put(new_, all_.node("a"), {0});
    all_.state.put(one_, all_.node("b"), {0});
    all_.state.put(two_, all_.node("c"), {0});
    all_.state.put(apart_, all_.node("e"), {0});
    arrivals_.set_moves({{apart_, other_}, {one_, none_}, {two_, none_}});
  }
  bool is_for(PodIndex pod, GangIndex gang) const {
    return arrivals_.any_claimant(pod, [&](GangIndex claimant) { return claimant == gang; });
  }

  Planning all_{R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}},
                            {"name":"c","gpus":{"count":1}},{"name":"d","gpus":{"count":1}},
                            {"name":"e","gpus":{"count":1}}],
                   "pods":[{"name":"one","node":"a","gpus":[0],"gpu":{"count":1}},
                           {"name":"two","node":"b","gpus":[0],"gpu":{"count":1}},
                           {"name":"apart","node":"d","gpus":[0],"gpu":{"count":1}},
                           {"name":"new","priority":9,"gpu":{"count":1}},
                           {"name":"other","priority":9,"gpu":{"count":1}}])"};
  PodIndex one_ = all_.pod("one"), two_ = all_.pod("two"), apart_ = all_.pod("apart"), new_ = all_.pod("new");
  GangIndex claimant_ = all_.problem.gang("new"), other_ = all_.problem.gang("other"), none_;
  Arrivals arrivals_{all_.state, all_.ledger};
};

TEST_F(ArrivalsTest, AreMovedForThoseThatCameInTheEnd) {
  EXPECT_TRUE(is_for(one_, claimant_) && is_for(two_, claimant_) && is_for(new_, claimant_));
  EXPECT_FALSE(is_for(one_, other_) || is_for(two_, other_));
}

TEST_F(ArrivalsTest, AreMovedForTheNamedGangIfNobodyCame) {
  EXPECT_TRUE(is_for(apart_, other_));
  EXPECT_FALSE(is_for(apart_, claimant_));
}

TEST_F(ArrivalsTest, TellsAllAtOnceWhatItTellsOfEach) {
  const auto for_none = [&](GangIndex gang) {
    return arrivals_.moved_for_none([&](GangIndex claimant) { return claimant == gang; });
  };
  EXPECT_EQ(for_none(claimant_), (std::vector{apart_}));
  EXPECT_EQ(for_none(other_), (std::vector{one_, two_}));
}

TEST_F(ArrivalsTest, EndInACircle) {
  all_.state.take(new_);
  all_.state.take(two_);
  all_.state.put(two_, all_.node("a"), {0});
  EXPECT_FALSE(is_for(one_, claimant_) || is_for(two_, claimant_));
  EXPECT_EQ(arrivals_.moved_for_none([](GangIndex gang) { return !gang.is_none(); }), (std::vector{one_, two_}));
}

}  // namespace
}  // namespace muster::preemption
