// POST /v1/export: the same objects as from `muster export`, and errors as a problem document.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/server.h"
#include "test/cli/snapshots.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kLines = "application/x-ndjson";

class ServeExport : public testing::Test {
 protected:
  HttpAnswer ask(const std::string& query, const std::string& body) const {
    return server.ask(post("/v1/export" + query, body, "", kLines));
  }
  std::string plan_of(const std::string& snapshot) const { return server.ask(post("/v1/solve", snapshot)).body; }
  // The code of the problem document, with its status and path.
  std::string problem(const std::string& query, const std::string& body) const {
    const HttpAnswer answer = ask(query, body);
    const Json document = Json::parse(answer.body, nullptr, false);
    if (document.is_discarded()) return "no problem document: " + answer.body;
    return std::to_string(answer.status) + " " + document.value("code", "") + " " + document.value("path", "");
  }

  const Workplace place;
  const Server server{place, {"--engine", "greedy"}};
  const std::string waiting =  // one GPU in use by a pod of lower priority
      R"({"format":"muster/v1","id":"w","nodes":[{"name":"n1","gpus":{"count":1}}],"gangs":[{"name":"ns/high","priority":60},{"name":"ns/low"}],)"
      R"("pods":[{"name":"ns/low-0","gang":"ns/low","node":"n1","gpu":{"count":1}},{"name":"ns/high-0","gang":"ns/high","gpu":{"count":1}}]})";
};

TEST_F(ServeExport, GivesWhatTheCommandGives) {
  const std::string plan = plan_of(waiting);
  const std::string snapshot = place.file("s.jsonl", waiting + "\n"), plans = place.file("p.jsonl", plan);
  for (const std::string format : {"bindings", "patches", "deltas"}) {
    for (const std::string phase : {"now", "evictions", "after-evictions", "all"}) {
      const HttpAnswer answer = ask("?format=" + format + "&phase=" + phase, waiting + "\n" + plan);
      EXPECT_EQ(answer.status, 200) << answer.body;
      EXPECT_EQ(answer.field("Content-Type"), kLines);
      const std::string arguments = " --format " + format + " --phase " + phase + " --snapshot ";
      EXPECT_EQ(answer.body, place.run("export --quiet" + arguments + snapshot + " " + plans).out) << format << phase;
    }
  }
  EXPECT_NE(ask("?format=bindings&phase=all", waiting + "\n" + plan).body, "");
}

TEST_F(ServeExport, TakesAPlanAloneWhereTheFormatNeedsNoMore) {
  EXPECT_EQ(ask("?format=bindings&phase=evictions", plan_of(waiting)).status, 200);
  EXPECT_EQ(problem("?format=kai", plan_of(waiting)), "400 MissingKey snapshot");
}

TEST_F(ServeExport, LeavesOutBindingsOfSharedDevicesUnlessTheyAreAllowed) {
  const std::string node = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":)"
                           R"({"nvidia.com/gpu":"1","pods":"9"}}})";
  const std::string pod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"u","annotations":)"
                          R"({"gpu-fraction":"0.5"}},"spec":{"containers":[{"name":"c"}]}})";
  const std::string cluster = R"({"apiVersion":"v1","kind":"List","items":[)" + node + "," + pod + "]}";
  const std::string body = cluster + "\n" + plan_of(cluster);
  EXPECT_EQ(ask("?format=bindings", body).body, "");
  EXPECT_NE(ask("?format=bindings&allow-shared=true", body).body.find("\"Binding\""), std::string::npos);
  EXPECT_EQ(problem("?format=bindings&allow-shared=perhaps", body), "400 InvalidValue allow-shared");
}

TEST_F(ServeExport, TellsInAFieldWhatOtherPhasesHold) {
  const HttpAnswer answer = ask("?format=bindings", waiting + "\n" + plan_of(waiting));
  EXPECT_EQ(answer.body, "");
  EXPECT_NE(answer.field("Muster-Note"), "");
}

TEST_F(ServeExport, TakesGatesWithTheirEncoding) {
  EXPECT_EQ(ask("?format=patches&gate=example.com%2Fplanned,b", plan_of(waiting)).status, 200);
  EXPECT_EQ(problem("?format=patches&gate=a%2", plan_of(waiting)), "400 InvalidValue gate");
  EXPECT_EQ(problem("?format=patches&gate=a,,b", plan_of(waiting)), "400 InvalidValue gate");
  EXPECT_EQ(problem("?format=bindings&gate=a", plan_of(waiting)), "400 InvalidValue gate");
}

TEST_F(ServeExport, NamesWhatIsWrongWithTheQuery) {
  const std::string plan = plan_of(waiting);
  EXPECT_EQ(problem("", plan), "400 MissingKey format");
  EXPECT_EQ(problem("?format=yaml", plan), "400 InvalidValue format");
  EXPECT_EQ(problem("?format=bindings&phase=later", plan), "400 InvalidValue phase");
  EXPECT_EQ(problem("?format=bindings&format=kai", plan), "400 InvalidValue format");
  EXPECT_EQ(problem("?fromat=bindings", plan), "400 InvalidValue query");
  EXPECT_NE(ask("?fromat=bindings", plan).body.find("did you mean 'format'?"), std::string::npos);
}

TEST_F(ServeExport, RefusesPlansThatAreNoneOrBreakARuleOrAnswerAnother) {
  const std::string plan = plan_of(waiting);
  Json broken = Json::parse(plan);
  broken["evictions"].clear();
  EXPECT_EQ(problem("?format=bindings", waiting + "\n" + broken.dump()).substr(0, 15), "400 InvalidPlan");
  broken = Json::parse(plan);
  broken["id"] = "other";
  EXPECT_EQ(problem("?format=bindings", waiting + "\n" + broken.dump()), "400 OtherSnapshot $.id");
  EXPECT_EQ(problem("?format=bindings", waiting + "\nbroken").substr(0, 15), "400 InvalidJson");
  EXPECT_EQ(problem("?format=bindings", "broken\n" + plan).substr(0, 15), "400 InvalidJson");
  const std::string record = server.ask(post("/v1/solve", "broken\n", "", kLines)).body;
  EXPECT_EQ(problem("?format=bindings", record), "400 NoPlan $.status");
  EXPECT_EQ(problem("?format=bindings", "\n\n"), "400 InvalidValue $");
  EXPECT_EQ(problem("?format=bindings", plan + plan + plan), "400 InvalidValue $");
}

TEST_F(ServeExport, IsForPostsOfLines) {
  EXPECT_EQ(server.ask(get("/v1/export?format=bindings")).status, 405);
  EXPECT_EQ(server.ask(post("/v1/export?format=bindings", plan_of(waiting))).status, 415);
}

}  // namespace
}  // namespace muster::cli
