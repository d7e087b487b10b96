#include "heuristics/preemption/reprieve.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/plan_of.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "test/support/plan.h"

namespace muster::preemption {
namespace {

// A plan put together by hand, and what is made of it.
class Reprieve : public testing::Test {
 protected:
  void build(const std::string& body) {
    problem_ = std::make_unique<test::Case>(body);
    state_ = std::make_unique<ClusterState>(**problem_, ClusterState::Releasing::kFreed);
  }
  void put(const char* pod, const char* node, const std::vector<std::int32_t>& devices = {0}) {
    state_->put(problem_->pod(pod), problem_->node(node), devices);
  }
  void evict(const char* pod, EvictionReason reason, const char* claimant) {
    state_->take(problem_->pod(pod));
    evictions_.push_back({problem_->pod(pod), reason, problem_->gang(claimant)});
  }
  // After it, expected to be legal and no worse.
  Plan reprieved(const StopRequest& stop = {}) const {
    const Problem& problem = **problem_;
    const FairShares& shares = problem_->shares();
    Candidate before{plan_of(problem, *state_, evictions_), {}};
    before.levels = evaluate(problem, shares, before.plan);
    const Candidate after = reprieve_victims(problem, shares, before, stop);
    EXPECT_EQ(after.levels, evaluate(problem, shares, after.plan));
    EXPECT_TRUE(compare(after.levels, before.levels, level_ids(problem)) >= 0);
    test::expect_legal(*problem_, after.plan);
    return after.plan;
  }
  std::string node_of(const Plan& plan, const char* pod) const { return test::nodes_of(*problem_, plan, {pod}); }

  std::unique_ptr<test::Case> problem_;
  std::unique_ptr<ClusterState> state_;
  std::vector<PlannedEviction> evictions_;
};

constexpr const char* kTwoNodes =
    R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":1767225000},
               {"name":"waits","gpu":{"count":1},"priority":9}])";

TEST_F(Reprieve, AMovedPodReturnsIfTheNewPodFitsElsewhere) {
  build(kTwoNodes);
  evict("runs", EvictionReason::kConsolidate, "waits");
  put("runs", "b");
  put("waits", "a");
  const Plan plan = reprieved();
  EXPECT_TRUE(plan.evictions.empty());
  EXPECT_EQ(node_of(plan, "waits"), "b");
}

TEST_F(Reprieve, AVictimComesBackIfItsClaimantFitsElsewhere) {
  build(kTwoNodes);
  evict("runs", EvictionReason::kPreempt, "waits");
  put("waits", "a");
  const Plan plan = reprieved();
  EXPECT_TRUE(plan.evictions.empty());
  EXPECT_EQ(node_of(plan, "waits"), "b");
}

// Nothing has been claimed there: a pod that comes back is not checked against a claimant's needs.
TEST_F(Reprieve, AVictimComesBackIfNothingMayBeMoved) {
  build(std::string(R"("policy":{"actions":["place","preempt"]},)") + kTwoNodes);
  evict("runs", EvictionReason::kPreempt, "waits");
  put("waits", "b");
  const Plan plan = reprieved();
  EXPECT_TRUE(plan.evictions.empty());
  EXPECT_EQ(node_of(plan, "waits"), "b");
}

// The new pod fits on `b` alone, and the pod there goes where the moved pod was.
TEST_F(Reprieve, OtherPodsMakeWayForThePodThatMakesWay) {
  build(
      R"("nodes":[{"name":"a","gpus":{"count":1},"labels":{"disk":"ssd"}},{"name":"b","gpus":{"count":1},"labels":{"disk":"ssd"}},
                  {"name":"c","gpus":{"count":1}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":1767225000},
               {"name":"waits","gpu":{"count":1},"priority":9,"nodeSelector":{"disk":"ssd"}},
               {"name":"other","gpu":{"count":1},"priority":9}])");
  evict("runs", EvictionReason::kConsolidate, "waits");
  put("runs", "c");
  put("waits", "a");
  put("other", "b");
  const Plan plan = reprieved();
  EXPECT_TRUE(plan.evictions.empty());
  EXPECT_EQ(node_of(plan, "waits"), "b");
  EXPECT_EQ(node_of(plan, "other"), "c");
}

TEST_F(Reprieve, AVictimWhoseRoomIsNeededStaysAway) {
  build(
      R"("nodes":[{"name":"a","gpus":{"count":1}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":1767225000},
               {"name":"waits","gpu":{"count":1},"priority":9}])");
  evict("runs", EvictionReason::kPreempt, "waits");
  put("waits", "a");
  const Plan plan = reprieved();
  EXPECT_EQ(plan.evictions.size(), 1U);
  EXPECT_EQ(node_of(plan, "waits"), "a");
}

