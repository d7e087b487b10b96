// The server as its clients see it: the answers to each kind of client.
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/server.h"
#include "test/cli/snapshots.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kLines = "application/x-ndjson";

TEST(Serve, PlansComeOverUnixSocketsAndTcp) {
  for (const char* address : {"", "tcp:127.0.0.1:0"}) {
    const Workplace place;
    const Server server(place, {"--engine", "greedy"}, address);
    const HttpAnswer answer = server.ask(post("/v1/solve", good_lines()[0]));
    EXPECT_EQ(answer.status, 200) << server.log();
    EXPECT_EQ(answer.field("Content-Type"), "application/json");
    EXPECT_EQ(Json::parse(answer.body)["status"], "ok");
  }
}

TEST(Serve, APlanOfTheServerIsOneThatVerifyPasses) {
  const Workplace place;
  const Server server(place);
  std::string plans;
  for (const std::string& line : good_lines()) plans += server.ask(post("/v1/solve", line)).body;
  const std::string snapshots = place.file("snapshots", joined(good_lines()));
  const Outcome outcome = place.run("verify " + snapshots + " " + place.file("plans", plans));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_NE(outcome.out.find("7 plans, 0 violations"), std::string::npos) << outcome.out;
}

TEST(Serve, LinesAreAnsweredInOrderAndBrokenOnesByErrorRecords) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  std::string body;
  for (const std::string& line : good_lines()) body += line + "\n\nbroken\r\n";
  const HttpAnswer answer = server.ask(post("/v1/solve", body, "", kLines));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Content-Type"), kLines);
  const std::vector<std::string> lines = lines_of(answer.body);
  ASSERT_EQ(lines.size(), 2 * good_lines().size());
  for (std::size_t i = 0; i < good_lines().size(); ++i) {
    EXPECT_EQ(Json::parse(lines[2 * i])["id"], "good-" + std::to_string(i));
    const Json error = Json::parse(lines[2 * i + 1]);
    EXPECT_EQ(error["status"], "error");
    EXPECT_EQ(error["error"]["line"], 3 * i + 3);
  }
}

TEST(Serve, AClientOfHttp10GetsLinesUpToTheEndOfTheConnection) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  const std::string body = good_lines()[0] + "\n" + good_lines()[1] + "\n";
  const HttpAnswer answer =
      server.ask("POST /v1/solve HTTP/1.0\r\nContent-Type: application/x-ndjson\r\nContent-Length: " +
                 std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_EQ(answer.field("Transfer-Encoding"), "");
  EXPECT_EQ(lines_of(answer.body).size(), 2U);
}

TEST(Serve, WhatCannotBeReadIsAProblemThatNamesThePlace) {
  const Workplace place;
  const Server server(place, {"--strict"});
  const HttpAnswer answer = server.ask(post("/v1/solve", R"({"format":"muster/v1","nodes":[{"name":7}]})"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.field("Content-Type"), "application/problem+json");
  const Json problem = Json::parse(answer.body);
  EXPECT_EQ(problem["title"], "Bad Request");
  EXPECT_EQ(problem["status"], 400);
  EXPECT_EQ(problem["code"], "WrongType");
  EXPECT_EQ(problem["path"], "$.nodes[0].name");
  EXPECT_EQ(problem["requestId"], answer.field("X-Request-Id"));
  EXPECT_EQ(server.ask(post("/v1/solve", "")).status, 409);  // it asks for the kept state
  EXPECT_EQ(server.ask(post("/v1/solve", " \n\n", "", kLines)).status, 400);
}

TEST(Serve, TheBudgetOfTheRequestComesBeforeTheSnapshotsAndThatBeforeTheServers) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy", "--budget", "700ms"});
  const std::string told = R"({"policy":{"budget":"300ms"},)" + good_lines()[0].substr(1);
  const auto budget_of = [&](const std::string& line, const std::string& fields) {
    const HttpAnswer answer = server.ask(post("/v1/solve", line, fields));
    EXPECT_EQ(answer.field("Muster-Budget"),
              std::to_string(Json::parse(answer.body)["solver"]["budgetMs"].get<int>()) + "ms");
    return answer.field("Muster-Budget");
  };
  EXPECT_EQ(budget_of(good_lines()[0], ""), "700ms");
  EXPECT_EQ(budget_of(told, ""), "300ms");
  EXPECT_EQ(budget_of(told, "Muster-Budget: 200ms\r\n"), "200ms");
  EXPECT_EQ(server.ask(post("/v1/solve", told, "Muster-Budget: soon\r\n")).status, 400);
  EXPECT_EQ(server.ask(post("/v1/solve", told, "Muster-Budget: 0\r\n")).status, 400);
}

