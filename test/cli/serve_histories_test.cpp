// The server as the one that sees a cluster over time: it fills in histories, tells which, and keeps them.
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/cli/server.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

// A cluster of one node, in which a job of one GPU of queue a runs from 1,000 s on, or nothing does.
std::string cluster_at(int time, const std::string& job) {
  const std::string running = R"({"name":")" + job + R"(","queue":"a","node":"n","started":1000,"gpu":{"count":1}},)";
  return R"({"format":"muster/v1","id":"t)" + std::to_string(time) + R"(","time":)" + std::to_string(time) +
         R"(,"nodes":[{"name":"n","gpus":{"count":2}}],"queues":[{"name":"a","gpu":{"quota":0}},)"
         R"({"name":"b","gpu":{"quota":0}}],"pods":[)" +
         (job.empty() ? "" : running) +
         R"({"name":"w","queue":"b","gpu":{"count":2}},{"name":"v","queue":"a","gpu":{"count":2}}]})";
}

Json plan_for(const Server& server, const std::string& line, const std::string& cluster = "") {
  const HttpAnswer answer =
      server.ask(post("/v1/solve", line, cluster.empty() ? "" : "Muster-Cluster: " + cluster + "\r\n"));
  EXPECT_EQ(answer.status, 200) << answer.body;
  return Json::parse(answer.body);
}

// GPUs' seconds by "QUEUE COUNT", of the plan's histories.
Json durations_of(const Json& plan) {
  Json result = Json::object();
  for (const Json& one : plan.at("histories").at("expectedDurations")) {
    result[one.value("queue", "all") + " " + one["count"].dump()] = one["mean"];
  }
  return result;
}

double usage_of(const Json& plan, const std::string& queue) {
  for (const Json& one : plan.at("histories").at("queues"))
    if (one["name"] == queue) return one["gpu"]["usage"];
  return 0;
}

TEST(ServeHistories, AreOffUnlessAskedFor) {
  const Workplace place;
  const Server server(place);
  plan_for(server, cluster_at(2000, "j"));
  EXPECT_FALSE(plan_for(server, cluster_at(2100, "")).contains("histories"));
}

TEST(ServeHistories, PlanTellsWhatWasFilledInAndIsVerifiedWithIt) {
  const Workplace place;
  const Server server(place, {"--keep-durations", "--usage-half-life", "100"});
  const Json first = plan_for(server, cluster_at(2000, "j"));
  EXPECT_EQ(durations_of(first), Json::object());
  EXPECT_EQ(usage_of(first, "a"), 0);
  const std::string line = cluster_at(2100, "");
  Json second = plan_for(server, line);
  EXPECT_EQ(durations_of(second), (Json{{"all 1", 1050}, {"a 1", 1050}}));
  EXPECT_EQ(usage_of(second, "a"), 0.5);
  EXPECT_NE(server.ask(get("/metrics")).body.find("muster_finished_gangs_total 1\n"), std::string::npos);

  const std::string lines = "application/x-ndjson";
  const HttpAnswer verdict = server.ask(post("/v1/verify", line + "\n" + second.dump() + "\n", "", lines));
  EXPECT_EQ(Json::parse(verdict.body)["valid"], true) << verdict.body;
  const auto verify = [&] {
    return place.run("verify " + place.file("s.jsonl", line + "\n") + " " +
                     place.file("p.jsonl", second.dump() + "\n"));
  };
  EXPECT_EQ(verify().exit_code, 0) << verify().out;

  // The same histories in the snapshot give the same plan from a program that has none.
  Json whole = Json::parse(line);
  whole["policy"]["expectedDurations"] = second["histories"]["expectedDurations"];
  for (Json& queue : whole["queues"]) queue["gpu"]["usage"] = usage_of(second, queue["name"]);
  const Json again = Json::parse(place.run("solve --deterministic", whole.dump()).out);
  EXPECT_EQ(again["placements"], second["placements"]);
  EXPECT_EQ(again["objective"], second["objective"]);
  EXPECT_EQ(again["queues"], second["queues"]);

  // Without them, seniority is the time waited alone, and the claims do not hold.
  second.erase("histories");
  EXPECT_NE(verify().exit_code, 0);
}

