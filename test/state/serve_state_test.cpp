// The kept state over HTTP.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/server.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kWhole = R"({"format":"muster/v1","id":"c","time":1,"nodes":[{"name":"n","gpus":{"count":2}}],)"
                               R"("pods":[{"name":"p","gpu":{"count":1}}]})";

TEST(ServeState, ACycleWithoutABodyPlansTheStateWithItsDeltas) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  EXPECT_EQ(server.ask(get("/v1/state")).status, 404);
  const HttpAnswer none = server.ask(post("/v1/solve", ""));
  EXPECT_EQ(none.status, 409);
  EXPECT_EQ(Json::parse(none.body)["code"], "NoState");
  EXPECT_NE(none.body.find("send the whole cluster to /v1/state"), std::string::npos);

  const HttpAnswer set = server.ask(post("/v1/state", kWhole, "Muster-Sequence: 4\r\n"));
  EXPECT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(Json::parse(set.body)["sequence"], 4);
  const Json kept = Json::parse(server.ask(post("/v1/solve", "")).body);
  EXPECT_EQ(kept["placements"], Json::parse(server.ask(post("/v1/solve", kWhole)).body)["placements"]);

  const std::string delta = R"({"from":4,"to":5,"set":{"id":"d","pods":[{"name":"q","gpu":{"count":1}}]}})";
  EXPECT_EQ(server.ask(post("/v1/state/delta", delta)).status, 200);
  const HttpAnswer plan = server.ask(post("/v1/solve", ""));
  EXPECT_EQ(plan.status, 200);
  EXPECT_EQ(Json::parse(plan.body)["id"], "d");
  EXPECT_EQ(Json::parse(plan.body)["placements"].size(), 2U);

  const Json state = Json::parse(server.ask(get("/v1/state")).body);
  EXPECT_EQ(state["sequence"], 5);
  EXPECT_EQ(state["objects"]["pods"], 2);
  const std::string metrics = server.ask(get("/metrics")).body;
  EXPECT_NE(metrics.find("muster_state_objects{object=\"pod\"} 2"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("muster_state_sequence 5"), std::string::npos);
}

TEST(ServeState, AGapIsAConflictAndABadDeltaIsNot) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  ASSERT_EQ(server.ask(post("/v1/state", kWhole)).status, 200);
  const HttpAnswer gap = server.ask(post("/v1/state/delta", R"({"from":3,"to":4})"));
  EXPECT_EQ(gap.status, 409);
  EXPECT_EQ(Json::parse(gap.body)["code"], "SequenceGap");
  const HttpAnswer bad = server.ask(post("/v1/state/delta", R"({"from":0,"to":1,"remove":{"nodes":["m"]}})"));
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(Json::parse(bad.body)["path"], "$.remove.nodes[0]");
  EXPECT_EQ(server.ask(post("/v1/state", kWhole, "Muster-Sequence: -1\r\n")).status, 400);
  EXPECT_EQ(server.ask(get("/v1/state/delta")).status, 405);
}

TEST(ServeState, ClustersAreKeptApart) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  ASSERT_EQ(server.ask(post("/v1/state", kWhole, "Muster-Cluster: east\r\n")).status, 200);
  EXPECT_EQ(server.ask(post("/v1/solve", "", "Muster-Cluster: west\r\n")).status, 409);
  EXPECT_EQ(server.ask(post("/v1/solve", "", "Muster-Cluster: east\r\n")).status, 200);
}

constexpr const char* kNode = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},)"
                              R"("status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}})";

std::string list_of(const std::string& items) { return R"({"apiVersion":"v1","kind":"List","items":[)" + items + "]}"; }

std::string pod(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"a"},"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}})";
}

TEST(ServeState, KubernetesObjectsTakeDeltasOfObjects) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  const HttpAnswer set = server.ask(post("/v1/state", list_of(kNode), "Muster-Sequence: 7\r\n"));
  ASSERT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(Json::parse(set.body)["objects"]["nodes"], 1);
  const std::string delta = R"({"from":7,"to":8,"set":)" + list_of(pod("x") + "," + pod("y")) + "}";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(server.ask(post("/v1/state/delta", delta)).status, 200);
  const Json plan = Json::parse(server.ask(post("/v1/solve", "")).body);
  const std::string whole = list_of(std::string(kNode) + "," + pod("x") + "," + pod("y"));
  EXPECT_EQ(plan["placements"], Json::parse(server.ask(post("/v1/solve", whole)).body)["placements"]);
  EXPECT_EQ(plan["placements"].size(), 2U);
  EXPECT_EQ(Json::parse(server.ask(get("/v1/state")).body)["objects"]["pods"], 2);

  EXPECT_EQ(server.ask(post("/v1/state/delta", R"({"from":7,"to":9,"remove":[]})")).status, 409);
  const HttpAnswer bad = server.ask(post("/v1/state/delta", R"({"from":8,"to":9,"remove":[)" + pod("z") + "]}"));
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(Json::parse(bad.body)["path"], "$.remove[0]");
  EXPECT_EQ(Json::parse(bad.body)["detail"], "there is no Pod a/z");
  EXPECT_EQ(server.ask(post("/v1/state/delta", R"({"from":8,"to":9,"remove":[)" + pod("x") + "]}")).status, 200);
  EXPECT_EQ(Json::parse(server.ask(post("/v1/solve", "")).body)["placements"].size(), 1U);
}

TEST(ServeState, KubernetesObjectsTakeDeltasInTheFormOfASnapshot) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  ASSERT_EQ(server.ask(post("/v1/state", list_of(kNode))).status, 200);
  const std::string delta = R"({"from":0,"to":1,"set":{"pods":[{"name":"default/p","resources":{"cpu":1}}]}})";
  EXPECT_EQ(server.ask(post("/v1/state/delta", delta)).status, 200);
  EXPECT_EQ(Json::parse(server.ask(post("/v1/solve", "")).body)["placements"].size(), 1U);
  EXPECT_EQ(server.ask(post("/v1/state/delta", R"({"from":1,"to":2,"set":)" + pod("x") + "}")).status, 400);
}

// The state would have to keep what is held for it, and the delta might change that.
TEST(ServeState, ObjectsThatCannotBeReadTakeNoDeltaInTheFormOfASnapshot) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  const std::string odd = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"odd","namespace":"a"},"spec":)"
                          R"({"tolerations":[{"operator":"Exists","value":"x"}]}})";
  ASSERT_EQ(server.ask(post("/v1/state", list_of(std::string(kNode) + "," + odd))).status, 200);
  EXPECT_EQ(Json::parse(server.ask(post("/v1/solve", "")).body)["placements"].size(), 0U);
  const auto refused = server.ask(post("/v1/state/delta", R"({"from":0,"to":1,"set":{"remarks":["r"]}})"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("pod a/odd: spec.tolerations[0]"), std::string::npos) << refused.body;
}

}  // namespace
}  // namespace muster::cli
