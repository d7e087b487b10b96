#include "model/explain/report.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "test/model/situation.h"

namespace muster::explain {
namespace {

TEST(Report, ListsEachGangWithSomethingPendingPlacedMovedOrEvicted) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"z"},{"name":"m"},{"name":"idle"},{"name":"b"}],"pods":[)" +
                      pods("z", 1, kOneGpu) + "," + pods("m", 1, kOneGpu + R"(,"node":"a")") + "," +
                      pods("idle", 1, kOneGpu + R"(,"node":"a")") + "," +
                      pods("b", 1, kOneGpu + R"(,"status":"gated")") + "]");
  situation.place("z-0", "a", {2}).place("m-0", "b", {0}).evict("m-0", EvictionReason::kConsolidate, "z");
  const Report report = situation.report();
  ASSERT_EQ(report.gangs.size(), 3U);
  EXPECT_EQ(situation.problem().gangs[report.gangs[0].gang].name, "z");
  EXPECT_EQ(situation.problem().gangs[report.gangs[1].gang].name, "m");
  EXPECT_EQ(situation.problem().gangs[report.gangs[2].gang].name, "b");
}

// One GPU, in use for three hours more.
Situation taken(const std::string& pods) {
  return Situation(R"("nodes":[{"name":"a","gpus":{"count":1}}],"pods":[{"name":"u","gpu":{"count":1},"node":"a",)"
                   R"("started":996400,"expectedDuration":"4h"},)" +
                   pods + "]");
}
std::string waits(const std::string& name, int gpus) {
  return R"({"name":")" + name + R"(","gpu":{"count":)" + std::to_string(gpus) + "}}";
}

TEST(Report, TellsWhenAGangThatWaitsIsExpectedToStart) {
  const GangReport waiting = taken(waits("w", 1)).gang("w");
  ASSERT_TRUE(waiting.expected_start);
  EXPECT_EQ(waiting.expected_start->time, (1'000'000 + 3 * 3600) * kNanosecondsPerSecond);
  EXPECT_EQ(waiting.expected_start->waits_for, forecast::StartObstacle::kNodes);
  EXPECT_FALSE(taken(waits("w", 2)).gang("w").expected_start) << "it never fits";
}

TEST(Report, ExpectsNoStartOfWhatIsPlacedAndIfThereIsNoTime) {
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":1}}],"policy":{"overTime":{},"expectedDurations":[]},"pods":[)" +
      waits("w", 1) + "," + waits("later", 1) + "]");
  situation.place("w", "a", {0});
  EXPECT_FALSE(situation.gang("w").expected_start);
  EXPECT_TRUE(situation.gang("later").expected_start);
  const Report hurried = situation.report([] { return true; });
  EXPECT_TRUE(
      std::ranges::none_of(hurried.gangs, [](const GangReport& gang) { return gang.expected_start.has_value(); }));
}

// The caller that reserves time for the report then knows how long it must take.
TEST(Report, TellsWhenOnlyTheReasonsAreLeftBeforeItLooksForAny) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"a"},{"name":"b"}],"pods":[)" + pods("a", 9, kOneGpu) +
                      "," + pods("b", 9, kOneGpu) + "]");
  int told = 0, asked = 0;
  const Report report = situation.report(
      [&] {
        EXPECT_EQ(told, 1);
        return asked++ > 0;
      },
      [&] {
        EXPECT_EQ(asked, 0);
        ++told;
      });
  EXPECT_EQ(told, 1);
  ASSERT_EQ(report.gangs.size(), 2U);
  EXPECT_EQ(reason_text(report.gangs[0].reason), "NeverFits");
  EXPECT_EQ(reason_text(report.gangs[1].reason), "NeverFits") << "which costs nothing";
  EXPECT_EQ(report.gangs[1].pending, 9);
}

TEST(Report, CountsAMovedPodAsRunningAndNotAsEvicted) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"z"},{"name":"m"}],"pods":[)" + pods("z", 1, kOneGpu) +
                      "," + pods("m", 1, kOneGpu + R"(,"node":"a")") + "]");
  situation.place("z-0", "a", {2}).place("m-0", "b", {0}).evict("m-0", EvictionReason::kConsolidate, "z");
  const GangReport moved = situation.gang("m");
  EXPECT_EQ(moved.phase, GangPhase::kRunning);
  EXPECT_EQ(moved.running, 1);
  EXPECT_EQ(moved.placed, 0);
  EXPECT_EQ(moved.evicted, 0);
  EXPECT_EQ(moved.pending, 0);
}

TEST(Report, SaysScheduledOfAGangWhoseMinimumIsPlacedNow) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g"}],"pods":[)" + pods("g", 2, kOneGpu) + "]");
  situation.place("g-0", "a", {0}).place("g-1", "b", {0});
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(gang.phase, GangPhase::kScheduled);
  EXPECT_EQ(gang.placed, 2);
  EXPECT_EQ(reason_text(gang.reason), "");
}

