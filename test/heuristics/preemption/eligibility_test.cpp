#include "heuristics/preemption/eligibility.h"

#include <string>

#include <gtest/gtest.h>

#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

TEST(VictimEligibility, OnlyPodsOfLowerPriorityInTheSameQueueArePreempted) {
  Planning all(kTwoRun);
  all.claim_for("other", PreemptionMode::kPreempt);
  EXPECT_TRUE(all.eligibility.may_evict(all.pod("low")));
  EXPECT_TRUE(all.eligibility.may_evict(all.pod("high")));
  EXPECT_FALSE(all.eligibility.may_evict(all.pod("other"))) << "the claimant's own";
  all.claim_for("high", PreemptionMode::kPreempt);
  EXPECT_FALSE(all.eligibility.may_evict(all.pod("other")));
}

TEST(VictimEligibility, NothingIsEvictedForMovesOrSwaps) {
  Planning all(kTwoRun);
  for (const PreemptionMode mode : {PreemptionMode::kSwap, PreemptionMode::kConsolidate}) {
    all.claim_for("new", mode);
    EXPECT_FALSE(all.eligibility.may_evict(all.pod("low")));
    EXPECT_TRUE(all.eligibility.may_move(all.pod("low")));
  }
}

TEST(VictimEligibility, AnExchangeIsLimitedToOneQueueAndPriorityAndToShortRuns) {
  Planning all(kTwoRun);
  all.claim_for("new", PreemptionMode::kPreempt);
  const Gang& gang = all.problem->gangs[all.problem.gang("low")];
  const std::int64_t seconds = all.problem->pods[all.pod("low")].run_seconds;
  all.claim.exchange = ExchangeLimit{gang.queue, gang.priority, seconds};
  EXPECT_TRUE(all.eligibility.may_evict(all.pod("low")));
  EXPECT_FALSE(all.eligibility.may_evict(all.pod("high"))) << "of another priority";
  all.claim.exchange->most_seconds = seconds - 1;
  EXPECT_FALSE(all.eligibility.may_evict(all.pod("low")));
}

// Four GPUs, quotas of two each; all four run in `x`.
constexpr const char* kReclaimed = R"(
 "nodes":[{"name":"n","gpus":{"count":4}}],
 "queues":[{"name":"x","gpu":{"quota":2}},{"name":"y","gpu":{"quota":2}}],
 "pods":[{"name":"a","queue":"x","node":"n","gpus":[0],"gpu":{"count":1}},
         {"name":"b","queue":"x","node":"n","gpus":[1],"gpu":{"count":1}},
         {"name":"c","queue":"x","node":"n","gpus":[2],"gpu":{"count":1}},
         {"name":"d","queue":"x","node":"n","gpus":[3],"gpu":{"count":1}},
         {"name":"waits","queue":"y","gpu":{"count":1}}])";

TEST(VictimEligibility, AQueueIsReclaimedFromWhileItIsAboveItsShare) {
  Planning all(kReclaimed);
  all.claim_for("waits", PreemptionMode::kReclaim);
  all.eligibility.begin_scan();
  EXPECT_TRUE(all.eligibility.may_evict_at_first(all.pod("a")));
  all.state.take(all.pod("b"));
  all.state.take(all.pod("c"));
  EXPECT_FALSE(all.eligibility.may_evict(all.pod("a")));
  EXPECT_TRUE(all.eligibility.may_evict_at_first(all.pod("a"))) << "as of the start of the scan";
  all.eligibility.begin_scan();
  EXPECT_FALSE(all.eligibility.may_evict_at_first(all.pod("a")));
}

TEST(VictimEligibility, IsHopelessWhereNothingMayLeave) {
  Planning all(kTwoRun);
  EXPECT_FALSE(all.claim_for("new", PreemptionMode::kPreempt).eligibility.is_hopeless());
  EXPECT_TRUE(all.claim_for("low", PreemptionMode::kPreempt).eligibility.is_hopeless()) << "nothing is below it";
  EXPECT_TRUE(all.claim_for("new", PreemptionMode::kReclaim).eligibility.is_hopeless()) << "there is one queue";
  EXPECT_TRUE(all.claim_for("new", PreemptionMode::kSwap).eligibility.is_hopeless()) << "nothing was placed later";
  EXPECT_FALSE(all.claim_for("new", PreemptionMode::kConsolidate).eligibility.is_hopeless());
}

}  // namespace
}  // namespace muster::preemption
