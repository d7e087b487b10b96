// `muster simulate` from outside: output, repetition, checkpoints, errors.
#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

// Three queues on six nodes; gangs of one to eight GPUs that come faster than they can be served.
std::string busy_workload() {
  std::string text = R"({"format":"muster/v1","id":"busy","nodes":[)";
  for (int i = 0; i < 6; ++i) {
    text += (i == 0 ? "" : ",");
    text += R"({"name":"n)" + std::to_string(i) + R"(","gpus":{"count":8}})";
  }
  text +=
      R"(],"queues":[{"name":"a","gpu":{"quota":16}},{"name":"b","gpu":{"quota":16}},{"name":"c","gpu":{"quota":16}}]})";
  text += '\n';
  for (int i = 0; i < 90; ++i) {
    const std::string name = "j" + std::to_string(i);
    const int size = i % 9 == 0 ? 8 : i % 3 == 0 ? 4 : 1;
    text += R"({"time":)" + std::to_string(i * 20) + R"(,"event":"submit","gangs":[{"name":")" + name +
            R"(","queue":")" + "aab"[i % 3] + R"(","priority":)" + std::to_string(i % 2 * 50) + R"(}],"pods":[)";
    for (int pod = 0; pod < size; ++pod) {
      text += (pod == 0 ? "" : ",");
      text += R"({"name":")" + name + "-" + std::to_string(pod) + R"(","gang":")" + name + R"(","gpu":{"count":1}})";
    }
    text += R"(],"duration":)" + std::to_string(300 + i * 37 % 400) + "}\n";
  }
  return text;
}

class Simulate : public testing::Test {
 protected:
  Outcome run(const std::string& arguments) { return workplace.run("simulate --quiet " + arguments, busy_workload()); }
  Workplace workplace;
};

TEST_F(Simulate, TellsWhatCameOfIt) {
  const Outcome outcome = run("--period 30s --events " + workplace.path("events"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json summary = Json::parse(outcome.out);
  EXPECT_EQ(summary["simulation"]["policy"], "greedy");
  EXPECT_EQ(summary["gangs"]["submitted"], 90);
  EXPECT_EQ(summary["gangs"]["finished"], 90);
  EXPECT_GT(summary["allocation"]["mean"], 0.5);
  EXPECT_EQ(summary["byQueue"].size(), 2U);
  EXPECT_EQ(summary["bySize"].size(), 3U);
  EXPECT_FALSE(summary.contains("cycleMs"));
  EXPECT_FALSE(summary["gangs"].contains("expectedStarts"));
  const auto lines = lines_of(workplace.content("events"));
  EXPECT_EQ(Json::parse(lines.at(0))["event"], "simulation");
  std::int64_t cycles = 0, finished = 0, started = 0, interrupted = 0;
  double before = 0;
  for (const std::string& line : lines) {
    const Json event = Json::parse(line);
    EXPECT_GE(event["time"], before) << line;
    before = event["time"];
    cycles += event["event"] == "cycle" ? 1 : 0;
    finished += event["event"] == "finish" ? 1 : 0;
    started += event["event"] == "start" ? 1 : 0;
    interrupted += event["event"] == "interrupt" ? 1 : 0;
  }
  EXPECT_EQ(cycles, summary["cycles"]);
  EXPECT_EQ(finished, 90);
  EXPECT_EQ(started, 90 + interrupted);
  EXPECT_EQ(interrupted, summary["gangs"]["interruptions"]);
}

TEST_F(Simulate, NoTwoPodsEverShareADevice) {
  ASSERT_EQ(run("--period 30s --policy greedy --mtbf 1h --mttr 5m --events " + workplace.path("events")).exit_code, 0);
  std::map<std::string, std::vector<std::pair<std::string, int>>> places;  // by pod
  std::map<std::pair<std::string, int>, std::string> holder;
  std::map<std::string, std::vector<std::string>> pods_of;
  const auto leave = [&](const std::string& pod) {
    for (const auto& place : places[pod]) holder.erase(place);
    places.erase(pod);
  };
  for (const std::string& line : lines_of(workplace.content("events"))) {
    const Json event = Json::parse(line);
    if (event["event"] == "evict") {
      for (const Json& pod : event["pods"]) leave(pod);
    }
    if (event["event"] == "finish") {
      for (const std::string& pod : pods_of[event["gang"]]) leave(pod);
    }
    if (event["event"] != "place" && event["event"] != "move") continue;
    for (const Json& pod : event["pods"]) {
      pods_of[event["gang"]].push_back(pod["name"]);
      if (event["event"] == "move") leave(pod["name"]);
      for (const Json& device : pod["gpus"]) {
        const std::pair<std::string, int> place(pod["node"], device);
        EXPECT_TRUE(holder.emplace(place, pod["name"]).second || event["event"] == "move") << line;
        places[pod["name"]].push_back(place);
      }
    }
  }
}

TEST_F(Simulate, GivesTheSameBytesAgainForEveryPolicy) {
  for (const std::string policy : {"greedy", "fifo", "backfill", "easy", "kai", "clairvoyant", "fgd"}) {
    const std::string arguments =
        "--policy " + policy + " --mtbf 2h --mttr 5m --seed 5 --events " + workplace.path("events");
    const Outcome first = run(arguments + " --threads 1");
    ASSERT_EQ(first.exit_code, 0) << first.err;
    const std::string events = workplace.content("events");
    const Outcome second = run(arguments + " --threads 2");
    EXPECT_EQ(first.out, second.out) << policy;
    EXPECT_EQ(events, workplace.content("events")) << policy;
  }
}

// Four GPUs that single jobs come for as fast as they end, and one job that needs all four.
std::string starving_workload() {
  std::string text = R"({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":4}}]})"
                     "\n";
  const auto submit = [&](int time, const std::string& name, int gpus, int duration) {
    text += R"({"time":)" + std::to_string(time) + R"(,"event":"submit","pods":[{"name":")" + name +
            R"(","gpu":{"count":)" + std::to_string(gpus) + R"(},"expectedDuration":)" + std::to_string(duration) +
            R"(}],"duration":)" + std::to_string(duration) + "}\n";
  };
  for (int i = 0; i < 4; ++i) submit(25 * i, "first-" + std::to_string(i), 1, 400);
  submit(110, "big", 4, 100);
  for (int i = 0; i < 100; ++i) submit(111 + 25 * i, "small-" + std::to_string(i), 1, 300);
  return text;
}

