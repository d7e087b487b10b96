// The pods that could be evicted, by kind, and the grounds for evicting them.
#include "model/explain/alike_victims.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::explain {
namespace {

// Queue q holds the whole node, though its share is a half of it.
const std::string kCluster =
    R"("nodes":[{"name":"a","gpus":{"count":4}}],"queues":[{"name":"q","gpu":{"quota":2}},{"name":"other","gpu":{"quota":2}}],)"
    R"("gangs":[{"name":"low","queue":"q","priority":1},{"name":"twin","queue":"q","priority":1},)"
    R"({"name":"kept","queue":"q","priority":1,"preemptible":false},{"name":"mine","queue":"q","priority":5},)"
    R"({"name":"equal","queue":"q","priority":1},{"name":"theirs","queue":"other"}],"pods":[)"
    R"({"name":"l","gang":"low","node":"a","gpu":{"count":1}},{"name":"t","gang":"twin","node":"a","gpu":{"count":2}},)"
    R"({"name":"k","gang":"kept","node":"a","gpu":{"count":1}},{"name":"m","gang":"mine","gpu":{"count":1}},)"
    R"({"name":"e","gang":"equal","gpu":{"count":1}},{"name":"o","gang":"theirs","gpu":{"count":1}}])";

struct Grounds {
  Grounds() : built(kCluster), shares(compute_fair_shares(*built)), end(after_plan(*built, {})) {}
  bool may_go(std::string_view claimant, std::string_view pod, EvictionRuleSet rules) const {
    const Claim claim{built.gang(claimant), least_usage(*built, need_of_pods(*built, {built.pod(pod)}))};
    return EvictionGrounds(*built, shares, end).may_go(alike_victims(*built, end).front().kind, claim, rules);
  }
  test::Case built;
  FairShares shares;
  AfterPlan end;
};

TEST(AlikeVictims, AreOfOneKindIfNoRuleDistinguishesThem) {
  const Grounds grounds;
  const std::vector<AlikeVictims> victims = alike_victims(*grounds.built, grounds.end);
  ASSERT_EQ(victims.size(), 1U);
  EXPECT_EQ(victims[0].pods, (std::vector{grounds.built.pod("l"), grounds.built.pod("t")}));
  EXPECT_EQ(victims[0].usage[kQueueGpu], 3'000'000);
}

TEST(EvictionGrounds, LetAllGoWithoutRules) { EXPECT_TRUE(Grounds().may_go("equal", "e", {})); }

TEST(EvictionGrounds, OfThePriorityHoldWithinAQueue) {
  EXPECT_TRUE(Grounds().may_go("mine", "m", {.priority = true}));
  EXPECT_FALSE(Grounds().may_go("equal", "e", {.priority = true}));
}

TEST(EvictionGrounds, OfTheShareHoldBetweenQueues) {
  EXPECT_TRUE(Grounds().may_go("theirs", "o", {.share = true, .priority = true, .protection = true}));
}

TEST(EvictionGrounds, OfTheShareKeepWhatIsNotPreemptibleWithinItsQuota) {
  const std::string cluster =
      R"("policy":{"nonPreemptibleWithinQuota":false},"nodes":[{"name":"a","gpus":{"count":4}}],)"
      R"("queues":[{"name":"q","gpu":{"quota":0}},{"name":"mine","gpu":{"quota":0}}],)"
      R"("pods":[{"name":"r","queue":"q","node":"a","gpu":{"count":4}},{"name":"p","queue":"mine","gpu":{"count":1}},)"
      R"({"name":"kept","queue":"mine","gpu":{"count":1},"preemptible":false}])";
  const test::Case built(cluster);
  const FairShares shares = compute_fair_shares(*built);
  const AfterPlan end = after_plan(*built, {});
  const VictimKind victim = alike_victims(*built, end).front().kind;
  const auto may_go_for = [&](const char* pod) {
    const Claim claim{built.gang(pod), least_usage(*built, need_of_pods(*built, {built.pod(pod)}))};
    return EvictionGrounds(*built, shares, end).may_go(victim, claim, {.share = true});
  };
  EXPECT_TRUE(may_go_for("p"));
  EXPECT_FALSE(may_go_for("kept")) << "rule Reclaim 2";
}

}  // namespace
}  // namespace muster::explain
