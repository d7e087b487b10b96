// Kubernetes objects on the command line: what solve, verify and import make of them.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

const std::string kFolder = test::source_folder() + "/test/scenarios/kubernetes";

std::vector<std::string> scenario_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Json small_cluster() {
  return Json::parse(R"({"apiVersion":"v1","kind":"List","items":[
      {"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4"}}},
      {"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"default"}},
      {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"containers":[]}}]})");
}

class Kubernetes : public testing::Test {
 protected:
  Outcome solve(const std::string& input, const std::string& arguments = "") {
    return workplace.run("solve --engine greedy --deterministic " + arguments, input);
  }
  static std::string status(const std::string& plan) {
    const Json parsed = Json::parse(plan, nullptr, false);
    return parsed.is_discarded() ? "none" : parsed["status"].get<std::string>();
  }
  Workplace workplace;
};

TEST_F(Kubernetes, ImportedAndSolvedIsTheSameAsSolved) {
  const std::vector<std::string> files = scenario_files();
  EXPECT_GE(files.size(), 16U);
  for (const std::string& file : files) {
    const Outcome imported = workplace.run("import kubernetes --quiet " + file);
    ASSERT_EQ(imported.exit_code, 0) << file << imported.err;
    for (const std::string engine : {"greedy", "milp", "auto"}) {
      const std::string command = "solve --deterministic --quiet --engine " + engine + " ";
      const Outcome twice = workplace.run(command, imported.out), once = workplace.run(command + file);
      EXPECT_EQ(once.exit_code, 0) << file << once.err;
      EXPECT_EQ(twice.out, once.out) << file << " " << engine;
      const std::string plans = workplace.file("plans.jsonl", once.out);
      const Outcome verified = workplace.run("verify " + file + " " + plans);
      EXPECT_EQ(verified.exit_code, 0) << file << verified.out << verified.err;
    }
  }
}