// Once the first victim is back and the new pod elsewhere, the second one could have stayed, too: the referee objects
// to its eviction.
TEST_F(Reprieve, IsLegalHoweverEarlyItIsStopped) {
  std::size_t most_returned = 0;
  for (int answers = 0; answers < 30; ++answers) {
    SCOPED_TRACE(answers);
    build(
        R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
         "pods":[{"name":"first","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":1767225000},
                 {"name":"second","node":"a","gpus":[1],"gpu":{"count":1},"priority":1,"started":1767225000},
                 {"name":"waits","gpu":{"count":2},"priority":9}])");
    evictions_.clear();
    evict("first", EvictionReason::kPreempt, "waits");
    evict("second", EvictionReason::kPreempt, "waits");
    put("waits", "a", {0, 1});
    const Plan plan = reprieved([left = answers]() mutable { return left-- <= 0; });
    most_returned = std::max(most_returned, 2 - plan.evictions.size());
  }
  EXPECT_EQ(most_returned, 2U);
}

// A plan in which pods left in vain, and what is made of it.
Plan settled(const test::Case& of, const std::string& text) {
  const Plan after = settle_rights(*of, of.shares(), test::plan_of(of, text), {}).plan;
  test::expect_legal(of, after);
  return after;
}

// "small" and "big" may not evict "runs", which is of their priority.
TEST(SettleRights, TheGangThatLosesLeastGivesWay) {
  const test::Case of(
      R"("nodes":[{"name":"a","gpus":{"count":4}}],
       "gangs":[{"name":"small","priority":5},{"name":"big","minMember":2,"priority":5}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":5,"started":1767225000},
               {"name":"big-0","gang":"big","gpu":{"count":1}},{"name":"big-1","gang":"big","gpu":{"count":1}},
               {"name":"small-0","gang":"small","gpu":{"count":1}},
               {"name":"high","gpu":{"count":1},"priority":9}])");
  const Plan plan = settled(of,
                            "place big-0 a gpus 0 after runs\nplace big-1 a gpus 1\nplace small-0 a gpus 2\n"
                            "place high a gpus 3\nevict runs preempt high\n");
  EXPECT_EQ(test::nodes_of(of, plan, {"big-0", "big-1", "small-0", "high"}), "a a - a");
  EXPECT_TRUE(plan.evictions.empty());
}

// Each queue has a share of 2 GPUs; with one pod less, queue y is within it, and reclaims by right.
TEST(SettleRights, AQueueAboveItsShareGivesUpOnlyWhatItHasTooMuch) {
  const test::Case of(
      R"("nodes":[{"name":"a","gpus":{"count":4}}],
       "queues":[{"name":"x","gpu":{"quota":0}},{"name":"y","gpu":{"quota":0}}],
       "pods":[{"name":"r0","queue":"x","node":"a","gpus":[0],"gpu":{"count":1},"started":1767225000},
               {"name":"r1","queue":"x","node":"a","gpus":[1],"gpu":{"count":1},"started":1767225000},
               {"name":"r2","queue":"x","node":"a","gpus":[2],"gpu":{"count":1},"started":1767225000},
               {"name":"r3","queue":"x","node":"a","gpus":[3],"gpu":{"count":1},"started":1767225000},
               {"name":"high","queue":"x","gpu":{"count":1},"priority":9},
               {"name":"y0","queue":"y","gpu":{"count":1}},{"name":"y1","queue":"y","gpu":{"count":1}},
               {"name":"y2","queue":"y","gpu":{"count":1}}])");
  const Plan plan = settled(of,
                            "place y0 a gpus 0 after r0\nplace y1 a gpus 1 after r1\nplace y2 a gpus 2 after r2\n"
                            "place high a gpus 3 after r3\nevict r0 preempt high\nevict r1 preempt high\n"
                            "evict r2 preempt high\nevict r3 preempt high\n");
  EXPECT_EQ(test::placed_pods(of, plan).size(), 3U);
  EXPECT_TRUE(test::placed_pods(of, plan).contains("high"));
}

// "two" may not evict "runs", "one" and "more" may: they change places with it.
TEST(SettleRights, APodWithoutRightChangesPlacesWithSeveralSmallerOnes) {
  const test::Case of(
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":7,"started":1767225000},
               {"name":"two","gpu":{"count":2},"priority":7},
               {"name":"one","gpu":{"count":1},"priority":9},{"name":"more","gpu":{"count":1},"priority":9}])");
  const Plan plan = settled(of,
                            "place two a gpus 0 1 after runs\nplace one b gpus 0\nplace more b gpus 1\n"
                            "evict runs preempt one\n");
  EXPECT_EQ(test::nodes_of(of, plan, {"two", "one", "more"}), "b a a");
}

// "two" has no right to the room of "runs" on either node; on "a" more has to change places than one pod.
TEST(SettleRights, AsManyPodsOfANodeChangePlacesAsItTakes) {
  const test::Case of(
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":7,"started":1767225000},
               {"name":"x","gpu":{"count":1},"priority":7},{"name":"y","gpu":{"count":1},"priority":7},
               {"name":"one","gpu":{"count":1},"priority":9},{"name":"more","gpu":{"count":1},"priority":9}])");
  const Plan plan = settled(of,
                            "place x a gpus 0 after runs\nplace y a gpus 1\nplace one b gpus 0\nplace more b gpus 1\n"
                            "evict runs preempt one\n");
  EXPECT_EQ(test::nodes_of(of, plan, {"x", "y", "one", "more"}), "b b a a");
}

