// What the options on policy do, from outside: --scheduler-name, --actions, --no-evictions, --max-moves,
// --order, --protect.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/cli/server.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;

// One pod of another scheduler runs and one waits; of ours one runs, of low priority, and one waits, of high priority.
const char* const kSnapshot =
    R"({"format":"muster/v1","id":"s","time":1000,"nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}}],)"
    R"("pods":[{"name":"runs","node":"a","gpu":{"count":1},"priority":10,"labels":{"team":"infra"}},)"
    R"({"name":"theirs","node":"b","gpu":{"count":1},"priority":5,"schedulerName":"other"},)"
    R"({"name":"waits","gpu":{"count":1},"priority":50},)"
    R"({"name":"waits-for-them","gpu":{"count":1},"priority":40,"schedulerName":"other"}]})";

class PolicyOptions : public testing::Test {
 protected:
  // "theirs>waits": the evicted pods, then the placed ones.
  static std::string told(const std::string& line) {
    const Json plan = Json::parse(line);
    std::string text;
    for (const Json& eviction : plan["evictions"]) text += eviction["pod"].get<std::string>() + " ";
    text += ">";
    for (const Json& placement : plan["placements"]) text += " " + placement["pod"].get<std::string>();
    return text;
  }
  std::string planned(const std::string& options) {
    const Outcome outcome = workplace.run("solve --deterministic --quiet " + options, kSnapshot);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return told(outcome.out);
  }
  Workplace workplace;
};

TEST_F(PolicyOptions, DecideWhichPodsMayLeaveAndWhichArePlanned) {
  EXPECT_EQ(planned(""), "runs theirs > waits waits-for-them");
  EXPECT_EQ(planned("--no-evictions"), ">");
  EXPECT_EQ(planned("--actions place,stale"), ">");
  EXPECT_EQ(planned("--protect 'team in (infra)'"), "theirs > waits");
  EXPECT_EQ(planned("--scheduler-name default-scheduler"), "runs > waits");
  EXPECT_EQ(planned("--scheduler-name other"), "theirs > waits-for-them");
  EXPECT_EQ(planned("--scheduler-name other,default-scheduler"), planned(""));
}

TEST_F(PolicyOptions, AddToWhatThePolicyProtects) {
  const std::string policy = R"(,"policy":{"protect":{"matchLabels":{"team":"infra"}}})";
  std::string snapshot = kSnapshot;
  snapshot.insert(snapshot.size() - 1, policy);
  const auto evicted = [&](const std::string& options) {
    return told(workplace.run("solve --deterministic --quiet " + options, snapshot).out);
  };
  EXPECT_EQ(evicted(""), "theirs > waits");
  EXPECT_EQ(evicted("--protect other=label"), "theirs > waits");
}

TEST_F(PolicyOptions, LeaveTheRoomThatPodsOfOtherSchedulersAreNominatedFor) {
  const std::string snapshot =
      R"({"format":"muster/v1","nodes":[{"name":"a","gpus":{"count":2}}],"pods":[)"
      R"({"name":"theirs","gpu":{"count":1},"schedulerName":"other","nominatedNode":"a"},)"
      R"({"name":"one","gpu":{"count":1},"priority":9},{"name":"two","gpu":{"count":1},"priority":5}]})";
  const auto told_with = [&](const std::string& options) {
    return told(workplace.run("solve --deterministic --quiet " + options, snapshot).out);
  };
  EXPECT_EQ(told_with("--scheduler-name default-scheduler"), "> one");
}

TEST_F(PolicyOptions, SayByWhatGangsAreSenior) {
  const std::string snapshot =
      R"({"format":"muster/v1","time":100000,"nodes":[{"name":"a","gpus":{"count":1}}],"pods":[)"
      R"({"name":"old-and-long","gpu":{"count":1},"created":0,"expectedDuration":"100h"},)"
      R"({"name":"short","gpu":{"count":1},"created":90000,"expectedDuration":"10m"}]})";
  const auto told_with = [&](const std::string& options) {
    return told(workplace.run("solve --deterministic --quiet " + options, snapshot).out);
  };
  EXPECT_EQ(told_with(""), "> short");
  EXPECT_EQ(told_with("--order expected-duration"), "> short");
  EXPECT_EQ(told_with("--order waited"), "> old-and-long");
}

TEST_F(PolicyOptions, LeavePodsOfOtherSchedulersOutOfTheGangs) {
  const Json plan =
      Json::parse(workplace.run("solve --deterministic --quiet --scheduler-name default-scheduler", kSnapshot).out);
  for (const Json& gang : plan["gangs"]) EXPECT_EQ(gang["name"].get<std::string>().find("hem"), std::string::npos);
}