TEST(Report, SaysRunningOfAGangThatGrowsAndTellsOfTheSurplusThatIsLeft) {
  Situation situation(R"("nodes":[{"name":"a","gpus":{"count":2}}],"gangs":[{"name":"g","minMember":1}],"pods":[)" +
                      pods("g", 1, kOneGpu + R"(,"node":"a")") +
                      R"(,{"name":"x","gang":"g","gpu":{"count":1}},{"name":"y","gang":"g","gpu":{"count":1}}])");
  situation.place("x", "a", {1});
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(gang.phase, GangPhase::kRunning);
  EXPECT_EQ(gang.running, 1);
  EXPECT_EQ(gang.placed, 1);
  EXPECT_EQ(gang.pending, 1);
  EXPECT_EQ(reason_text(gang.reason), "InsufficientGpu");
  EXPECT_EQ(make_room_text(gang.make_room), "") << "it is not left over";
}

TEST(Report, SaysWaitingOfAGangThatIsPromisedTheRoomOfOthers) {
  Situation situation(R"("nodes":[{"name":"a","gpus":{"count":1}}],"gangs":[{"name":"g"}],"pods":[)" +
                      pods("g", 1, kOneGpu) + R"(,{"name":"old","node":"a","status":"releasing","gpu":{"count":1}}])");
  situation.place("g-0", "a", {0}, {"old"});
  EXPECT_EQ(situation.gang("g").phase, GangPhase::kWaiting);
}

TEST(Report, SaysEvictedOfAGangThatRanAndIsGone) {
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":1}}],"gangs":[{"name":"high","priority":60},{"name":"low"}],"pods":[)" +
      pods("high", 1, kOneGpu) + "," + pods("low", 1, kOneGpu + R"(,"node":"a")") + "]");
  situation.evict("low-0", EvictionReason::kPreempt, "high").place("high-0", "a", {0}, {"low-0"});
  const GangReport low = situation.gang("low");
  EXPECT_EQ(low.phase, GangPhase::kEvicted);
  EXPECT_EQ(low.evicted, 1);
  EXPECT_EQ(low.pending, 0);
  EXPECT_EQ(reason_text(low.reason), "Preempted");
  EXPECT_EQ(low.message, "1 pod is evicted to make room for high (preempt)");
}

TEST(Report, NamesAllGangsThatAreMadeRoomFor) {
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":2}}],"queues":[{"name":"default"},{"name":"q"}],"gangs":[{"name":"x","priority":60},)"
      R"({"name":"y","queue":"q"},{"name":"low"}],"pods":[)" +
      pods("x", 1, kOneGpu) + "," + pods("y", 1, kOneGpu) + "," + pods("low", 2, kOneGpu + R"(,"node":"a")") + "]");
  situation.evict("low-0", EvictionReason::kPreempt, "x").evict("low-1", EvictionReason::kReclaim, "y");
  situation.place("x-0", "a", {0}, {"low-0"}).place("y-0", "a", {1}, {"low-1"});
  const GangReport low = situation.gang("low");
  EXPECT_EQ(reason_text(low.reason), "Reclaimed");
  EXPECT_EQ(low.message, "2 pods are evicted to make room for x (preempt) and y (reclaim)");
}

TEST(Report, DescribesAMoveAsARestartWithSourceTargetAndClaimant) {
  Situation situation(kTwoNodesOfFour +
                      R"("gangs":[{"name":"wide"}],"pods":[{"name":"w","gang":"wide","gpu":{"count":4}},)" +
                      R"({"name":"m","node":"a","gpu":{"count":1}}])");
  situation.evict("m", EvictionReason::kConsolidate, "wide").place("m", "b", {0}).place("w", "a", {0, 1, 2, 3}, {"m"});
  const GangReport moved = situation.gang("m");
  EXPECT_EQ(moved.phase, GangPhase::kRunning);
  EXPECT_EQ(reason_text(moved.reason), "");
  EXPECT_EQ(moved.message, "moves a -> b (restarts the pod) to make room for wide");
}

TEST(Report, SaysStaleOfAGangThatGoesAsSuch) {
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":2}}],"gangs":[{"name":"g","minMember":2,"staleSince":999000}],"pods":[)" +
      pods("g", 1, kOneGpu + R"(,"node":"a")") + "]");
  situation.evict("g-0", EvictionReason::kStale);
  EXPECT_EQ(situation.gang("g").phase, GangPhase::kStale);
  EXPECT_EQ(reason_text(situation.gang("g").reason), "Stale");
}

TEST(Reasons, TimeoutComesBeforeEverything) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g","created":999000,"timeout":"60s"}],"pods":[)" +
                      pods("g", 1, kOneGpu) + R"(,{"name":"x","gang":"g","status":"gated"}])");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(gang.phase, GangPhase::kTimedOut);
  EXPECT_EQ(reason_text(gang.reason), "SchedulingTimeout");
}

TEST(Reasons, TimeoutComesBeforeGates) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g","created":999000,"timeout":"60s"}],"pods":[)" +
                      pods("g", 2, kOneGpu + R"(,"status":"gated")") + "]");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(gang.phase, GangPhase::kTimedOut);
  EXPECT_EQ(reason_text(gang.reason), "SchedulingTimeout");
}

