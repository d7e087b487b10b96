// Rule Exceeded, and inconsistent snapshots: what may be placed, what is reported, and what the referee passes.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/problem/problem.h"
#include "model/referee/referee.h"
#include "test/support/case.h"

namespace muster {
namespace {

// A snapshot that is not read strictly.
struct OddCase : test::Case {
  explicit OddCase(const std::string& body) : Case(body, test::Oddities::kSettled) {}

  bool allows(std::size_t pod, std::size_t node) const {
    return problem().class_of(PodIndex(pod)).allowed[problem().nodes[NodeIndex(node)].node_class.value()];
  }
  // The rules that a placement of the pod on the node's devices breaks, once releasing pods are gone.
  std::vector<referee::Rule> broken_by(std::size_t pod, std::size_t node, std::vector<std::int32_t> devices,
                                       std::vector<PodIndex> after = {}) const {
    std::vector<referee::Rule> rules;
    for (const referee::Violation& violation :
         check({{{PodIndex(pod), NodeIndex(node), std::move(devices), std::move(after)}}, {}}))
      rules.push_back(violation.rule);
    return rules;
  }
};

using Rules = std::vector<referee::Rule>;

const std::string kNodeOfTwo = R"("nodes":[{"name":"a","resources":{"cpu":4},"gpus":{"count":2}}],)";
const std::string kTwoPendingKinds = R"({"name":"gpu","gpu":{"count":1}},{"name":"cpu","resources":{"cpu":1}})";

TEST(Exceeded, IsClosedOnlyForPodsThatRequestIt) {
  const OddCase cluster(kNodeOfTwo + R"("pods":[)" + kTwoPendingKinds +
                        R"(,{"name":"r","node":"a","resources":{"cpu":6}}])");
  EXPECT_EQ(cluster.broken_by(0, 0, {0}), Rules{});
  EXPECT_EQ(cluster.broken_by(1, 0, {}).front(), referee::Rule::kCapacity);
}

TEST(Exceeded, OtherNodesOfTheSameKindStayOpen) {
  const OddCase cluster(R"("nodes":[{"name":"a","resources":{"cpu":4}},{"name":"b","resources":{"cpu":4}}],"pods":[)" +
                        kTwoPendingKinds + R"(,{"name":"r","node":"a","resources":{"cpu":6}}])");
  EXPECT_EQ(cluster.broken_by(1, 0, {}).front(), referee::Rule::kCapacity);
  EXPECT_EQ(cluster.broken_by(1, 1, {}), Rules{});
}

TEST(Exceeded, UnreportedDevicesBelongToNoOtherPod) {
  const OddCase cluster(kNodeOfTwo + R"("pods":[)" + kTwoPendingKinds +
                        R"(,{"name":"r","node":"a","gpu":{"count":1},"gpus":[5]}])");
  EXPECT_EQ(cluster.problem().devices_of(PodIndex(2)).front(), 2);
  EXPECT_EQ(cluster.broken_by(0, 0, {2}), Rules{referee::Rule::kDevices});
  EXPECT_EQ(cluster.broken_by(0, 0, {1}), Rules{}) << "one of two is taken";
  EXPECT_EQ(cluster.broken_by(1, 0, {}), Rules{});
}

TEST(Exceeded, ADeviceThatIsGoneGivesNoneBack) {
  const OddCase cluster(kNodeOfTwo + R"("pods":[)" + kTwoPendingKinds +
                        R"(,{"name":"r","node":"a","gpu":{"count":1},"gpus":[5],"status":"releasing"},
                          {"name":"s","node":"a","gpu":{"count":1},"gpus":[0]},
                          {"name":"t","node":"a","gpu":{"count":1},"gpus":[1]}])");
  const std::vector<PodIndex> after{PodIndex(2)};
  for (const std::int32_t device : {0, 1, 2})
    EXPECT_EQ(cluster.broken_by(0, 0, {device}, after).front(), referee::Rule::kDevices);
}

// Two of three pods are on the two existing devices; which two is a guess.
TEST(Exceeded, DevicesAreCountedWhereTheyAreTooFew) {
  const std::string pods = R"("pods":[)" + kTwoPendingKinds + R"(,{"name":"r","node":"a","gpu":{"count":1}},
                            {"name":"s","node":"a","gpu":{"count":1},"status":"releasing"},)";
  const OddCase one_leaves(kNodeOfTwo + pods + R"({"name":"t","node":"a","gpu":{"count":1}}])");
  EXPECT_EQ(one_leaves.broken_by(0, 0, {1}, {PodIndex(3)}), Rules{referee::Rule::kDevices});
  const OddCase two_leave(kNodeOfTwo + pods + R"({"name":"t","node":"a","gpu":{"count":1},"status":"releasing"}])");
  EXPECT_EQ(two_leave.broken_by(0, 0, {1}, {PodIndex(3), PodIndex(4)}), Rules{});
  EXPECT_NE(two_leave.broken_by(0, 0, {1}, {PodIndex(3)}), Rules{}) << "it does not wait for the other";
}

