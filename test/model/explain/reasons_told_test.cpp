// Reasons that hold: cheap ones, when time has run out, when nothing is decided, with several ways.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/model/situation.h"

namespace muster::explain {
namespace {

TEST(Reasons, UndecidedWhereNothingIsInTheWayAndTimeDidNotRunOut) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g"}],"pods":[)" + pods("g", 2, kOneGpu) + "]");
  EXPECT_EQ(reason_text(situation.prove().gang("g").reason), "Undecided");
}

TEST(Reasons, TopologyUnsatisfiedWhereAPodOfTheGangRunsOutsideTheTopologyOrInAnotherDomain) {
  const std::string nodes =
      R"("topology":["rack"],"nodes":[{"name":"a","gpus":{"count":4}},{"name":"b","gpus":{"count":4},"labels":{"rack":"1"}},)"
      R"({"name":"c","gpus":{"count":4},"labels":{"rack":"2"}}],"gangs":[{"name":"g","topology":{"required":"rack"}}],"pods":[)";
  Situation outside(nodes + R"({"name":"r","gang":"g","node":"a","gpu":{"count":1}},)" + pods("g", 1, kOneGpu) + "]");
  EXPECT_EQ(reason_text(outside.prove().gang("g").reason), "TopologyUnsatisfied");
  EXPECT_NE(outside.gang("g").message.find("r runs on node a, which is in no domain of the required level rack"),
            std::string::npos)
      << outside.gang("g").message;
  Situation apart(nodes + R"({"name":"r","gang":"g","node":"b","gpu":{"count":1}},)" +
                  R"({"name":"s","gang":"g","node":"c","gpu":{"count":1}},)" + pods("g", 1, kOneGpu) + "]");
  EXPECT_EQ(reason_text(apart.prove().gang("g").reason), "TopologyUnsatisfied");
  EXPECT_NE(apart.gang("g").message.find("in different domains of the required level rack"), std::string::npos);
}

TEST(Reasons, ThatCostNothingAreToldWithMessageWhereThereIsNoTime) {
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":4}},{"name":"b","gpus":{"count":4},"unschedulable":true}],)"
      R"("queues":[{"name":"q","gpu":{"limit":2}},{"name":"default"}],)"
      R"("gangs":[{"name":"timed","created":999000,"timeout":"60s"},{"name":"gated"},{"name":"few","minMember":3},)"
      R"({"name":"nowhere","queue":"x"},{"name":"limit","queue":"q"},{"name":"never"},{"name":"full"}],"pods":[)" +
      pods("timed", 1, kOneGpu) + "," + pods("gated", 1, R"("status":"gated")") + "," + pods("few", 1, kOneGpu) + "," +
      pods("nowhere", 1, kOneGpu) + "," + pods("limit", 3, kOneGpu) + "," + pods("never", 1, R"("gpu":{"count":5})") +
      "," + pods("full", 5, kOneGpu) + "]");
  const std::vector<std::string> reasons = {"SchedulingTimeout", "Gated",     "NotEnoughPods", "UnknownQueue",
                                            "LimitExceeded",     "NeverFits", "NodeMismatch"};
  const Report report = situation.report([] { return true; });
  ASSERT_EQ(report.gangs.size(), reasons.size());
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_EQ(reason_text(report.gangs[i].reason), reasons[i]);
    EXPECT_NE(report.gangs[i].message, "") << reasons[i];
    EXPECT_EQ(all_nodes_of(report.gangs[i]), i >= 4 ? 2 : 0) << reasons[i];
  }
}

TEST(Reasons, OutOfTimeComesWithMessageAndBlockers) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g"}],"pods":[)" + pods("g", 2, kOneGpu) + "]");
  const Report report = situation.report([] { return true; });
  EXPECT_EQ(reason_text(report.gangs[0].reason), "OutOfTime");
  EXPECT_NE(report.gangs[0].message.find("the time budget ran out"), std::string::npos) << report.gangs[0].message;
  EXPECT_EQ(nodes_of(report.gangs[0], "Available"), 2);
}

TEST(Reasons, OfMinResourcesNameThem) {
  Situation situation(kTwoNodesOfFour + R"("gangs":[{"name":"g","minResources":{"gpu":9}}],"pods":[)" +
                      pods("g", 2, kOneGpu) + "]");
  EXPECT_EQ(reason_text(situation.gang("g").reason), "InsufficientGpu");
  EXPECT_NE(situation.gang("g").message.find("minResources requests more gpu than"), std::string::npos)
      << situation.gang("g").message;
}

TEST(Reasons, OfAGangWithSeveralWaysToItsMinimumTallyTheOneThatLacksLeast) {
  // Two of four pods are enough. Both kinds lack devices; of the second kind one of two fits.
  Situation situation(
      R"("nodes":[{"name":"a","gpus":{"count":3}}],"gangs":[{"name":"g","minMember":2}],"pods":[)"
      R"({"name":"r","node":"a","gpu":{"count":1},"preemptible":false},)"
      R"({"name":"x0","gang":"g","gpu":{"count":3},"resources":{"rdma/a":0}},{"name":"x1","gang":"g","gpu":{"count":3}},)"
      R"({"name":"y0","gang":"g","gpu":{"count":2}},{"name":"y1","gang":"g","gpu":{"count":2}}])");
  EXPECT_EQ(situation.gang("g").message.find("1/2 pods of the gang cannot be placed"), 0U)
      << situation.gang("g").message;
}

TEST(MakeRoom, NotEnoughOfMixedPodsOnlyWhereASearchProvesIt) {
  // Once the runners are gone, two nodes of 6 cores have room for 3 + 3 and 2 + 2 + 2; putting the largest down first
  // finds it or not, a search always does.
  const auto with = [](const char* last) {
    std::string body =
        R"("nodes":[{"name":"a","resources":{"cpu":6}},{"name":"b","resources":{"cpu":6}}],"gangs":[{"name":"g"}],"pods":[)"
        R"({"name":"r","node":"a","resources":{"cpu":6}},{"name":"s","node":"b","resources":{"cpu":6}})";
    int number = 0;
    for (const std::string cpu : {"3", "2", "3", "2", last})
      body += R"(,{"name":"g)" + std::to_string(number++) + R"(","gang":"g","resources":{"cpu":)" + cpu + "}}";
    return make_room_text(Situation(body + "]").gang("g").make_room);
  };
  EXPECT_EQ(with("2"), "Priority");
}

}  // namespace
}  // namespace muster::explain
