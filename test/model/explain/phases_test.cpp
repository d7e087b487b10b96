// Phases of gangs by the table of docs/semantics.md.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/model/situation.h"

namespace muster::explain {
namespace {

// Phase of a gang `g` with this minimum and these pods, each `{"name":...}` of it, before any plan.
GangPhase phase_of_waiting(const std::string& minimum, const std::vector<std::string>& members) {
  std::string body = kTwoNodesOfFour + R"("gangs":[{"name":"g","minMember":)" + minimum + R"(}],"pods":[)";
  for (std::size_t i = 0; i < members.size(); ++i) {
    body += (i > 0 ? "," : "");
    body += R"({"name":"p)" + std::to_string(i) + R"(","gang":"g")" + members[i] + "}";
  }
  return Situation(body + "]").gang("g").phase;
}

const std::string kIsGated = R"(,"status":"gated")", kIsPending, kHasSucceeded = R"(,"status":"succeeded")";
const std::string kIsHeld = R"(,"held":"the pod uses x, which Muster does not plan")";

TEST(Phases, AreGatedWhereOnlyGatedPodsAreLeftWhateverTheMinimum) {
  for (const char* minimum : {"0", "1", "2", "9"}) {
    EXPECT_EQ(phase_of_waiting(minimum, {kIsGated, kIsGated}), GangPhase::kGated) << minimum;
  }
  EXPECT_EQ(phase_of_waiting("1", {kHasSucceeded, kIsGated}), GangPhase::kGated);
}

TEST(Phases, AreGatedBesidePendingPodsWhereTheMinimumNeedsTheGatedOnesAndTheySuffice) {
  EXPECT_EQ(phase_of_waiting("2", {kIsPending, kIsGated}), GangPhase::kGated);
  EXPECT_EQ(phase_of_waiting("1", {kIsPending, kIsGated}), GangPhase::kUnschedulable);
  EXPECT_EQ(phase_of_waiting("0", {kIsPending, kIsGated}), GangPhase::kUnschedulable);
  EXPECT_EQ(phase_of_waiting("9", {kIsPending, kIsGated}), GangPhase::kUnschedulable) << "too few pods in any case";
}

TEST(Phases, AreUnschedulableWhereAllWaitAndTheMinimumIsMetByNoneOrBySucceededPods) {
  EXPECT_EQ(phase_of_waiting("0", {kIsPending, kIsPending}), GangPhase::kUnschedulable);
  EXPECT_EQ(phase_of_waiting("1", {kHasSucceeded, kIsPending}), GangPhase::kUnschedulable);
}

TEST(Phases, AreHeldWhereAGatedPodIsHeldWithItsMessage) {
  EXPECT_EQ(phase_of_waiting("1", {kIsHeld}), GangPhase::kHeld);
  EXPECT_EQ(phase_of_waiting("2", {kIsGated, kIsHeld}), GangPhase::kHeld);
  EXPECT_EQ(phase_of_waiting("1", {kIsPending, kIsHeld}), GangPhase::kUnschedulable);
  Situation situation(kTwoNodesOfFour + R"("pods":[{"name":"p")" + kIsHeld + "}]");
  EXPECT_EQ(reason_text(situation.gang("p").reason), "Held");
  EXPECT_EQ(situation.gang("p").message, "not planned: the pod uses x, which Muster does not plan");
  for (const GangReport& gang : situation.report([] { return true; }).gangs) {
    EXPECT_EQ(gang.phase, GangPhase::kHeld) << "also where there is no time";
  }
}

TEST(Phases, OfAGangThatOnlySucceededPodsMadeComplete) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g","minMember":1}],"pods":[)" +
                      R"({"name":"done","gang":"g","status":"succeeded"},)" + pods("g", 1, kOneGpu) + "]");
  situation.place("g-0", "a", {0});
  EXPECT_EQ(situation.gang("g").phase, GangPhase::kScheduled) << "nothing of it ran";
}

TEST(QuotaLevel, OfAnUnlimitedQueueCountsAllThatItRunsUpToTheCluster) {
  Situation situation(
      kTwoNodesOfFour +
      R"("queues":[{"name":"top"},{"name":"free","parent":"top"},{"name":"two","parent":"top","gpu":{"quota":2}}],)"
      R"("gangs":[{"name":"f","queue":"free"},{"name":"t","queue":"two"}],"pods":[)" +
      pods("f", 4, kOneGpu + R"(,"node":"a")") + "," + pods("t", 4, kOneGpu + R"(,"node":"b")") + "]");
  for (const LevelReport& level : situation.report().objective) {
    if (level.id.kind == LevelKind::kQuota) {
      EXPECT_EQ(level.value, 6'000) << "all of free, two of two";
    }
  }
}

TEST(Phases, AreWaitingWhereAllThatIsPlacedWaitsEvenWithAMinimumOfNone) {
  Situation situation(R"("nodes":[{"name":"a","gpus":{"count":1}}],"gangs":[{"name":"g","minMember":0}],"pods":[)"
                      R"({"name":"old","node":"a","gpu":{"count":1},"status":"releasing"},)" +
                      pods("g", 1, kOneGpu) + "]");
  situation.place("g-0", "a", {0}, {"old"});
  EXPECT_EQ(situation.gang("g").phase, GangPhase::kWaiting);
}

}  // namespace
}  // namespace muster::explain