TEST(Reasons, GatedWhereTheMinimumNeedsAGatedPod) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g","minMember":2}],"pods":[)" + pods("g", 1, kOneGpu) +
                      R"(,{"name":"x","gang":"g","status":"gated"}])");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(gang.phase, GangPhase::kGated);
  EXPECT_EQ(reason_text(gang.reason), "Gated");
  EXPECT_EQ(gang.pending, 2);
}

TEST(Reasons, NotEnoughPodsForTheMinimum) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g","minMember":3}],"pods":[)" + pods("g", 2, kOneGpu) +
                      "]");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "NotEnoughPods");
  EXPECT_EQ(situation.gang("g").phase, GangPhase::kUnschedulable);
}

TEST(Reasons, NotEnoughPodsNamesTheNumbersAndTheSubgroup) {
  Situation situation(
      kTwoNodesOfFour +
      R"("gangs":[{"name":"g","minMember":3},{"name":"h","subgroups":[{"name":"in","minSubgroups":1},)" +
      R"({"name":"a","minMember":2},{"name":"b","parent":"in","minMember":2}]}],"pods":[)" + pods("g", 2, kOneGpu) +
      R"(,{"name":"a-0","gang":"h","subgroup":"a"},{"name":"a-1","gang":"h","subgroup":"a"},)" +
      R"({"name":"b-0","gang":"h","subgroup":"b"}])");
  EXPECT_EQ(situation.gang("g").message, "the gang has fewer pods than its minimum: 2 of 3");
  EXPECT_EQ(situation.gang("h").message, "the gang has fewer pods than its minimum: subgroup b has 1 of 2");
}

TEST(Reasons, UnknownQueueAlsoWhereItIsNoLeaf) {
  Situation situation(kTwoNodesOfFour + R"("queues":[{"name":"top"},{"name":"leaf","parent":"top"}],)" +
                      R"("gangs":[{"name":"g","queue":"top"},{"name":"h","queue":"nowhere"}],"pods":[)" +
                      pods("g", 1, kOneGpu) + "," + pods("h", 1, kOneGpu) + "]");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "UnknownQueue");
  EXPECT_EQ(reason_text(situation.gang("h").reason), "UnknownQueue");
}

TEST(Reasons, LimitExceededOfAnyQueueOnTheWayToTheRoot) {
  Situation situation(kTwoNodesOfFour +
                      R"("queues":[{"name":"top","gpu":{"limit":2}},{"name":"leaf","parent":"top"}],)" +
                      R"("gangs":[{"name":"g","queue":"leaf"}],"pods":[)" + pods("g", 3, kOneGpu) + "]");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(reason_text(gang.reason), "LimitExceeded");
  EXPECT_EQ(nodes_of(gang, "Available"), 2);
  EXPECT_EQ(gang.message,
            "3/3 pods of the gang cannot be placed: 2/2 nodes are available. Queue top would exceed its limit of gpu.");
}

TEST(Reasons, LimitExceededNamesAnyResourceAndItsLimit) {
  Situation situation(kTwoNodesOfFour +
                      R"("queues":[{"name":"top","resources":{"pods":{"limit":2}}},{"name":"leaf","parent":"top"}],)" +
                      R"("gangs":[{"name":"g","queue":"leaf"}],"pods":[)" + pods("g", 3, kOneGpu) + "]");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(reason_text(gang.reason), "LimitExceeded");
  EXPECT_EQ(gang.message,
            "3/3 pods of the gang cannot be placed: 2/2 nodes are available. Queue top would exceed its limit of pods "
            "(2).");
}

// One GPU, in use by a gang of these terms; another gang waits in the same queue, at its limit.
explain::GangReport waits_at_a_limit(const std::string& terms) {
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":1}}],"queues":[{"name":"q","gpu":{"limit":1}}],"gangs":[{"name":"r","queue":"q",)" +
      terms + R"(},{"name":"g","queue":"q","priority":5}],"pods":[)" + pods("r", 1, kOneGpu + R"(,"node":"a")") + "," +
      pods("g", 1, kOneGpu) + "]");
  return situation.gang("g");
}

TEST(Reasons, LimitExceededOnlyWhereAHigherLimitWouldHelp) {
  const explain::GangReport gang = waits_at_a_limit(R"("preemptible":false)");
  EXPECT_EQ(reason_text(gang.reason), "InsufficientGpu");
  EXPECT_EQ(gang.message,
            "1/1 pods of the gang cannot be placed: 0/1 nodes are available: 1 Insufficient gpu. The nodes that it may "
            "use have too little free gpu in total. Queue q would also exceed its limit of gpu.");
  EXPECT_EQ(reason_text(waits_at_a_limit(R"("priority":1)").reason), "LimitExceeded") << "r could be evicted for it";
}

TEST(Reasons, LimitCountsWhatThePlanPlaces) {
  Situation situation(
      kTwoNodesOfFour +
      R"("queues":[{"name":"q","gpu":{"limit":3}}],"gangs":[{"name":"g","queue":"q"},{"name":"h","queue":"q"}],"pods":[)" +
      pods("g", 2, kOneGpu) + "," + pods("h", 2, kOneGpu) + "]");
  EXPECT_EQ(reason_text(situation.gang("h").reason), "OutOfTime");
  situation.place("g-0", "a", {0}).place("g-1", "a", {1});
  EXPECT_EQ(reason_text(situation.gang("h").reason), "LimitExceeded");
}