TEST(Exceeded, NothingComesWhereItIsNotClearWhichPodHoldsWhichDevice) {
  const OddCase cluster(R"("nodes":[{"name":"a","gpus":{"count":4}}],"pods":[)" + kTwoPendingKinds +
                        R"(,{"name":"r","node":"a","gpu":{"count":1},"gpus":[0],"status":"releasing"},
                          {"name":"s","node":"a","gpu":{"count":1},"gpus":[0]}])");
  EXPECT_EQ(cluster.broken_by(0, 0, {3}, {PodIndex(2)}), Rules{referee::Rule::kDevices});
}

TEST(Exceeded, WhatLeavesMakesRoomOnceAllThatIsLeftFitsWhatTheNodeReports) {
  const auto broken_beside = [](const std::string& cores_left) {
    const OddCase cluster(R"("nodes":[{"name":"a","resources":{"cpu":4}}],"pods":[)" + kTwoPendingKinds +
                          R"(,{"name":"r","node":"a","resources":{"cpu":6},"status":"releasing"},
                            {"name":"s","node":"a","resources":{"cpu":)" +
                          cores_left + "}}]");
    return cluster.broken_by(1, 0, {}, {PodIndex(2)});
  };
  EXPECT_EQ(broken_beside("3"), Rules{});
  EXPECT_EQ(broken_beside("4"), Rules{referee::Rule::kCapacity});
  EXPECT_EQ(broken_beside("5"), Rules{referee::Rule::kCapacity});
}

TEST(Exceeded, WhatComesWaitsForAllThatHasToLeave) {
  const OddCase cluster(R"("nodes":[{"name":"a","resources":{"cpu":4}}],"pods":[)" + kTwoPendingKinds +
                        R"(,{"name":"r","node":"a","resources":{"cpu":3},"status":"releasing"},
                          {"name":"s","node":"a","resources":{"cpu":3},"status":"releasing"}])");
  EXPECT_EQ(cluster.broken_by(1, 0, {}, {PodIndex(2)}), Rules{}) << "three cores stay until the other leaves";
  EXPECT_NE(cluster.broken_by(1, 0, {}), Rules{});
}

TEST(Exceeded, CapacityIsWhatIsThereSoThatNothingIsLessThanNothing) {
  const OddCase cluster(R"("nodes":[{"name":"a","resources":{"cpu":4},"gpus":{"count":1}}],"pods":[
      {"name":"r","node":"a","resources":{"cpu":6},"gpu":{"count":1}},{"name":"s","node":"a","gpu":{"count":2}}])");
  const NodeClass& node_class = cluster.problem().class_of(NodeIndex(0));
  EXPECT_EQ(node_class.capacity[kCpu.value()], 6000);
  EXPECT_EQ(node_class.device_count, 3);
  EXPECT_EQ(cluster.problem().total[kQueueGpu], 3'000'000);
}

TEST(OddSnapshot, WarningsNameWhatIsWrongOnce) {
  const OddCase cluster(
      R"("nodes":[{"name":"a","resources":{"cpu":4}},{"name":"a"}],"gangs":[{"name":"g"},{"name":"g"}],
      "pods":[{"name":"p","gang":"g"},{"name":"p"},{"name":"q","node":"nowhere"},{"name":"r","gang":"none"}])");
  std::vector<std::string> told;
  for (const Warning& warning : sorted_warnings(cluster.snapshot().anomalies))
    told.push_back(std::string(error_code_text(warning.code)) + " " + warning.object + " " + warning.name);
  EXPECT_EQ(told, (std::vector<std::string>{"DuplicateName gang g", "UnknownGang gang none", "DuplicateName node a",
                                            "DuplicateName pod p", "UnknownNode pod q"}));
}

TEST(OddSnapshot, APodOnAnUnknownNodeCountsForItsGangAndHoldsNothing) {
  const OddCase cluster(R"("nodes":[{"name":"a","resources":{"cpu":4}}],
      "gangs":[{"name":"g","minMember":2,"staleSince":0}],
      "pods":[{"name":"p","gang":"g","node":"nowhere"},{"name":"q","gang":"g","node":"a"}])");
  EXPECT_FALSE(cluster.problem().gangs[GangIndex(0)].stale);
  EXPECT_TRUE(cluster.problem().pods[PodIndex(0)].node.is_none());
}