// A pod that has waited since 2020 in a list that was saved then, according to its objects.
TEST_F(Kubernetes, NowIsTheClocksForStdinAndTheObjectsForAFile) {
  Json cluster = small_cluster();
  cluster["items"][2]["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z";
  const std::string list = workplace.file("cluster.json", cluster.dump());
  constexpr double kThen = 1'577'836'800;
  const auto time_of = [](const Outcome& outcome) { return Json::parse(outcome.out)["time"].get<double>(); };
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  const double before = now();
  const Outcome live = workplace.run("solve --quiet", cluster.dump());
  EXPECT_GE(time_of(live), before - 0.001);
  EXPECT_LE(time_of(live), now());
  EXPECT_EQ(time_of(workplace.run("solve --quiet " + list)), kThen);
  EXPECT_EQ(time_of(workplace.run("solve --quiet --time 1600000000", cluster.dump())), 1'600'000'000);
  EXPECT_EQ(time_of(solve(cluster.dump(), "--quiet")), kThen) << "deterministic: no clock is asked";
  EXPECT_EQ(time_of(workplace.run("import kubernetes --quiet " + list)), kThen);
  EXPECT_GE(time_of(workplace.run("import kubernetes --quiet", cluster.dump())), before - 0.001);

  // How long it has waited is part of what the plan claims.
  const std::string plans = workplace.file("plans.jsonl", live.out);
  const Outcome verified = workplace.run("verify " + list + " " + plans);
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_EQ(workplace.run("verify --time 1600000000 " + list + " " + plans).exit_code, 1);
  EXPECT_EQ(workplace.run("export --format bindings --snapshot " + list + " " + plans).exit_code, 0);
  const Outcome page = workplace.run("report --snapshot " + list + " " + plans);
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_EQ(page.err, "");
}

TEST_F(Kubernetes, AnotherAnnotationMayTellHowLongAPodRuns) {
  Json cluster = small_cluster();
  cluster["items"][2]["metadata"]["annotations"] = {{"example.com/limit", "90:00"}, {"muster/expected-duration", "60"}};
  const auto duration = [&](const std::string& option) {
    const Outcome outcome = workplace.run("import kubernetes --quiet " + option, cluster.dump());
    return Json::parse(outcome.out)["pods"][0]["expectedDuration"].get<double>();
  };
  EXPECT_EQ(duration(""), 60);
  EXPECT_EQ(duration("--duration-annotation example.com/limit"), 5400);
  EXPECT_EQ(solve(cluster.dump(), "--duration-annotation example.com/limit").exit_code, 0);
  EXPECT_NE(solve(cluster.dump(), "--duration-annotation=").err.find("--duration-annotation"), std::string::npos);
}

TEST_F(Kubernetes, ADocumentOverManyLinesIsOneLine) {
  const std::string plan = solve(small_cluster().dump() + "\n").out;
  EXPECT_EQ(status(plan), "ok");
  for (const int indentation : {1, 2, 4}) {
    EXPECT_EQ(solve(small_cluster().dump(indentation)).out, plan) << indentation;
    EXPECT_EQ(solve(small_cluster().dump(indentation) + "\n" + small_cluster().dump(indentation) + "\n").out,
              plan + plan);
  }
  std::string windows;
  for (const char c : small_cluster().dump(2)) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(solve(windows + "\r\n").out, plan);
}

TEST_F(Kubernetes, DocumentsAndSnapshotsMayFollowOneAnother) {
  const Outcome outcome = solve(good_lines()[0] + "\n" + small_cluster().dump(4) + "\n\n" + good_lines()[1] + "\n");
  const std::vector<std::string> plans = lines_of(outcome.out);
  ASSERT_EQ(plans.size(), 3U) << outcome.err;
  EXPECT_EQ(Json::parse(plans[0])["id"], "good-0");
  EXPECT_EQ(Json::parse(plans[2])["id"], "good-1");
}

TEST_F(Kubernetes, ABrokenDocumentCostsOneErrorRecord) {
  Json bad = small_cluster();
  bad["items"][2]["spec"]["priority"] = "high";
  std::string cut = small_cluster().dump(4);
  cut.resize(cut.size() / 2);
  cut.resize(cut.rfind('\n') + 1);
  const Outcome outcome = solve(bad.dump(4) + "\n" + cut + small_cluster().dump(4) + "\n" + cut, "--strict");
  const std::vector<std::string> plans = lines_of(outcome.out);
  ASSERT_EQ(plans.size(), 4U) << outcome.out;
  EXPECT_EQ(outcome.exit_code, 1);
  const Json error = Json::parse(plans[0])["error"];
  EXPECT_EQ(error["code"], "WrongType");
  EXPECT_EQ(error["line"], 1);
  EXPECT_NE(error["message"].get<std::string>().find("Pod default/p"), std::string::npos) << error.dump();
  EXPECT_EQ(Json::parse(plans[1])["error"]["code"], "InvalidJson");
  EXPECT_EQ(status(plans[2]), "ok");
  EXPECT_EQ(status(plans[3]), "error");
}

TEST_F(Kubernetes, ADocumentThatIsTooLongIsRefused) {
  const Outcome outcome =
      solve(small_cluster().dump(4) + "\n" + R"({"format":"muster/v1"})" + "\n", "--max-line-bytes 100");
  const std::vector<std::string> plans = lines_of(outcome.out);
  ASSERT_EQ(plans.size(), 2U) << outcome.out;
  EXPECT_EQ(Json::parse(plans[0])["error"]["code"], "TooLarge");
  EXPECT_EQ(status(plans[1]), "ok");
}

TEST_F(Kubernetes, WhatIsPassedOverIsToldOnStderr) {
  const std::string told = "1 time: Service is ignored; first: Service default/s";
  const Outcome solved = solve(small_cluster().dump());
  EXPECT_NE(solved.err.find(told), std::string::npos) << solved.err;
  EXPECT_EQ(solve(small_cluster().dump(), "--quiet").err, "");
  const Outcome imported = workplace.run("import kubernetes", small_cluster().dump());
  EXPECT_EQ(imported.exit_code, 0);
  EXPECT_NE(imported.err.find(told), std::string::npos) << imported.err;
  EXPECT_EQ(workplace.run("import kubernetes --quiet", small_cluster().dump()).err, "");
}

TEST_F(Kubernetes, WithAKeyThatIsNotReadAPlanIsTheBestOnlyOfWhatWasRead) {
  Json cluster = small_cluster();
  cluster["items"][2]["metadata"]["annotations"]["kai.scheduler/of-next-year"] = "often";
  const Outcome solved = solve(cluster.dump(), "--summary");
  const Json plan = Json::parse(lines_of(solved.out).at(0));
  EXPECT_EQ(plan["solver"]["proofOf"], "whatWasRead");
  const Outcome proven = solve(
      R"({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":1}}],"pods":[{"name":"p","gpu":{"count":1}}],)"
      R"("unread":[{"kind":"Pod","name":"p","place":"label","key":"k","treatment":"ignored","mayChange":"it"}]})",
      "--summary");
  EXPECT_NE(proven.err.find("proof optimal of what was read"), std::string::npos) << proven.err;
  const auto told = std::find_if(plan["warnings"].begin(), plan["warnings"].end(),
                                 [](const Json& warning) { return warning["code"] == "Unread"; });
  ASSERT_NE(told, plan["warnings"].end()) << plan["warnings"].dump();
  EXPECT_EQ((*told)["object"], "pod");
  EXPECT_EQ((*told)["message"],
            "annotation kai.scheduler/of-next-year \"often\" is not known to Muster; it may change anything");
  const Json known = Json::parse(lines_of(solve(small_cluster().dump()).out).at(0));
  EXPECT_FALSE(known["solver"].contains("proofOf"));
}