// "moved" has come to the room of "runs", and goes on to where "high" was.
TEST(SettleRights, AMovedPodWithoutRightChangesPlaces) {
  const test::Case of(
      R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}},{"name":"c","gpus":{"count":2}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":7,"started":1767225000},
               {"name":"moved","node":"c","gpus":[0],"gpu":{"count":1},"priority":7,"started":1767225000},
               {"name":"two","gpu":{"count":2},"priority":7},{"name":"high","gpu":{"count":1},"priority":9}])");
  const Plan plan = settled(of,
                            "place moved a gpus 0 after runs\nplace two c gpus 0 1 after moved\nplace high b gpus 0\n"
                            "evict runs preempt high\nevict moved consolidate two\n");
  EXPECT_EQ(test::nodes_of(of, plan, {"moved", "two", "high"}), "b c a");
}

// "runs" has to come back. The pod of "big" that is in its way takes the place of "small", so that "big" need not give
// way.
TEST(SettleRights, WhatIsInTheWayGoesInPlaceOfAGangThatLosesLess) {
  const test::Case of(
      R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":2}},{"name":"c","gpus":{"count":1}}],
       "queues":[{"name":"x"},{"name":"y"}],"policy":{"actions":["place","preempt"]},
       "gangs":[{"name":"big","queue":"y","minMember":3,"priority":5}],
       "pods":[{"name":"runs","queue":"x","node":"a","gpus":[0],"gpu":{"count":1},"priority":5,"started":1767225000},
               {"name":"big-0","gang":"big","gpu":{"count":1}},{"name":"big-1","gang":"big","gpu":{"count":1}},
               {"name":"big-2","gang":"big","gpu":{"count":1}},
               {"name":"small","queue":"y","gpu":{"count":1},"priority":5}])");
  const Plan plan = settled(of,
                            "place big-0 a gpus 0 after runs\nplace big-1 b gpus 0\nplace big-2 b gpus 1\n"
                            "place small c gpus 0\nevict runs preempt big\n");
  EXPECT_EQ(test::nodes_of(of, plan, {"big-0", "big-1", "big-2", "small"}), "c b b -");
  EXPECT_TRUE(plan.evictions.empty());
}

// "p" may evict "v" alone, and "q" "u" alone: whichever of them is on "a", one of the two has left in vain.
TEST(SettleRights, ExchangesDoNotGoRoundInACircle) {
  const test::Case of(
      R"("policy":{"actions":["place","preempt"]},"queues":[{"name":"x"},{"name":"y"}],
       "nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}}],
       "pods":[{"name":"u","queue":"x","node":"a","gpus":[0],"gpu":{"fraction":0.5},"priority":5,"started":1767225000},
               {"name":"v","queue":"y","node":"a","gpus":[0],"gpu":{"fraction":0.5},"priority":5,"started":1767225000},
               {"name":"p","queue":"y","gpu":{"count":1},"priority":7},
               {"name":"q","queue":"x","gpu":{"count":1},"priority":7}])");
  const Plan plan = settled(of, "place p a gpus 0 after u v\nplace q b gpus 0\nevict u preempt q\nevict v preempt p\n");
  EXPECT_EQ(test::placed_pods(of, plan).size(), 1U);
  EXPECT_TRUE(plan.evictions.empty());
}

// "other" leaves "high" no room within the limit of their queue, wherever it runs.
TEST(SettleRights, APodThatALimitKeepsOutStaysAway) {
  const test::Case of(
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}}],
       "queues":[{"name":"x","gpu":{"limit":1}},{"name":"y"}],
       "pods":[{"name":"runs","queue":"x","node":"a","gpus":[0],"gpu":{"count":1},"started":1767225000},
               {"name":"high","queue":"x","gpu":{"count":1},"priority":9},
               {"name":"other","queue":"y","gpu":{"count":1}}])");
  const Plan plan = settled(of, "place high b gpus 0\nplace other a gpus 0 after runs\nevict runs preempt high\n");
  EXPECT_EQ(test::nodes_of(of, plan, {"high", "other"}), "b a");
}

// "low" comes later in the order of the levels than "gang", which had taken the room of "runs".
TEST(SettleRights, WhatGaveWayClaimsRoomElsewhere) {
  const test::Case of(
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":7,"started":1767225000},
               {"name":"gang","gpu":{"count":1},"priority":7},{"name":"low","gpu":{"count":1},"priority":3},
               {"name":"high","gpu":{"count":1},"priority":9}])");
  const Plan plan = settled(of,
                            "place gang a gpus 0 after runs\nplace high a gpus 1\nplace low b gpus 0\n"
                            "evict runs preempt high\n");
  EXPECT_EQ(test::nodes_of(of, plan, {"gang", "low", "high"}), "b - a");
  EXPECT_TRUE(plan.evictions.empty());
}

}  // namespace
}  // namespace muster::preemption