TEST(Reasons, NonPreemptibleOverQuota) {
  Situation situation(
      kTwoNodesOfFour +
      R"("queues":[{"name":"q","gpu":{"quota":2}}],"gangs":[{"name":"g","queue":"q","preemptible":false}],"pods":[)" +
      pods("g", 3, kOneGpu) + "]");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "NonPreemptibleOverQuota");
}

TEST(Reasons, NeverFitsWhereTheEmptyClusterIsTooSmall) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g"},{"name":"wide"}],"pods":[)" + pods("g", 9, kOneGpu) +
                      R"(,{"name":"w","gang":"wide","gpu":{"count":5}}])");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "NeverFits");
  EXPECT_EQ(reason_text(situation.gang("wide").reason), "NeverFits") << "no node has five devices";
}

std::string end_of(const std::string& message) { return message.substr(message.find(". ") + 2); }

TEST(Reasons, NeverFitsNamesWhatIsTooMuchAndOfWhichSubgroup) {
  Situation situation(kTwoNodesOfFour +
                      R"("gangs":[{"name":"g","subgroups":[{"name":"head"},{"name":"workers"}]},{"name":"many"},)" +
                      R"({"name":"both"}],"pods":[{"name":"h","gang":"g","subgroup":"head"},)" +
                      R"({"name":"w","gang":"g","subgroup":"workers","gpu":{"count":99}},)" + pods("many", 9, kOneGpu) +
                      R"(,{"name":"b","gang":"both","resources":{"memory":"9Gi"}}])");
  EXPECT_EQ(
      end_of(situation.gang("g").message),
      "It would not fit even if every node were empty: a pod of subgroup workers requests 99 GPUs, and no node has "
      "more than 4.");
  EXPECT_EQ(end_of(situation.gang("many").message),
            "It would not fit even if every node were empty: of the 9 pods that it needs, 8 would find room.");
  EXPECT_EQ(end_of(situation.gang("both").message),
            "It would not fit even if every node were empty: a pod requests 9 GiB memory, and no node has more than 8 "
            "GiB.");
}

TEST(Reasons, NeverFitsOfMixedPodsIsProvenBySearch) {
  // Two of 3 cores and one of 2 are 8, as much as two nodes of 4 have; yet no two of them share a node.
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g"}],"pods":[)" +
                      pods("g", 2, R"("resources":{"cpu":3})") + R"(,{"name":"x","gang":"g","resources":{"cpu":2}}])");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "NeverFits");
}

TEST(Reasons, NodeMismatchWhereItsOwnNodesAreTooFewEvenEmpty) {
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":4},"labels":{"pool":"x"}},{"name":"b","gpus":{"count":4},"unschedulable":true},)"
      R"({"name":"c","gpus":{"count":4},"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]}],"gangs":[{"name":"g"},{"name":"h"}],"pods":[)" +
      pods("g", 5, kOneGpu) + "," + pods("h", 1, kOneGpu + R"(,"nodeSelector":{"pool":"y"})") + "]");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "NodeMismatch");
  const GangReport none = situation.gang("h");
  EXPECT_EQ(reason_text(none.reason), "NodeMismatch");
  EXPECT_EQ(none.message.find(
                "1/1 pods of the gang cannot be placed: 0/3 nodes are available: 1 node(s) didn't match Pod's node "
                "affinity/selector, 1 node(s) had untolerated taint {k: v}, 1 node(s) were unschedulable."),
            0U)
      << none.message;
  EXPECT_EQ(make_room_text(none.make_room), "NotEnough");
}

const std::string kBusyTwoNodes =
    kTwoNodesOfFour +
    R"("gangs":[{"name":"g"}],"pods":[{"name":"r","node":"a","gpu":{"count":3},"resources":{"cpu":1},"preemptible":false},)"
    R"({"name":"s","node":"b","gpu":{"count":3},"resources":{"cpu":1},"preemptible":false},)";

TEST(Reasons, InsufficientWhereTheSumIsTooSmall) {
  Situation gpu(kBusyTwoNodes + pods("g", 3, kOneGpu) + "]");
  EXPECT_EQ(reason_text(gpu.gang("g").reason), "InsufficientGpu");
  Situation cpu(kBusyTwoNodes + pods("g", 7, R"("resources":{"cpu":1})") + "]");
  EXPECT_EQ(reason_text(cpu.gang("g").reason), "InsufficientCpu");
}

TEST(Reasons, InsufficientNamesAnyResource) {
  Situation situation(
      R"("nodes":[{"name":"a","resources":{"rdma/hca":2}}],"gangs":[{"name":"g"}],"pods":[{"name":"r","node":"a","resources":{"rdma/hca":1}},)" +
      pods("g", 2, R"("resources":{"rdma/hca":1})") + "]");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(reason_text(gang.reason), "Insufficientrdma/hca");
  EXPECT_NE(gang.message.find("1 Insufficient rdma/hca"), std::string::npos);
}

TEST(Reasons, InsufficientWhereMinResourcesAreNotCovered) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g","minResources":{"gpu":9}}],"pods":[)" +
                      pods("g", 2, kOneGpu) + "]");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "InsufficientGpu");
}