TEST(Serve, OtherPathsMethodsAndTypesAreRefusedByName) {
  const Workplace place;
  const Server server(place);
  EXPECT_EQ(server.ask(get("/")).status, 404);
  EXPECT_EQ(server.ask(get("/v1/solve/")).status, 404);
  EXPECT_EQ(server.ask(get("/v1/solve")).status, 405);
  EXPECT_EQ(server.ask(get("/v1/solve")).field("Allow"), "POST");
  EXPECT_EQ(server.ask(post("/healthz", "x")).field("Allow"), "GET, HEAD");
  EXPECT_EQ(server.ask("DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n").status, 405);
  EXPECT_EQ(server.ask(post("/v1/solve", "{}", "", "text/plain")).status, 415);
  EXPECT_EQ(server.ask(post("/v1/verify", "{}")).status, 415);
  EXPECT_EQ(server.ask(post("/v1/solve", good_lines()[0], "", "Application/JSON; charset=utf-8")).status, 200);
  EXPECT_EQ(server.ask("GET http://muster/healthz?now HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
}

TEST(Serve, HeadHasTheHeaderOfGetAndNoBody) {
  const Workplace place;
  const Server server(place);
  Client client = server.connect();
  client.send("HEAD /version HTTP/1.1\r\nHost: x\r\n\r\n");
  const HttpAnswer head = client.receive(false);
  const HttpAnswer body = client.ask(get("/version"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Content-Length"), std::to_string(body.body.size()));
  EXPECT_TRUE(Json::parse(body.body).contains("version"));
}

TEST(Serve, PipelinedRequestsAreAnsweredInTheirOrder) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  Client client = server.connect();
  std::string requests;
  for (const std::string& line : good_lines()) requests += post("/v1/solve", line) + get("/version") + "\r\n";
  client.send(requests);
  for (std::size_t i = 0; i < good_lines().size(); ++i) {
    EXPECT_EQ(Json::parse(client.receive().body)["id"], "good-" + std::to_string(i));
    EXPECT_TRUE(Json::parse(client.receive().body).contains("version"));
  }
}

TEST(Serve, ConnectionsStayOpenUnlessTheClientWantsThemClosed) {
  const Workplace place;
  const Server server(place);
  Client client = server.connect();
  EXPECT_FALSE(client.ask(get("/healthz")).is_last);
  EXPECT_TRUE(client.ask("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").is_last);
  EXPECT_TRUE(client.is_closed());
  Client old = server.connect();
  EXPECT_EQ(old.ask("GET /healthz HTTP/1.0\r\n\r\n").status, 200);
  EXPECT_TRUE(old.is_closed());
  Client keeping = server.connect();
  EXPECT_EQ(keeping.ask("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").field("Connection"), "keep-alive");
  EXPECT_EQ(keeping.ask(get("/healthz")).status, 200);
}

TEST(Serve, ClientThatWaitsFor100ContinueGetsIt) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  Client client = server.connect();
  const std::string request = post("/v1/solve", good_lines()[0], "Expect: 100-continue\r\n");
  const std::size_t body = request.find("\r\n\r\n") + 4;
  EXPECT_EQ(client.ask(request.substr(0, body)).status, 100);
  EXPECT_EQ(client.ask(request.substr(body)).status, 200);
  // If the request would be rejected, the body is not requested.
  const std::string refused = post("/nowhere", good_lines()[0], "Expect: 100-continue\r\n");
  EXPECT_EQ(client.ask(refused.substr(0, refused.find("\r\n\r\n") + 4)).status, 404);
  EXPECT_EQ(server.ask(post("/v1/solve", "{}", "Expect: miracles\r\n")).status, 417);
}

TEST(Serve, RequestIdsAreTakenOverWhereTheyAreSane) {
  const Workplace place;
  const Server server(place);
  const auto id_for = [&](const std::string& id) {
    return server.ask("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: " + id + "\r\n\r\n").field("X-Request-Id");
  };
  EXPECT_EQ(id_for("cycle-17.a:b"), "cycle-17.a:b");
  for (const std::string& id :
       {std::string("with space"), std::string("\"quoted\""), std::string(129, 'x'), std::string()}) {
    EXPECT_EQ(id_for(id).size(), 16U) << id;
  }
  EXPECT_NE(id_for(""), id_for(""));
  server.ask(post("/v1/solve", "{}", "X-Request-Id: mine\r\n"));
  EXPECT_TRUE(server.has_logged(R"("requestId":"mine")")) << server.log();
}

TEST(Serve, ChunkedBodiesAreAsGoodAsOthers) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  const std::string line = good_lines()[1];
  const auto chunk = [](const std::string& text) {
    std::array<char, 20> size{};
    std::snprintf(size.data(), size.size(), "%zx;ext=1\r\n", text.size());
    return size.data() + text + "\r\n";
  };
  const std::string request =
      "POST /v1/solve HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
      chunk(line.substr(0, 5)) + chunk(line.substr(5)) + "0\r\nTrailer: x\r\n\r\n";
  EXPECT_EQ(server.ask(request).status, 200);
  // Byte by byte, with the end in pieces that a parser may stumble over.
  Client client = server.connect();
  for (const char byte : request) ASSERT_TRUE(client.send(std::string(1, byte)));
  EXPECT_EQ(client.receive().status, 200);
  client.send("POST /v1/solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
  client.send("\r");
  EXPECT_EQ(client.ask("\n").status, 409);  // an empty body, well framed
}

TEST(Serve, VerifyTellsOfEachSnapshotAndItsPlan) {
  const Workplace place;
  const Server server(place);
  const std::string plan = server.ask(post("/v1/solve", good_lines()[0])).body;
  const std::string other = server.ask(post("/v1/solve", good_lines()[3])).body;
  const std::string body = good_lines()[0] + "\n" + plan + good_lines()[0] + "\n" + other + good_lines()[1] + "\n";
  const HttpAnswer answer = server.ask(post("/v1/verify", body, "", kLines));
  const std::vector<std::string> lines = lines_of(answer.body);
  ASSERT_EQ(lines.size(), 3U) << answer.body;
  EXPECT_EQ(Json::parse(lines[0])["valid"], true);
  EXPECT_EQ(Json::parse(lines[0])["id"], "good-0");
  EXPECT_EQ(Json::parse(lines[1])["valid"], false);
  EXPECT_EQ(Json::parse(lines[1])["line"], 3);
  EXPECT_FALSE(Json::parse(lines[1])["findings"].empty());
  EXPECT_EQ(Json::parse(lines[2])["findings"][0]["message"], "it has no plan");
}

TEST(Serve, ImportTurnsKubernetesObjectsIntoASnapshot) {
  const Workplace place;
  const Server server(place);
  const auto node = [](const std::string& name) {
    return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
           R"("},"status":{"allocatable":{"cpu":"8","nvidia.com/gpu":"2"}}})";
  };
  const HttpAnswer answer = server.ask(post("/v1/import", node("n1") + "\n" + node("n2")));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(Json::parse(answer.body)["format"], "muster/v1");
  EXPECT_EQ(server.ask(post("/v1/solve", answer.body)).status, 200);
  EXPECT_EQ(server.ask(post("/v1/import", good_lines()[0])).status, 400);
}

