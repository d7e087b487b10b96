// `muster report` from outside: the page, the report on unreadable input, and the exit codes.
#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

class ReportCommand : public testing::Test {
 protected:
  std::string solved(const std::string& snapshots, const std::string& options = "--deterministic") {
    return workplace.run("solve --quiet " + options, snapshots).out;
  }
  // The data block of a page.
  static Json data_of(const std::string& page) {
    const std::string begin = R"(id="report-data">)";
    const std::size_t from = page.find(begin) + begin.size();
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
  }
  Workplace workplace;
};

TEST_F(ReportCommand, DrawsEverySnapshotWithItsPlan) {
  const std::string snapshots = joined(good_lines());
  const std::string s = workplace.file("s.jsonl", snapshots), p = workplace.file("night.jsonl", solved(snapshots));
  const Outcome outcome = workplace.run("report --snapshot " + s + " " + p + " --title 'A <title>'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json data = data_of(outcome.out);
  EXPECT_EQ(data["title"], "A <title>");
  ASSERT_EQ(data["clusters"].size(), good_lines().size());
  for (const Json& cluster : data["clusters"]) {
    ASSERT_EQ(cluster["plans"].size(), 1U);
    EXPECT_EQ(cluster["plans"][0]["label"], "night");
    EXPECT_EQ(cluster["plans"][0]["violationCount"], 0);
  }
}

TEST_F(ReportCommand, LaysSeveralPlansOfASnapshotSideBySide) {
  const std::string snapshot = good_lines()[1] + "\n";
  const std::string s = workplace.file("s.jsonl", snapshot);
  const std::string a = workplace.file("a.jsonl", solved(snapshot)),
                    b = workplace.file("b.jsonl", solved(snapshot, "--engine greedy"));
  const Json data = data_of(workplace.run("report --snapshot " + s + " " + a + " " + b).out);
  ASSERT_EQ(data["clusters"][0]["plans"].size(), 2U);
  EXPECT_EQ(data["clusters"][0]["plans"][1]["label"], "b");
}

TEST_F(ReportCommand, IsTheSamePageForTheSameInput) {
  const std::string snapshots = joined(good_lines());
  const std::string arguments =
      "report --snapshot " + workplace.file("s.jsonl", snapshots) + " " + workplace.file("p.jsonl", solved(snapshots));
  const Outcome first = workplace.run(arguments + " --output " + workplace.path("page.html"));
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "");
  EXPECT_EQ(workplace.run(arguments).out, workplace.content("page.html"));
}

TEST_F(ReportCommand, TakesTracesAndFigures) {
  const std::string trace = workplace.path("trace.jsonl");
  workplace.run("solve --quiet --deterministic --trace " + trace, good_lines()[1] + "\n");
  const std::string figures = workplace.file("bench.jsonl", R"({"instance":"x","gap":0.5})"
                                                            "\n");
  const Outcome outcome = workplace.run("report " + trace + " " + figures);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json data = data_of(outcome.out);
  EXPECT_FALSE(data["traces"].empty());
  EXPECT_EQ(data["figures"][0]["line"]["gap"], 0.5);
}

TEST_F(ReportCommand, DrawsSimulations) {
  const std::string header = R"({"format":"muster/v1","event":"simulation","time":0,"policy":"kai","queues":[]})";
  const std::string events = workplace.file(
      "events.jsonl",
      header + "\n" + R"({"event":"submit","time":1,"gang":"g","queue":"q","pods":1,"gpus":1})" + "\n" + header + "\n");
  const std::string summary =
      workplace.file("kai.jsonl", R"({"format":"muster/v1","simulation":{"policy":"kai"},"moves":3})"
                                  "\n");
  const Outcome outcome = workplace.run("report " + events + " " + summary);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json data = data_of(outcome.out);
  ASSERT_EQ(data["simulations"].size(), 2U);
  EXPECT_EQ(data["simulations"][0]["gangs"]["pods"], Json({1}));
  EXPECT_EQ(data["summaries"][0]["line"]["moves"], 3);
}

TEST_F(ReportCommand, TakesTheAnswersOfASweep) {
  const std::string grid = workplace.file(
      "grid.jsonl", joined({R"({"id":"a","workload":["generate","--preset","synth","--nodes","4"],"policy":"fifo"})",
                            R"({"id":"b","workload":["generate","--preset","synth","--nodes","4"],"polcy":"kai"})"}));
  const std::string answers = workplace.file("sweep.jsonl", workplace.run("simulate --grid " + grid).out);
  const Outcome outcome = workplace.run("report " + answers);
  EXPECT_EQ(outcome.exit_code, 1);  // one of the experiments has no summary
  EXPECT_NE(outcome.err.find("line 2: $: muster simulate: unknown option '--polcy'"), std::string::npos) << outcome.err;
  const Json data = data_of(outcome.out);
  ASSERT_EQ(data["summaries"].size(), 1U);
  EXPECT_EQ(data["summaries"][0]["line"]["experiment"]["id"], "a");
  // Other records with these keys are figures.
  const std::string odd =
      workplace.file("odd.jsonl", joined({R"({"experiment":1,"error":{"path":2}})", R"({"experiment":1,"error":{}})"}));
  EXPECT_EQ(data_of(workplace.run("report " + odd).out)["figures"].size(), 2U);
}

// Two queues that share two nodes, with gangs that take from each other what they are entitled to.
std::string contended_workload() {
  std::string text =
      R"({"format":"muster/v1","nodes":[{"name":"n0","gpus":{"count":8}},{"name":"n1","gpus":{"count":8}}],)"
      R"("queues":[{"name":"a","gpu":{"quota":12}},{"name":"b","gpu":{"quota":4}}]})"
      "\n";
  for (int i = 0; i < 60; ++i) {
    const std::string name = "j" + std::to_string(i);
    text += R"({"time":)" + std::to_string(i * 30) + R"(,"event":"submit","pods":[{"name":")" + name +
            R"(","queue":")" + (i % 3 == 0 ? "a" : "b") + R"(","gpu":{"count":)" + std::to_string(1 + i * 5 % 8) +
            R"(}}],"duration":)" + std::to_string(200 + i * 37 % 400) + "}\n";
  }
  return text;
}

