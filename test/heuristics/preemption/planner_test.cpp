#include "heuristics/preemption/planner.h"

#include <string>

#include <gtest/gtest.h>

#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

constexpr const char* kNode = R"("nodes":[{"name":"n","resources":{"cpu":64},"gpus":{"count":8}}],)";
constexpr const char* kRuns = R"({"name":"a","resources":{"cpu":1},"gpu":{"count":6},"node":"n"})";
constexpr const char* kWaits = R"({"name":"b","resources":{"cpu":1},"gpu":{"count":1}})";
constexpr std::int32_t kRank = 0;

class Planned : public Planning {
 public:
  explicit Planned(const std::string& body) : Planning(body) {}
  bool claim_minimum(const char* gang) { return planner.claim_minimum(problem.gang(gang), kRank); }

  PreemptionPlanner planner{{rules, placer, never}};
};

TEST(PreemptionPlanner, ClaimsMayBeMetIfSomePodMayBeEvicted) {
  const std::string both = std::string(R"("pods":[)") + kRuns + "," + kWaits + "]";
  EXPECT_TRUE(Planned(kNode + both).planner.may_claim(kRank));
  EXPECT_FALSE(Planned(std::string(R"("policy":{"actions":["place"]},)") + kNode + both).planner.may_claim(kRank));
  EXPECT_FALSE(Planned(std::string(kNode) + R"("pods":[)" + kWaits + "]").planner.may_claim(kRank)) << "nothing runs";
}

TEST(PreemptionPlanner, ClaimsMayBeMetByWhatWasPlacedAtALaterRank) {
  Planned all(std::string(R"("policy":{"actions":["place"]},)") + kNode + R"("pods":[)" + kWaits + "]");
  ASSERT_TRUE(all.placer.place_minimum(all.problem.gang("b")));
  all.planner.context().ranks.note(all.problem.gang("b"), 3);
  EXPECT_TRUE(all.planner.may_claim(2));
  EXPECT_FALSE(all.planner.may_claim(3));
}

TEST(PreemptionPlanner, AClaimEvictsTheLeastForTheGang) {
  Planned all(kTwoRun);
  ASSERT_TRUE(all.claim_minimum("new"));
  const auto evictions = all.planner.context().ledger.evictions();
  ASSERT_EQ(evictions.size(), 1U);
  EXPECT_EQ(evictions[0].pod, all.pod("low"));
  EXPECT_EQ(evictions[0].reason, EvictionReason::kPreempt);
  EXPECT_TRUE(all.planner.context().ledger.has_evicted());
  EXPECT_TRUE(all.planner.context().rules_hold());
}

TEST(PreemptionPlanner, AClaimThatFailsChangesNothing) {
  Planned all(kTwoRun);
  const auto before = all.state.checkpoint();
  EXPECT_FALSE(all.claim_minimum("three"));
  EXPECT_EQ(all.state.checkpoint(), before);
  EXPECT_TRUE(all.planner.context().ledger.evictions().empty());
  EXPECT_FALSE(all.planner.context().ledger.has_evicted());
}

TEST(PreemptionPlanner, PodsOfALaterRankGiveWayBeforeAnythingIsEvicted) {
  Planned all(R"(
   "nodes":[{"name":"n","gpus":{"count":2}}],
   "pods":[{"name":"runs","node":"n","gpus":[0],"gpu":{"count":1},"priority":1},
           {"name":"late","gpu":{"count":1},"priority":1},
           {"name":"early","gpu":{"count":1},"priority":9}])");
  ASSERT_TRUE(all.placer.place_minimum(all.problem.gang("late")));
  all.planner.context().ranks.note(all.problem.gang("late"), kRank + 1);
  ASSERT_TRUE(all.claim_minimum("early"));
  EXPECT_FALSE(all.state.is_present(all.pod("late")));
  EXPECT_TRUE(all.planner.context().ledger.evictions().empty());
}

TEST(PreemptionPlanner, AClaimIsNotTriedOnceItIsStopped) {
  Planned all(kTwoRun);
  all.never = [] { return true; };
  EXPECT_FALSE(all.claim_minimum("new"));
  EXPECT_TRUE(all.planner.context().stop.is_raised());
}

TEST(PreemptionPlanner, AVictimIsReprievedOnceItsClaimantHasLeft) {
  Planned all(kTwoRun);
  ASSERT_TRUE(all.claim_minimum("new"));
  all.state.take(all.pod("new"));
  all.planner.reprieve();
  EXPECT_TRUE(all.state.is_present(all.pod("low")));
  EXPECT_TRUE(all.planner.context().ledger.evictions().empty());
}

// `old` was evicted, though `young` of the same priority has run for a shorter time.
constexpr const char* kOldAndYoung = R"(
 "nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}}],
 "pods":[{"name":"old","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":100000},
         {"name":"young","node":"b","gpus":[0],"gpu":{"count":1},"priority":1,"started":999000},
         {"name":"new","gpu":{"count":1},"priority":9}])";

TEST(PreemptionPlanner, VictimsAreExchangedForThoseThatHaveRunForAShorterTime) {
  Planned all(kOldAndYoung);
  all.state.take(all.pod("old"));
  all.state.put(all.pod("new"), all.node("a"), {0});
  all.planner.adopt({{all.pod("old"), EvictionReason::kPreempt, all.problem.gang("new")}});
  all.planner.exchange_victims();
  all.planner.reprieve();
  EXPECT_TRUE(all.state.is_present(all.pod("old")));
  EXPECT_FALSE(all.state.is_present(all.pod("young")));
  EXPECT_TRUE(all.planner.context().rules_hold());
}

TEST(PreemptionPlanner, NothingIsExchangedIfMovesAreNotAllowed) {
  Planned all(std::string(R"("policy":{"actions":["place","preempt"]},)") + kOldAndYoung);
  all.state.take(all.pod("old"));
  all.state.put(all.pod("new"), all.node("a"), {0});
  all.planner.adopt({{all.pod("old"), EvictionReason::kPreempt, all.problem.gang("new")}});
  all.planner.exchange_victims();
  EXPECT_FALSE(all.state.is_present(all.pod("old")));
  EXPECT_TRUE(all.state.is_present(all.pod("young")));
}

}  // namespace
}  // namespace muster::preemption