TEST(ServeHistories, WhatTheSnapshotTellsIsLeftAlone) {
  const Workplace place;
  const Server server(place, {"--keep-durations", "--usage-half-life", "100"});
  Json line = Json::parse(cluster_at(2000, "j"));
  line["policy"]["expectedDurations"] = Json::array();
  line["queues"][0]["gpu"]["usage"] = 1;
  EXPECT_FALSE(plan_for(server, line.dump()).contains("histories"));
}

TEST(ServeHistories, ClustersAreToldApartByTheirNames) {
  const Workplace place;
  const Server server(place, {"--keep-durations", "--usage-half-life", "100"});
  plan_for(server, cluster_at(2000, "j"), "east");
  plan_for(server, cluster_at(2000, "k"), "west");
  EXPECT_EQ(durations_of(plan_for(server, cluster_at(2100, "k"), "west")), Json::object());
  const Json east = plan_for(server, cluster_at(2300, ""), "east");
  EXPECT_EQ(durations_of(east), (Json{{"all 1", 1150}, {"a 1", 1150}}));
  EXPECT_EQ(usage_of(east, "a"), 0.875);
  const Json west = plan_for(server, cluster_at(2200, ""), "west");
  EXPECT_EQ(durations_of(west), (Json{{"all 1", 1150}, {"a 1", 1150}}));
  EXPECT_EQ(usage_of(west, "a"), 0.75);
  EXPECT_EQ(durations_of(plan_for(server, cluster_at(2000, ""))), Json::object()) << "the one without a name";
  EXPECT_EQ(server.ask(post("/v1/solve", cluster_at(1, ""), "Muster-Cluster: no spaces\r\n")).status, 400);
  EXPECT_EQ(
      server.ask(post("/v1/solve", cluster_at(1, ""), "Muster-Cluster: " + std::string(129, 'x') + "\r\n")).status,
      400);
}

TEST(ServeHistories, AFileKeepsThemOverARestart) {
  const Workplace place;
  const std::vector<std::string> arguments{"--keep-durations", "--usage-half-life", "100", "--histories",
                                           place.path("kept")};
  {
    Server server(place, arguments);
    plan_for(server, cluster_at(2000, "j"), "east");
    plan_for(server, cluster_at(2100, ""), "east");
    server.signal(SIGTERM);
    EXPECT_EQ(server.exit_code(), 0) << server.log();
  }
  const std::string kept = place.content("kept");
  EXPECT_EQ(kept.substr(0, 5), "east\t");
  {
    Server server(place, arguments);
    const Json plan = plan_for(server, cluster_at(5000, ""), "east");
    EXPECT_EQ(durations_of(plan), (Json{{"all 1", 1050}, {"a 1", 1050}}));
    EXPECT_EQ(usage_of(plan, "a"), 0.5);
    server.signal(SIGTERM);
    EXPECT_EQ(server.exit_code(), 0);
  }
  EXPECT_EQ(place.content("kept"), kept);
  const Server without(place, {"--keep-durations"});
  EXPECT_EQ(durations_of(plan_for(without, cluster_at(5000, ""), "east")), Json::object());
}

TEST(ServeHistories, AFileThatIsNoneIsRefusedAndLeftAlone) {
  const Workplace place;
  const std::string file = place.file("kept", "precious");
  const std::string listen = " --listen unix:" + place.path("socket");
  const Outcome outcome = place.run("serve --keep-durations --histories " + file + listen);
  EXPECT_EQ(outcome.exit_code, 66);
  EXPECT_NE(outcome.err.find("line 1"), std::string::npos) << outcome.err;
  EXPECT_EQ(place.content("kept"), "precious");
  const Outcome nothing = place.run("serve --histories " + place.path("new") + listen);
  EXPECT_EQ(nothing.exit_code, 64);
  EXPECT_NE(nothing.err.find("--keep-durations"), std::string::npos) << nothing.err;
}

TEST(ServeHistories, AFileThatCannotBeWrittenIsReportedAndPlansGoOn) {
  const Workplace place;
  Server server(place, {"--keep-durations", "--histories", place.path("no/such/directory")});
  EXPECT_EQ(durations_of(plan_for(server, cluster_at(2000, "j"))), Json::object());
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 0);
  EXPECT_TRUE(server.has_logged("cannot be written"));
}

}  // namespace
}  // namespace muster::cli