void expect_near(const Json& told, const Json& wanted, const std::string& path) {
  if (told.is_object()) {
    for (const auto& [key, value] : told.items()) {
      ASSERT_TRUE(wanted.contains(key)) << path << "." << key;
      expect_near(value, wanted[key], path + "." + key);
    }
    return;
  }
  if (told.is_array()) {
    ASSERT_EQ(told.size(), wanted.size()) << path;
    for (std::size_t i = 0; i < told.size(); ++i) expect_near(told[i], wanted[i], path + "[" + std::to_string(i) + "]");
    return;
  }
  if (told.is_number()) {
    EXPECT_NEAR(told.get<double>(), wanted.get<double>(), 1e-6 * (1 + std::abs(wanted.get<double>()))) << path;
  } else {
    EXPECT_EQ(told, wanted) << path;
  }
}

TEST_F(ReportCommand, FiguresOfEventsAreThoseOfTheSummary) {
  for (const std::string policy : {"greedy", "easy", "kai"}) {
    const std::string events = workplace.path(policy + ".jsonl");
    const Outcome simulated =
        workplace.run("simulate --quiet --period 30s --policy " + policy + " --events " + events, contended_workload());
    ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
    const Json summary = Json::parse(simulated.out);
    EXPECT_EQ(summary["lost"] > 0, policy != "easy") << "where nothing is evicted, little is tested";
    const Json data = data_of(workplace.run("report " + events).out);
    expect_near(data["simulations"][0]["figures"], summary, policy);
  }
}

TEST_F(ReportCommand, TellsOfManyFaultsByTheirNumber) {
  std::string events;
  for (int i = 0; i < 100; ++i) events += "{\"event\":\"start\",\"time\":1,\"gang\":\"g\"}\n";
  const Outcome outcome = workplace.run("report " + workplace.file("events.jsonl", events));
  EXPECT_EQ(outcome.exit_code, 65);
  EXPECT_NE(outcome.err.find("and 80 more"), std::string::npos) << outcome.err;
}

TEST_F(ReportCommand, TellsWhereALineIsWrongAndDrawsTheRest) {
  const std::string snapshots = good_lines()[0] + "\n" + good_lines()[1] + "\n";
  Json plan = Json::parse(solved(good_lines()[1] + "\n"));
  plan["placements"][0]["pod"] = "missing";
  const std::string s = workplace.file("s.jsonl", snapshots);
  const std::string p = workplace.file("p.jsonl", solved(good_lines()[0] + "\n") + plan.dump() + "\nbroken\n");
  const Outcome outcome = workplace.run("report --snapshot " + s + " " + p);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("p.jsonl: line 2: $.placements[0].pod: the snapshot has no pod \"missing\""),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("p.jsonl: line 3: $"), std::string::npos) << outcome.err;
  const Json data = data_of(outcome.out);
  EXPECT_EQ(data["faults"].size(), 2U);
  EXPECT_EQ(data["clusters"][0]["plans"].size(), 1U);
  EXPECT_EQ(data["clusters"][1]["plans"].size(), 0U);
}

TEST_F(ReportCommand, SaysSoWhereAPlanBreaksRules) {
  const std::string snapshot = good_lines()[1] + "\n";
  Json plan = Json::parse(solved(snapshot));
  plan["placements"].erase(0);
  const std::string s = workplace.file("s.jsonl", snapshot), p = workplace.file("p.jsonl", plan.dump() + "\n");
  const Outcome outcome = workplace.run("report --snapshot " + s + " " + p);
  EXPECT_NE(outcome.err.find("the plan breaks rules"), std::string::npos) << outcome.err;
  EXPECT_GT(data_of(outcome.out)["clusters"][0]["plans"][0]["violationCount"], 0);
}

TEST_F(ReportCommand, RefusesAPlanForAnotherSnapshot) {
  const std::string s = workplace.file("s.jsonl", good_lines()[0] + "\n"),
                    p = workplace.file("p.jsonl", solved(good_lines()[1] + "\n"));
  const Outcome other = workplace.run("report --snapshot " + s + " " + p);
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.err.find("line 1: $"), std::string::npos) << other.err;
  const Outcome none = workplace.run("report " + p);
  EXPECT_EQ(none.exit_code, 65);
  EXPECT_NE(none.err.find("--snapshot"), std::string::npos) << none.err;
}

TEST_F(ReportCommand, EndsWithTheCodesOfTheProgram) {
  EXPECT_EQ(workplace.run("report").exit_code, 64);
  EXPECT_EQ(workplace.run("report --nonsense x").exit_code, 64);
  EXPECT_EQ(workplace.run("report /no/such/file").exit_code, 66);
  EXPECT_EQ(workplace.run("report --snapshot /no/such/file").exit_code, 66);
  EXPECT_EQ(workplace.run("report " + workplace.file("empty", "\n")).exit_code, 66);
  EXPECT_EQ(workplace.run("report " + workplace.file("bad", "broken\n")).exit_code, 65);
  const std::string figures = workplace.file("f.jsonl", "{\"gap\":1}\n");
  EXPECT_EQ(workplace.run("report " + figures + " --output /no/such/directory/page.html").exit_code, 73);
  EXPECT_EQ(workplace.run("report " + figures + " --output " + figures).exit_code, 64);
}

}  // namespace
}  // namespace muster::cli