TEST(OddSnapshot, OfTwoPodsOfOneNameTheOneOnANodeCounts) {
  const OddCase cluster(R"("nodes":[{"name":"a"},{"name":"b"}],
      "pods":[{"name":"p"},{"name":"p","node":"a"},{"name":"p","node":"b"}])");
  ASSERT_EQ(cluster.problem().pods.size(), 1U);
  EXPECT_EQ(cluster.problem().pods[PodIndex(0)].node, NodeIndex(0));
  EXPECT_TRUE(cluster.snapshot().nodes[1].unschedulable);
}

TEST(OddSnapshot, SumsBeyondSixtyFourBitsLeaveOnePodOut) {
  const OddCase cluster(R"("nodes":[{"name":"a","resources":{"memory":9000000000000000000}}],"pods":[
      {"name":"p","node":"a","resources":{"memory":9000000000000000000}},
      {"name":"q","node":"a","resources":{"memory":9000000000000000000}}])");
  EXPECT_TRUE(cluster.problem().pods[PodIndex(1)].node.is_none());
  EXPECT_TRUE(cluster.snapshot().nodes[0].unschedulable);
}

TEST(OddSnapshot, WarningsBeyondTheFirstThousandAreCounted) {
  std::string pods;
  for (int i = 0; i < 1500; ++i)
    pods += std::string(i == 0 ? "" : ",") + R"({"name":"p)" + std::to_string(i) + R"(","gpu":7})";
  const OddCase cluster(R"("nodes":[{"name":"a"}],"pods":[)" + pods + "]");
  EXPECT_EQ(cluster.snapshot().anomalies.warnings.size(), Anomalies::kMostWarnings);
  EXPECT_EQ(cluster.snapshot().anomalies.count(), 1500U);
}

// A chain of queues costs the square of its length if each lists all above it.
TEST(OddSnapshot, QueuesAreNoDeeperThanSixtyFour) {
  std::string queues = R"({"name":"q0"})";
  for (int i = 1; i < 20'000; ++i)
    queues += R"(,{"name":"q)" + std::to_string(i) + R"(","parent":"q)" + std::to_string(i - 1) + R"("})";
  const std::string body =
      R"("queues":[)" + queues + R"(],"nodes":[{"name":"a"}],"pods":[{"name":"p","queue":"q19999"}])";
  const OddCase cluster(body);
  EXPECT_EQ(cluster.problem().queues.size(), 64U);
  EXPECT_TRUE(cluster.problem().gangs[GangIndex(0)].queue.is_none());
  EXPECT_EQ(test::error_of(body).substr(0, 8), "TooDeep ");
}

std::string gang_with_a_chain_of(int subgroups) {
  std::string chain = R"({"name":"s0"})";
  for (int i = 1; i < subgroups; ++i)
    chain += R"(,{"name":"s)" + std::to_string(i) + R"(","parent":"s)" + std::to_string(i - 1) + R"("})";
  return R"("nodes":[{"name":"a"}],"gangs":[{"name":"g","subgroups":[)" + chain +
         R"(]}],"pods":[{"name":"p","gang":"g","subgroup":"s)" + std::to_string(subgroups - 1) + R"("}])";
}

TEST(Exceeded, SubgroupsMayBeNestedAsDeepAsTheFormatSaysAndNoDeeper) {
  EXPECT_EQ(test::Case(gang_with_a_chain_of(64)).problem().groups.size(), 65U);
  EXPECT_EQ(test::error_of(gang_with_a_chain_of(65)).substr(0, 8), "TooDeep ");
  const OddCase held(gang_with_a_chain_of(100'000));
  EXPECT_EQ(held.problem().pods[PodIndex(0)].status, PodStatus::kGated);
}

// The resource that counts devices where they are exceeded has this name.
TEST(Exceeded, AResourceOfTheInputMayHaveAnyName) {
  const std::string named = R"("nodes":[{"name":"a","resources":{"cpu":4,"number of devices":5},"gpus":{"count":2}}],)";
  const std::string waiting = R"({"name":"p","resources":{"number of devices":2},"gpu":{"count":1}})";
  const OddCase plain(named + R"("pods":[)" + waiting + "]");
  EXPECT_EQ(plain.broken_by(0, 0, {0}), Rules{});
  const OddCase exceeded(named + R"("pods":[)" + waiting + R"(,{"name":"r","node":"a","gpu":{"count":1},"gpus":[5]}])");
  EXPECT_EQ(exceeded.broken_by(0, 0, {1}), Rules{});
  EXPECT_EQ(exceeded.problem().resource_count, 5U) << "cpu, memory, pods, the one of the input, and the count";
}

}  // namespace
}  // namespace muster