TEST(Reasons, FragmentedWhereTheSumSuffices) {
  Situation situation(kBusyTwoNodes + pods("g", 1, R"("gpu":{"count":2})") + "]");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(reason_text(gang.reason), "Fragmented");
  EXPECT_EQ(nodes_of(gang, "InsufficientGpu"), 2);
}

TEST(Reasons, TopologyUnsatisfiedWhereOnlyTheLevelIsInTheWay) {
  Situation situation(
      R"("topology":["rack"],"nodes":[{"name":"a","gpus":{"count":2},"labels":{"rack":"1"}},{"name":"b","gpus":{"count":3},"labels":{"rack":"2"}}],)"
      R"("gangs":[{"name":"g","topology":{"required":"rack"}}],"pods":[)" +
      pods("g", 4, kOneGpu) + "]");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(reason_text(gang.reason), "TopologyUnsatisfied");
  EXPECT_EQ(nodes_of(gang, "Topology"), 1);
  EXPECT_EQ(nodes_of(gang, "InsufficientGpu"), 1);
  EXPECT_EQ(gang.message.find(
                "1/4 pods of the gang cannot be placed: 0/2 nodes are available: 1 Insufficient gpu, 1 node(s) were "
                "outside the required topology domain."),
            0U)
      << gang.message;
}

TEST(Reasons, TopologyHoldsAGangToWhereItsPodsRun) {
  Situation situation(
      R"("topology":["rack"],"nodes":[{"name":"a","gpus":{"count":1},"labels":{"rack":"1"}},{"name":"b","gpus":{"count":3},"labels":{"rack":"2"}}],)"
      R"("gangs":[{"name":"g","minMember":2,"topology":{"required":"rack"}}],"pods":[{"name":"r","gang":"g","node":"a","gpu":{"count":1}},)" +
      pods("g", 1, kOneGpu) + "]");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "TopologyUnsatisfied");
}

TEST(Reasons, OutOfTimeWhereNothingIsInTheWay) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g"}],"pods":[)" + pods("g", 2, kOneGpu) + "]");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "OutOfTime");
}

TEST(Reasons, HoldWhicheverOfItsPodsAGangStartsWith) {
  // One of two pods is enough. The one with less work asks for more cores than any node has; the other fits.
  Situation situation(
      kTwoNodesOfFour +
      R"("gangs":[{"name":"g","minMember":1}],"pods":[)"
      R"({"name":"x","gang":"g","gpu":{"count":1},"resources":{"cpu":5}},{"name":"y","gang":"g","gpu":{"count":2}}])");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "OutOfTime");
}

TEST(Reasons, AreProvenForSharersBesideWholeUsers) {
  // 0.6 + 0.6 + 0.6 on two devices: enough in total with the whole device of b for the pod that needs a whole one, but
  // no place for the third.
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}}],"gangs":[{"name":"g"}],"pods":[)" +
      pods("g", 3, R"("gpu":{"fraction":0.6})") + R"(,{"name":"w","gang":"g","gpu":{"count":1}}])");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "NeverFits");
}

TEST(Reasons, EqualGangsGetEqualAnswers) {
  Situation situation(
      kBusyTwoNodes.substr(0, kBusyTwoNodes.find(R"("gangs")")) + R"("gangs":[{"name":"g"},{"name":"h"}],"pods":[)" +
      R"({"name":"r","node":"a","gpu":{"count":4}},)" + pods("g", 5, kOneGpu) + "," + pods("h", 5, kOneGpu) + "]");
  const GangReport g = situation.gang("g"), h = situation.gang("h");
  EXPECT_EQ(g.reason, h.reason);
  EXPECT_EQ(g.message, h.message);
  EXPECT_EQ(g.make_room, h.make_room);
}

TEST(Blockers, ChargeEveryNodeToTheFirstFilterInOrder) {
  Situation situation(
      R"("nodes":[{"name":"cordoned","unschedulable":true,"taints":[{"key":"t","effect":"NoExecute"}],"gpus":{"count":1}},)"
      R"({"name":"tainted","taints":[{"key":"t","effect":"NoExecute"}],"labels":{"pool":"other"},"gpus":{"count":1}},)"
      R"({"name":"selector","labels":{"pool":"other"}},)"
      R"({"name":"affinity","labels":{"pool":"p"}},)"
      R"({"name":"model","labels":{"pool":"p","zone":"z"},"gpus":{"count":1,"model":"T4"}},)"
      R"({"name":"gpu","labels":{"pool":"p","zone":"z"},"gpus":{"count":0,"model":"A100"}},)"
      R"({"name":"cpu","labels":{"pool":"p","zone":"z"},"resources":{"cpu":1,"memory":1},"gpus":{"count":1,"model":"A100"}},)"
      R"({"name":"memory","labels":{"pool":"p","zone":"z"},"resources":{"cpu":2,"memory":1},"gpus":{"count":1,"model":"A100"}},)"
      R"({"name":"other","labels":{"pool":"p","zone":"z"},"resources":{"cpu":2,"memory":"1Gi"},"gpus":{"count":1,"model":"A100"}},)"
      R"({"name":"pods","labels":{"pool":"p","zone":"z"},"resources":{"cpu":2,"memory":"1Gi","x/y":1,"pods":0},"gpus":{"count":1,"model":"A100"}},)"
      R"({"name":"good","labels":{"pool":"p","zone":"z"},"resources":{"cpu":2,"memory":"1Gi","x/y":1},"gpus":{"count":1,"model":"A100"}}],)"
      R"("gangs":[{"name":"g"}],"pods":[)" +
      pods(
          "g", 2,
          R"("gpu":{"count":1},"resources":{"cpu":2,"memory":"1Gi","x/y":1},"gpuModels":["A100"],"nodeSelector":{"pool":"p"},)"
          R"("nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"Exists"}]}]}})") +
      "]");
  const GangReport gang = situation.gang("g");
  EXPECT_EQ(all_nodes_of(gang), 11);
  for (const char* code : {"Unschedulable", "UntoleratedTaint", "NodeSelector", "NodeAffinity", "GpuModel",
                           "InsufficientCpu", "InsufficientMemory", "Insufficientx/y", "InsufficientPods"}) {
    EXPECT_EQ(nodes_of(gang, code), 1) << code;
  }
  EXPECT_EQ(nodes_of(gang, "InsufficientGpu"), 2) << "one pod of the two is put down on the good node";
}