TEST_F(PolicyOptions, AreAskedOfVerifyAndExportToo) {
  const std::string snapshot = workplace.file("s.jsonl", kSnapshot);
  const std::string plan =
      workplace.file("p.jsonl", workplace.run("solve --deterministic --quiet --protect team=infra " + snapshot).out);
  const std::string free = workplace.file("q.jsonl", workplace.run("solve --deterministic --quiet " + snapshot).out);
  EXPECT_EQ(workplace.run("verify --protect team=infra " + snapshot + " " + plan).exit_code, 0);
  EXPECT_NE(workplace.run("verify --protect team=infra " + snapshot + " " + free).out.find("policy.protect"),
            std::string::npos);
  EXPECT_EQ(workplace.run("export --format deltas --protect team=infra --snapshot " + snapshot + " " + plan).exit_code,
            0);
  EXPECT_NE(workplace.run("export --format deltas --protect team=infra --snapshot " + snapshot + " " + free).exit_code,
            0);
  const std::string note = workplace.run("export --format deltas --snapshot " + snapshot + " " + free).err;
  EXPECT_NE(note.find("default-scheduler (1), other (1)"), std::string::npos) << note;
}

TEST_F(PolicyOptions, AreRefusedWhereTheyMakeNoSense) {
  for (const char* options :
       {"--actions place,evict", "--protect 'a b'", "--max-moves -1", "--scheduler-name a,,b", "--order age"}) {
    const Outcome outcome = workplace.run(std::string("solve ") + options, kSnapshot);
    EXPECT_EQ(outcome.exit_code, 64) << options << outcome.err;
  }
  EXPECT_NE(workplace.run("solve --actions evict", "").err.find("place, consolidate, reclaim, preempt and stale"),
            std::string::npos);
}

TEST_F(PolicyOptions, NameTheSchedulersOfWhichPodsWaitOfKubernetesObjects) {
  const auto pod = [](const std::string& name, const std::string& scheduler) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"("},"spec":{"schedulerName":")" +
           scheduler + R"("}})";
  };
  const std::string list = R"({"apiVersion":"v1","kind":"List","items":[)" + pod("a", "kai-scheduler") + "," +
                           pod("b", "default-scheduler") + "]}";
  const std::string told = workplace.run("solve --budget 100ms", list).err;
  EXPECT_NE(told.find("default-scheduler (1), kai-scheduler (1)"), std::string::npos) << told;
  const std::string warnings = Json::parse(workplace.run("solve --budget 100ms", list).out)["warnings"].dump();
  EXPECT_NE(warnings.find("default-scheduler (1), kai-scheduler (1)"), std::string::npos) << warnings;
  EXPECT_EQ(workplace.run("solve --budget 100ms --scheduler-name kai-scheduler", list).err.find("(1)"),
            std::string::npos);
}

TEST_F(PolicyOptions, OfARequestNameItsSchedulers) {
  const Server server(workplace, {"--budget", "200ms", "--protect", "team=infra"});
  EXPECT_EQ(told(server.ask(post("/v1/solve", kSnapshot)).body), "theirs > waits");
  EXPECT_EQ(told(server.ask(post("/v1/solve", kSnapshot, "Muster-Scheduler-Name: other\r\n")).body),
            "theirs > waits-for-them");
  EXPECT_EQ(server.ask(post("/v1/solve", kSnapshot, "Muster-Scheduler-Name: a,,b\r\n")).status, 400);
}

TEST_F(PolicyOptions, OfARequestProtectPodsBesideThoseOfTheServer) {
  const std::string protect = "Muster-Protect: team in (infra)\r\n";
  const Server server(workplace, {"--budget", "200ms", "--scheduler-name", "default-scheduler"});
  EXPECT_EQ(told(server.ask(post("/v1/solve", kSnapshot)).body), "runs > waits");
  EXPECT_EQ(told(server.ask(post("/v1/solve", kSnapshot, protect)).body), ">");
  EXPECT_EQ(told(server.ask(post("/v1/solve", kSnapshot)).body), "runs > waits") << "the next request is as the first";
  const auto refused = server.ask(post("/v1/solve", kSnapshot, "Muster-Protect: a b\r\n"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("Muster-Protect"), std::string::npos) << refused.body;
}

TEST_F(PolicyOptions, OfARequestAddToWhatTheServerProtects) {
  const Server server(workplace, {"--budget", "200ms", "--protect", "team=infra"});
  EXPECT_EQ(told(server.ask(post("/v1/solve", kSnapshot, "Muster-Protect: other=label\r\n")).body), "theirs > waits");
}

}  // namespace
}  // namespace muster::cli