TEST_F(Simulate, EasyStartsALargeGangWhereBackfillingStarvesIt) {
  const auto start_of_big = [&](const std::string& policy) {
    const Outcome outcome =
        workplace.run("simulate --quiet --one-by-one --policy " + policy + " --events " + workplace.path("events"),
                      starving_workload());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const std::string& line : lines_of(workplace.content("events"))) {
      const Json event = Json::parse(line);
      if (event["event"] == "start" && event["gang"] == "big") return event["time"].get<double>();
    }
    return -1.0;
  };
  EXPECT_EQ(start_of_big("easy"), 475) << "when the last of the first four ends";
  EXPECT_GT(start_of_big("backfill"), 2000);
}

TEST_F(Simulate, GoesOnFromACheckpointWithTheSameBytes) {
  const Outcome whole = run("--events " + workplace.path("whole"));
  const std::string checkpointed =
      "--events " + workplace.path("events") + " --checkpoint " + workplace.path("checkpoint");
  ASSERT_EQ(run(checkpointed).out, whole.out);
  const std::string log = workplace.content("checkpoint");
  // Cut off in the middle of a line, as a kill may leave it.
  workplace.file("checkpoint", log.substr(0, log.size() * 2 / 5));
  const Outcome resumed = run(checkpointed);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole.out);
  EXPECT_EQ(workplace.content("events"), workplace.content("whole"));
  EXPECT_EQ(workplace.content("checkpoint"), log);
}

TEST_F(Simulate, GoesOnAfterASignal) {
  const Outcome whole = run("");
  workplace.file("workload", busy_workload());
  const std::string command = test::program() + " simulate --quiet " + workplace.path("workload") + " --checkpoint " +
                              workplace.path("checkpoint");
  // The first run is stopped as soon as its checkpoint has something to go on from.
  const Outcome cut =
      workplace.shell(command + " & pid=$!; while [ \"$(wc -l < " + workplace.path("checkpoint") +
                      " 2>/dev/null || echo 0)\" -lt 2 ] && kill -0 $pid; do :; done; kill -TERM $pid; wait $pid");
  EXPECT_TRUE(cut.exit_code == 128 + SIGTERM || cut.exit_code == 0) << cut.exit_code << cut.err;
  EXPECT_EQ(workplace.shell(command).out, whole.out);
}