TEST(Blockers, TheTallyIsThatOfKubernetes) {
  Situation situation(
      R"("nodes":[{"name":"w1","resources":{"cpu":16}},{"name":"w2","resources":{"cpu":16},"taints":[{"key":"test","value":"blocked","effect":"NoSchedule"}]},)"
      R"({"name":"w3","resources":{"cpu":16},"taints":[{"key":"test","value":"blocked","effect":"NoSchedule"}]},)"
      R"({"name":"m","resources":{"cpu":16},"taints":[{"key":"node-role.kubernetes.io/control-plane","effect":"NoSchedule"}]}],)"
      R"("gangs":[{"name":"g"}],"pods":[{"name":"daemon","node":"w1","resources":{"cpu":1}},)" +
      pods("g", 4, R"("resources":{"cpu":4})") + "]");
  const std::string tally =
      "1/4 pods of the gang cannot be placed: 0/4 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated "
      "taint "
      "{node-role.kubernetes.io/control-plane: }, 2 node(s) had untolerated taint {test: blocked}.";
  EXPECT_EQ(situation.gang("g").message.substr(0, tally.size()), tally);
}

TEST(Blockers, AntiAffinityOfTheGangsOwnPods) {
  Situation situation(
      kTwoNodesOfFour + R"("gangs":[{"name":"g"}],"pods":[)" +
      pods("g", 3, R"("gpu":{"count":1},"podAntiAffinity":{"topologyKey":"kubernetes.io/hostname","matchGang":true})") +
      "]");
  // Neither node has the label: the term forbids nothing.
  EXPECT_EQ(reason_text(situation.gang("g").reason), "OutOfTime");
  Situation labelled(
      R"("nodes":[{"name":"a","labels":{"host":"a"},"gpus":{"count":4}},{"name":"b","labels":{"host":"b"},"gpus":{"count":4}}],"gangs":[{"name":"g"}],"pods":[)" +
      pods("g", 3, R"("gpu":{"count":1},"podAntiAffinity":{"topologyKey":"host","matchGang":true})") + "]");
  const GangReport gang = labelled.gang("g");
  EXPECT_EQ(reason_text(gang.reason), "NodeMismatch");
  EXPECT_EQ(nodes_of(gang, "PodAntiAffinity"), 2);
}

TEST(Reasons, PodAffinityWhereNoNodeHoldsWhatItAsksFor) {
  Situation situation(
      R"("nodes":[{"name":"a","labels":{"zone":"x"},"gpus":{"count":4}},{"name":"b","gpus":{"count":4}}],"pods":[)"
      R"({"name":"p","gpu":{"count":1},"podAffinity":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"db"}}}}])");
  const GangReport gang = situation.gang("p");
  EXPECT_EQ(reason_text(gang.reason), "PodAffinity");
  EXPECT_EQ(nodes_of(gang, "PodAffinity"), 2);
  EXPECT_NE(gang.message.find("2 node(s) didn't match pod affinity rules"), std::string::npos) << gang.message;
}

TEST(Reasons, TopologySpreadWhereEveryNodeWouldHoldTooMany) {
  Situation situation(
      R"("nodes":[{"name":"a","labels":{"zone":"x"},"gpus":{"count":4}},{"name":"b","labels":{"zone":"y"},"gpus":{"count":1}}],"pods":[)"
      R"({"name":"other","gpu":{"count":1},"node":"b","labels":{"app":"b"}},)"
      R"({"name":"one","gpu":{"count":1},"node":"a","labels":{"app":"a"}},)"
      R"({"name":"p","gpu":{"count":1},"labels":{"app":"a"},"topologySpread":[{"maxSkew":1,"topologyKey":"zone",)"
      R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}]}])");
  const GangReport gang = situation.gang("p");
  EXPECT_EQ(reason_text(gang.reason), "TopologySpread");
  EXPECT_EQ(nodes_of(gang, "TopologySpread"), 1);
  EXPECT_EQ(nodes_of(gang, "InsufficientGpu"), 1);
}