TEST_F(Kubernetes, AllDocumentsOfAnImportAreOneCluster) {
  const Json all = small_cluster();
  const std::string one = workplace.file("nodes.json", all["items"][0].dump(4));
  const std::string other = workplace.file(
      "pods.json", all["items"][2].dump(4) + "\n" + R"({"type":"MODIFIED","object":)" + all["items"][2].dump() + "}");
  const Outcome outcome = workplace.run("import kubernetes " + one + " " + other);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json line = Json::parse(outcome.out);
  EXPECT_EQ(line["nodes"].size(), 1U);
  EXPECT_EQ(line["pods"].size(), 1U);
}

TEST_F(Kubernetes, ManifestsAreReadAsYaml) {
  const std::string yaml =
      "apiVersion: v1\nkind: Node\nmetadata: {name: \"n\"}\nstatus: {allocatable: {cpu: 4}}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels: {version: \"1\"}\nspec:\n  containers: []\n";
  const std::string named = workplace.file("both.yaml", yaml), unnamed = workplace.file("both", yaml);
  const std::string nodes = workplace.file("nodes.json", small_cluster()["items"][0].dump(4));
  for (const std::string& arguments : {named, unnamed, std::string("-"), std::string()}) {
    const Outcome outcome = workplace.run("import kubernetes " + arguments, yaml);
    ASSERT_EQ(outcome.exit_code, 0) << arguments << outcome.err;
    const Json line = Json::parse(outcome.out);
    EXPECT_EQ(line["nodes"][0]["resources"]["cpu"], 4);
    EXPECT_EQ(line["pods"][0]["name"], "default/p");
    EXPECT_EQ(line["pods"][0]["labels"]["version"], "1");
  }
  const Outcome twice = workplace.run("import kubernetes --strict " + named + " " + nodes);
  EXPECT_NE(twice.err.find("Node n: duplicate object"), std::string::npos) << twice.err;
  const std::string broken = workplace.file("broken.yml", yaml + "kind: Pod\n");
  const Outcome outcome = workplace.run("import kubernetes " + broken);
  EXPECT_EQ(outcome.exit_code, 65);
  EXPECT_NE(outcome.err.find("broken.yml: InvalidYaml at 13:1: duplicate key kind"), std::string::npos) << outcome.err;
}

TEST_F(Kubernetes, TheTimeMayBeTold) {
  const auto time = [&](const std::string& arguments) {
    return Json::parse(workplace.run("import kubernetes --quiet " + arguments, small_cluster().dump()).out)["time"];
  };
  EXPECT_EQ(time("--time 2026-03-01T10:00:00Z"), 1772359200);
  EXPECT_EQ(time("--time 1.5"), 1.5);
  EXPECT_EQ(workplace.run("import kubernetes --time soon").exit_code, 64);
}

TEST_F(Kubernetes, AnImportNamesWhatIsWrong) {
  const struct {
    const char* input;
    int exit_code;
    const char* named;
  } cases[] = {
      {"", 66, "empty"},
      {" \n", 66, "empty"},
      {"{", 65, "InvalidJson"},
      {"{} {", 65, "InvalidJson"},
      {R"({"format":"muster/v1"})", 65, "UnsupportedFormat"},
      {"[]", 65, "UnsupportedFormat"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"priority":"1"}})", 65, "Pod default/x"}};
  for (const auto& [input, exit_code, named] : cases) {
    const Outcome outcome = workplace.run("import kubernetes --strict", input);
    EXPECT_EQ(outcome.exit_code, exit_code) << input;
    EXPECT_NE(outcome.err.find(named), std::string::npos) << input << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(workplace.run("import kubernetes /no/such/file").exit_code, 66);
  EXPECT_EQ(workplace.run("import kubernetes --help").exit_code, 0);
}

}  // namespace
}  // namespace muster::cli
