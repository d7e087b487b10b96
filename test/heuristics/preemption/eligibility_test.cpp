#include <string>

#include <gtest/gtest.h>

#include "heuristics/preemption/candidate_builder.h"
#include "heuristics/preemption/victims.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

TEST(VictimEligibility, OnlyPodsOfLowerPriorityInTheSameQueueArePreempted) {
  Planning all(kTwoRun);
  all.claim_for("other", PreemptionMode::kPreempt);
  EXPECT_TRUE(may_evict(all.context, all.claim, all.pod("low")));
  EXPECT_TRUE(may_evict(all.context, all.claim, all.pod("high")));
  EXPECT_FALSE(may_evict(all.context, all.claim, all.pod("other"))) << "the claimant's own";
  all.claim_for("high", PreemptionMode::kPreempt);
  EXPECT_FALSE(may_evict(all.context, all.claim, all.pod("other")));
}

TEST(VictimEligibility, NothingIsEvictedForMovesOrSwaps) {
  Planning all(kTwoRun);
  for (const PreemptionMode mode : {PreemptionMode::kSwap, PreemptionMode::kConsolidate}) {
    all.claim_for("new", mode);
    EXPECT_FALSE(may_evict(all.context, all.claim, all.pod("low")));
    EXPECT_TRUE(may_move(all.context, all.claim, all.pod("low")));
  }
}

TEST(VictimEligibility, AnExchangeIsLimitedToOneQueueAndPriorityAndToShortRuns) {
  Planning all(kTwoRun);
  all.claim_for("new", PreemptionMode::kPreempt);
  const Gang& gang = all.problem->gangs[all.problem.gang("low")];
  const std::int64_t seconds = all.problem->pods[all.pod("low")].run_seconds;
  all.claim.exchange = ExchangeLimit{gang.queue, gang.priority, seconds};
  EXPECT_TRUE(may_evict(all.context, all.claim, all.pod("low")));
  EXPECT_FALSE(may_evict(all.context, all.claim, all.pod("high"))) << "of another priority";
  all.claim.exchange->most_seconds = seconds - 1;
  EXPECT_FALSE(may_evict(all.context, all.claim, all.pod("low")));
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
  ClearableCapacity capacity(all.context);
  capacity.begin_scan(all.claim);
  EXPECT_TRUE(capacity.may_evict_at_first(all.claim, all.pod("a")));
  all.state.take(all.pod("b"));
  all.state.take(all.pod("c"));
  EXPECT_FALSE(may_evict(all.context, all.claim, all.pod("a")));
  EXPECT_TRUE(capacity.may_evict_at_first(all.claim, all.pod("a"))) << "as of the start of the scan";
  capacity.begin_scan(all.claim);
  EXPECT_FALSE(capacity.may_evict_at_first(all.claim, all.pod("a")));
}

TEST(VictimEligibility, IsHopelessWhereNothingMayLeave) {
  Planning all(kTwoRun);
  const auto is_hopeless_for = [&](const char* gang, PreemptionMode mode) {
    return is_hopeless(all.context, all.claim_for(gang, mode).claim);
  };
  EXPECT_FALSE(is_hopeless_for("new", PreemptionMode::kPreempt));
  EXPECT_TRUE(is_hopeless_for("low", PreemptionMode::kPreempt)) << "nothing is below it";
  EXPECT_TRUE(is_hopeless_for("new", PreemptionMode::kReclaim)) << "there is one queue";
  EXPECT_TRUE(is_hopeless_for("new", PreemptionMode::kSwap)) << "nothing was placed later";
  EXPECT_FALSE(is_hopeless_for("new", PreemptionMode::kConsolidate));
}

}  // namespace
}  // namespace muster::preemption