TEST_F(Simulate, RefusesTheCheckpointOfAnotherRun) {
  const std::string checkpoint = " --checkpoint " + workplace.path("checkpoint");
  ASSERT_EQ(run("--seed 1" + checkpoint).exit_code, 0);
  const Outcome other = run("--seed 2" + checkpoint);
  EXPECT_EQ(other.exit_code, 73);
  EXPECT_NE(other.err.find("another run"), std::string::npos) << other.err;
}

TEST_F(Simulate, TellsTheClockOnlyWhereAsked) {
  const Json summary = Json::parse(run("--timings --events " + workplace.path("events")).out);
  EXPECT_GT(summary["cycleMs"]["mean"], 0);
  EXPECT_NE(workplace.content("events").find("\"ms\":"), std::string::npos);
  run("--events " + workplace.path("events"));
  EXPECT_EQ(workplace.content("events").find("\"ms\":"), std::string::npos);
}

TEST_F(Simulate, NamesTheLineAndThePathOfWhatIsWrong) {
  const Outcome outcome = workplace.run(
      "simulate", "{\"format\":\"muster/v1\"}\n\n{\"time\":1,\"event\":\"submit\",\"pods\":[{\"name\":3}]}\n");
  EXPECT_EQ(outcome.exit_code, 65);
  EXPECT_NE(outcome.err.find("line 3"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("$.pods[0].name"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(workplace.run("simulate /nowhere").exit_code, 66);
  EXPECT_EQ(workplace.run("simulate", "").exit_code, 66);
  EXPECT_EQ(run("--policy best").exit_code, 64);
  EXPECT_EQ(run("--batch 2 --one-by-one").exit_code, 64);
  EXPECT_EQ(run("--events /nowhere/e").exit_code, 73);
}

TEST_F(Simulate, ReplaysAnImportedTrace) {
  const Outcome outcome = workplace.shell(test::program() + " import philly --days 1 --load 0.2 | " + test::program() +
                                          " simulate --quiet --period 30m --policy kai");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_GT(Json::parse(outcome.out)["gangs"]["finished"], 800);
}

TEST_F(Simulate, ComparesExpectedStartsWithActualOnesIfAsked) {
  Json summary = Json::parse(run("--calibrate --threads 1").out);
  const Json told = summary["gangs"]["expectedStarts"];
  EXPECT_GT(told["count"], 20);
  EXPECT_GT(told["p50"], 1) << "it expects hours at first, and jobs take minutes";
  EXPECT_LE(told["withinTwice"], 1);
  EXPECT_LE(told["p10"], told["p50"]);
  EXPECT_LE(told["p50"], told["p90"]);
  for (const char* group : {"gangs", "large"}) summary[group].erase("expectedStarts");
  for (const char* list : {"bySize", "byQueue"})
    for (Json& group : summary[list]) group.erase("expectedStarts");
  EXPECT_EQ(summary, Json::parse(run("--threads 1").out)) << "nothing else changes";
}

// The online track of OpenB: one pod at a time, nothing leaves, what does not fit is dropped. Best fit leaves 7.1 % of
// the GPUs in the published experiment (mean over ten seeds, at 100 % arrived).
TEST_F(Simulate, ReplaysThePublishedExperiment) {
  const Outcome outcome =
      workplace.shell(test::program() + " import openb --events --arrived 100 --place-only | " + test::program() +
                      " simulate --quiet --batch 256 --drop --policy best-fit --events " + workplace.path("events"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json summary = Json::parse(outcome.out);
  EXPECT_EQ(summary["gangs"]["submitted"], 8317);
  const auto lines = lines_of(workplace.content("events"));
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const Json event = Json::parse(*line);
    if (event["event"] != "cycle") continue;
    const double left = 100 - 100 * event["allocated"].get<double>() / event["capacity"].get<double>();
    EXPECT_NEAR(left, 7.14, 0.6);
    break;
  }
}

}  // namespace
}  // namespace muster::cli