std::string one_node_with_runner(const std::string& policy, const std::string& running, const std::string& waiting) {
  return policy + R"("nodes":[{"name":"a","gpus":{"count":1}}],"gangs":[{"name":"r")" + running + R"(},{"name":"g")" +
         waiting + R"(}],"pods":[)" + pods("r", 1, R"("gpu":{"count":1},"node":"a","started":999990)") + "," +
         pods("g", 1, kOneGpu) + "]";
}

TEST(MakeRoom, NotAllowedWithoutAnyActionThatEvicts) {
  EXPECT_EQ(
      make_room_text(Situation(one_node_with_runner(R"("policy":{"actions":["place"]},)", "", R"(,"priority":50)"))
                         .gang("g")
                         .make_room),
      "NotAllowed");
  EXPECT_EQ(make_room_text(
                Situation(one_node_with_runner(R"("policy":{"actions":["place","reclaim"]},)", "", R"(,"priority":50)"))
                    .gang("g")
                    .make_room),
            "NotAllowed")
      << "preempting would do it";
}

TEST(MakeRoom, PolicyWhereItMayNotPreempt) {
  EXPECT_EQ(
      make_room_text(
          Situation(one_node_with_runner("", "", R"(,"priority":50,"preemptionPolicy":"Never")")).gang("g").make_room),
      "Policy");
}

TEST(MakeRoom, NotEnoughWhereNothingPreemptibleRuns) {
  EXPECT_EQ(
      make_room_text(
          Situation(one_node_with_runner("", R"(,"preemptible":false)", R"(,"priority":50)")).gang("g").make_room),
      "NotEnough");
}

TEST(MakeRoom, PriorityWhereOnlyEqualOrHigherOnesRun) {
  EXPECT_EQ(
      make_room_text(Situation(one_node_with_runner("", R"(,"priority":50)", R"(,"priority":50)")).gang("g").make_room),
      "Priority");
}

TEST(MakeRoom, ProtectedWithinTheMinimumRunTime) {
  EXPECT_EQ(make_room_text(Situation(one_node_with_runner(R"("queues":[{"name":"default","preemptMinRuntime":"60s"}],)",
                                                          "", R"(,"priority":50)"))
                               .gang("g")
                               .make_room),
            "Protected");
}

TEST(MakeRoom, DisruptionBudgetWhereOneHoldsThoseThatCouldGo) {
  const std::string runner =
      R"("nodes":[{"name":"a","gpus":{"count":1}}],"gangs":[{"name":"r"},{"name":"g","priority":50}],"pods":[)" +
      pods("r", 1, R"("gpu":{"count":1},"node":"a","labels":{"app":"x"},"namespace":"team")") + "," +
      pods("g", 1, kOneGpu) + "]";
  const auto with_budget = [&](const std::string& allowed) {
    return R"("disruptionBudgets":[{"name":"web","namespace":"team","selector":{"matchLabels":{"app":"x"}},"allowed":)" +
           allowed + "}]," + runner;
  };
  const GangReport gang = Situation(with_budget("0")).gang("g");
  EXPECT_EQ(make_room_text(gang.make_room), "DisruptionBudget");
  EXPECT_NE(gang.message.find("disruption budget \"team/web\" allows 0"), std::string::npos) << gang.message;
  EXPECT_EQ(make_room_text(Situation(with_budget("1")).gang("g").make_room), "OutOfTime");
  EXPECT_EQ(
      make_room_text(Situation(R"("policy":{"protect":{"matchLabels":{"app":"x"}}},)" + runner).gang("g").make_room),
      "DisruptionBudget");
}

TEST(MakeRoom, DisruptionBudgetWhereItLetsTooFewGo) {
  const auto two = [](const std::string& allowed) {
    return R"("disruptionBudgets":[{"name":"web","selector":{},"allowed":)" + allowed +
           R"(}],"nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}}],)" +
           R"("gangs":[{"name":"g","priority":50,"minMember":2}],"pods":[{"name":"r","gpu":{"count":1},"node":"a"},)" +
           R"({"name":"s","gpu":{"count":1},"node":"b"},)" + pods("g", 2, kOneGpu) + "]";
  };
  EXPECT_EQ(make_room_text(Situation(two("1")).gang("g").make_room), "DisruptionBudget");
  EXPECT_EQ(make_room_text(Situation(two("2")).gang("g").make_room), "OutOfTime");
}

TEST(MakeRoom, FairShareWhereTheOthersAreWithinTheirs) {
  const std::string queues = R"("queues":[{"name":"x","gpu":{"quota":1}},{"name":"y","gpu":{"quota":0}}],)";
  EXPECT_EQ(make_room_text(Situation(one_node_with_runner(queues, R"(,"queue":"x")", R"(,"queue":"y","priority":50)"))
                               .gang("g")
                               .make_room),
            "FairShare");
}