// Family after family with help and type, each name once, and every name that the guide lists.
TEST(Serve, MetricsAreThoseOfTheGuide) {
  const Workplace place;
  const Server server(place);
  for (const std::string& line : good_lines()) server.ask(post("/v1/solve", line));
  server.ask(post("/v1/solve", "{}"));
  const HttpAnswer answer = server.ask(get("/metrics"));
  EXPECT_EQ(answer.field("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  std::set<std::string> families;
  for (const std::string& line : lines_of(answer.body)) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(families.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
    } else if (!line.starts_with("# HELP ")) {
      EXPECT_TRUE(std::regex_match(line, std::regex(R"re([a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+)re"))) << line;
    }
  }
  std::ifstream file(test::source_folder() + "/docs/serve.md");
  const std::string guide{std::istreambuf_iterator<char>(file), {}};
  const std::regex name(R"re(`(muster_[a-z_]+)[`{])re");
  int named = 0;
  for (std::sregex_iterator it(guide.begin(), guide.end(), name), end; it != end; ++it, ++named) {
    EXPECT_TRUE(families.contains((*it)[1])) << (*it)[1];
  }
  EXPECT_GT(named, 15);
  EXPECT_NE(answer.body.find("muster_solve_duration_seconds_count 7\n"), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find("muster_input_errors_total{code=\"MissingKey\"} 1\n"), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find("muster_gangs{phase=\"Unschedulable\"}"), std::string::npos) << answer.body;
}

TEST(Serve, TellsAsAMetricHowManyWholeNodesThePlanLeavesIdle) {
  const Workplace place;
  const Server server(place);
  server.ask(post("/v1/solve", R"({"format":"muster/v1","nodes":[{"name":"n1","gpus":{"count":4}},)"
                               R"({"name":"n2","gpus":{"count":4}},{"name":"n3","gpus":{"count":4}}],)"
                               R"("pods":[{"name":"a","gpu":{"count":3}}]})"));
  const std::string metrics = server.ask(get("/metrics")).body;
  EXPECT_NE(metrics.find("muster_whole_nodes{state=\"idle\"} 2\n"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("muster_whole_nodes{state=\"used\"} 1\n"), std::string::npos) << metrics;
}

}  // namespace
}  // namespace muster::cli
