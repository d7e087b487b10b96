// The data of a page about a simulation are those of its events.
#include "io/report/simulation.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/report/line.h"

namespace muster::reporting {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kEvents = {
    R"({"format":"muster/v1","event":"simulation","time":100,"policy":"kai","cycle":"period 60","seed":1,"nodes":[{"name":"n0","gpus":8}],"queues":[{"name":"p"},{"name":"q","parent":"p","quota":4}]})",
    R"({"time":100,"event":"submit","gang":"</script>","queue":"q","priority":5,"pods":2,"gpus":1.5,"duration":50})",
    R"({"time":110,"event":"submit","gang":"late","queue":"q","priority":5,"pods":1,"gpus":8})",
    R"({"time":110,"event":"place","gang":"</script>","pods":[{"name":"a","node":"n0","gpus":[0],"share":1}]})",
    R"({"time":110,"event":"start","gang":"</script>","waited":10})",
    R"({"time":110,"event":"cycle","cycle":0,"running":2,"pending":1,"placed":2,"evicted":0,"moved":0,"capacity":8,"allocated":1.5,"fragmentation":0.25,"queues":[{"name":"q","fairShare":8,"allocated":1.5}],"waiting":{"gangs":1,"gpus":8},"ms":2.5})",
    R"({"time":120,"event":"node","name":"n0","change":"failed","gpus":8})",
    R"({"time":120,"event":"evict","gang":"</script>","reason":"failure","pods":["a"]})",
    R"({"time":120,"event":"interrupt","gang":"</script>","lost":15})",
    R"({"time":130,"event":"start","gang":"</script>","waited":30})",
    R"({"time":180.5,"event":"finish","gang":"</script>","waited":10,"completion":80.5})",
    R"({"time":181,"event":"start","gang":"late","waited":71})",
    R"({"time":200,"event":"drop","gang":"late"})"};

class ReportSimulation : public testing::Test {
 protected:
  // The error, or empty.
  std::string take(const std::string& line) {
    const auto kind = read_report_line(line, document_);
    EXPECT_TRUE(kind && *kind == ReportLineKind::kEvent) << line;
    const auto error = simulation_.take(document_);
    return error ? error->path + ": " + error->message : "";
  }
  Json told() {
    std::string text;
    json::JsonWriter json(text);
    simulation_.write(json);
    return Json::parse(text);
  }
  json::JsonDocument document_;
  ReportedSimulation simulation_{"label"};
};

TEST_F(ReportSimulation, ListsEachRunWithStartAndOutcome) {
  for (const std::string& event : kEvents) EXPECT_EQ(take(event), "");
  const Json data = told();
  EXPECT_EQ(data["gangs"]["submitted"], Json({0, 10}));
  EXPECT_EQ(data["gangs"]["left"], Json({80.5, 100}));
  EXPECT_EQ(data["gangs"]["dropped"], Json({0, 1}));
  const Json& runs = data["runs"];
  EXPECT_EQ(runs["gang"], Json({0, 0, 1}));
  EXPECT_EQ(runs["from"], Json({10, 30, 81}));
  EXPECT_EQ(runs["to"], Json({20, 80.5, 100}));
  std::vector<std::string> ends;
  for (const Json& end : runs["end"]) ends.push_back(runs["texts"][end.get<std::size_t>()]);
  EXPECT_EQ(ends, (std::vector<std::string>{"failure", "finish", "drop"}));
}

TEST_F(ReportSimulation, TellsOfCyclesAndQueues) {
  for (const std::string& event : kEvents) EXPECT_EQ(take(event), "");
  const Json data = told(), cycles = data["cycles"];
  EXPECT_EQ(data["policy"], "kai");
  EXPECT_EQ(data["start"], 100);
  EXPECT_EQ(cycles["time"], Json({10}));
  EXPECT_EQ(cycles["capacity"], Json({8}));
  EXPECT_EQ(cycles["fragmentation"], Json({0.25}));
  EXPECT_EQ(cycles["waitingGpus"], Json({8}));
  EXPECT_EQ(cycles["queues"][1]["name"], "q");
  EXPECT_EQ(cycles["queues"][1]["fairShare"], Json({8}));
  EXPECT_EQ(data["nodeChanges"]["time"], Json({20}));
}

TEST_F(ReportSimulation, WhatRunsAtTheEndRunsUntilThen) {
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(take(kEvents[i]), "");
  const Json runs = told()["runs"];
  EXPECT_EQ(runs["to"], Json({10}));
  EXPECT_EQ(runs["texts"][runs["end"][0].get<std::size_t>()], "end");
}

TEST_F(ReportSimulation, ManyCyclesAreThinnedAndNothingThatTheyCountIsLost) {
  EXPECT_EQ(take(kEvents[0]), "");
  constexpr int kCycles = 20'000;
  for (int i = 0; i < kCycles; ++i) {
    const std::string time = std::to_string(100 + i);
    ASSERT_EQ(
        take(R"({"event":"cycle","placed":1,"evicted":2,"moved":3,"capacity":8,"allocated":1,"time":)" + time + "}"),
        "");
  }
  const Json cycles = told()["cycles"];
  EXPECT_LT(cycles["time"].size(), 2 * CycleCurves::kMostCycles);
  std::int64_t placed = 0;
  for (const Json& count : cycles["placed"]) placed += count.get<std::int64_t>();
  EXPECT_GT(placed, kCycles - cycles["every"].get<int>());
  EXPECT_LE(placed, kCycles);
}

TEST_F(ReportSimulation, NamesThePathOfWhatIsWrong) {
  EXPECT_NE(take(kEvents[1]).find("$.event: "), std::string::npos);  // before the header
  EXPECT_EQ(take(kEvents[0]), "");
  EXPECT_NE(take(R"({"event":"start","time":100,"gang":"missing"})").find("$.gang: no gang \"missing\""),
            std::string::npos);
  EXPECT_NE(take(R"({"event":"submit","time":99,"gang":"g"})").find("$.time: "), std::string::npos);
  EXPECT_NE(take(R"({"event":"submit","time":"x","gang":"g"})").find("$.time: "), std::string::npos);
  EXPECT_NE(take(R"({"event":"submit","gang":"g"})").find("time"), std::string::npos);
  EXPECT_NE(
      take(R"({"event":"cycle","time":100,"queues":[{"name":"q","fairShare":-1}]})").find("$.queues[0].fairShare: "),
      std::string::npos);
}

}  // namespace
}  // namespace muster::reporting