TEST(MakeRoom, NoSharesOfAResourceThatHasNone) {
  const auto cluster = [](const std::string& card, const std::string& quota) {
    return R"("nodes":[{"name":"n","resources":{")" + card +
           R"(":4}}],"queues":[{"name":"x"},{"name":"y","cpu":{"quota":)" + quota +
           R"(}}],"pods":[{"name":"r","queue":"x","node":"n","resources":{")" + card +
           R"(":4}},{"name":"g","queue":"y","resources":{")" + card + R"(":2}}])";
  };
  const GangReport gang = Situation(cluster("x.com/card", "1")).gang("g");
  EXPECT_EQ(reason_text(gang.reason), "Insufficientx.com/card");
  EXPECT_EQ(make_room_text(gang.make_room), "NoShares");
  EXPECT_NE(gang.message.find("shares of x.com/card are not counted"), std::string::npos) << gang.message;
  EXPECT_NE(make_room_text(Situation(cluster("nvidia.com/mig-1g.10gb", "1")).gang("g").make_room), "NoShares")
      << "slices are parts of gpu";
}

TEST(MakeRoom, LimitsOfAnyResourceCountWhatVictimsGiveBack) {
  const auto cluster = [](const std::string& priority) {
    return R"("nodes":[{"name":"n","resources":{"cpu":8}}],"queues":[{"name":"q","resources":{"pods":{"limit":1}}}],)" +
           std::string(R"("pods":[{"name":"r","queue":"q","node":"n"},{"name":"g","queue":"q","priority":)") +
           priority + "}]";
  };
  EXPECT_EQ(make_room_text(Situation(cluster("0")).gang("g").make_room), "Priority");
  EXPECT_EQ(make_room_text(Situation(cluster("50")).gang("g").make_room), "OutOfTime");
}

TEST(MakeRoom, BlamesSharesBeforePrioritiesWhereEitherIsInTheWay) {
  Situation situation(
      kTwoNodesOfFour +
      R"("queues":[{"name":"x","gpu":{"quota":4}},{"name":"y","gpu":{"quota":4}}],"gangs":[{"name":"r","queue":"x"},{"name":"s","queue":"y"},{"name":"g","queue":"y"}],"pods":[)" +
      pods("r", 4, R"("gpu":{"count":1},"node":"a")") + "," + pods("s", 4, R"("gpu":{"count":1},"node":"b")") + "," +
      pods("g", 1, kOneGpu) + "]");
  EXPECT_EQ(make_room_text(situation.gang("g").make_room), "FairShare");
}

TEST(MakeRoom, OutrankedOnceItIsProvenThatThePlanIsBest) {
  Situation situation(one_node_with_runner("", "", R"(,"priority":50)"));
  EXPECT_EQ(make_room_text(situation.gang("g").make_room), "OutOfTime");
  EXPECT_EQ(make_room_text(situation.prove().gang("g").make_room), "Outranked");
}

TEST(Queues, AreToldWithWhatIsAllocatedAfterThePlan) {
  Situation situation(
      kTwoNodesOfFour +
      R"("queues":[{"name":"top","gpu":{"quota":4}},{"name":"b","parent":"top","gpu":{"quota":2}},{"name":"a","parent":"top"}],)"
      R"("gangs":[{"name":"g","queue":"b"}],"pods":[)" +
      pods("g", 2, kOneGpu) + "]");
  situation.place("g-0", "a", {0}).place("g-1", "a", {1});
  const Report report = situation.report();
  ASSERT_EQ(report.queues.size(), 3U);
  const auto report_of = [&](std::string_view name) {
    return *std::ranges::find(report.queues, name,
                              [&](const QueueReport& one) { return situation.problem().queues[one.queue].name; });
  };
  EXPECT_EQ(report_of("a").allocated[kQueueGpu], 0);
  EXPECT_EQ(report_of("a").quota[kQueueGpu], kUnlimited);
  EXPECT_EQ(report_of("b").allocated[kQueueGpu], 2'000'000);
  EXPECT_EQ(report_of("b").quota[kQueueGpu], 2'000'000);
  EXPECT_EQ(report_of("top").allocated[kQueueGpu], 2'000'000);
}

TEST(Gap, IsThatOfTheFirstLevelShortOfItsBound) {
  std::vector<LevelReport> objective{
      {{LevelKind::kShare, 0}, 10, 10}, {{LevelKind::kWork, 0}, 75, 100}, {{LevelKind::kEvicted, 0}, 5, 0}};
  EXPECT_DOUBLE_EQ(gap_of(objective, PlacementPolicy::kBinpack), 0.25);
  objective[1].value = 100;
  EXPECT_DOUBLE_EQ(gap_of(objective, PlacementPolicy::kBinpack), 5.0)
      << "evicted is minimised, and |bound| counts at least 1";
  objective[2].bound.reset();
  EXPECT_DOUBLE_EQ(gap_of(objective, PlacementPolicy::kBinpack), 0.0);
}

TEST(Gap, TakesTheBoundInTheUnitThatThePlanShows) {
  const std::vector<LevelReport> objective{{{LevelKind::kPreference, 0}, 150, 250}};  // 1.5 of 2.5
  EXPECT_DOUBLE_EQ(gap_of(objective, PlacementPolicy::kBinpack), 1.0 / 2.5);
}

}  // namespace
}  // namespace muster::explain
