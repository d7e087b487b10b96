// `muster export` from outside: what comes of plans, alone and with what they answer.
#include <algorithm>
#include <filesystem>
#include <map>
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

const std::vector<std::string> kFormats = {"bindings", "patches", "volcano", "kai", "deltas"};

std::vector<std::string> scenario_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/test/scenarios/kubernetes")) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// namespace/name of an object.
std::string full_name(const Json& metadata) {
  return metadata.value("namespace", "default") + "/" + metadata["name"].get<std::string>();
}

// Of all scenarios: what is exported is of all of them.
const std::string kAllSchedulers =
    " --scheduler-name default-scheduler,kai-scheduler,scheduler-plugins-scheduler,volcano ";

class Export : public testing::Test {
 protected:
  std::string solve(const std::string& file) {
    const Outcome solved = workplace.run("solve --engine greedy --deterministic --quiet" + kAllSchedulers + file);
    EXPECT_EQ(solved.exit_code, 0) << solved.err;
    return solved.out;
  }
  std::vector<Json> exported(const std::string& arguments, const std::string& plans) {
    const Outcome outcome = workplace.run("export " + arguments, plans);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << outcome.err;
    std::vector<Json> objects;
    for (const std::string& line : lines_of(outcome.out)) objects.push_back(Json::parse(line));
    return objects;
  }
  Workplace workplace;
};

TEST_F(Export, EveryScenarioIsExportedInEveryFormatAndNothingIsLost) {
  const std::vector<std::string> files = scenario_files();
  EXPECT_GE(files.size(), 16U);
  for (const std::string& file : files) {
    const std::string plan = solve(file);
    const Json parsed = Json::parse(plan);
    std::size_t moved = 0;
    for (const Json& eviction : parsed["evictions"]) moved += eviction["reason"] == "consolidate" ? 1 : 0;
    const std::size_t placed = parsed["placements"].size(), evicted = parsed["evictions"].size();
    for (const std::string& format : kFormats) {
      const std::size_t unsaid = format == "deltas" || format == "kai" ? moved : 0;  // one delta; KAI: see stderr
      const std::string options = "--phase all --allow-shared" + kAllSchedulers + "--format " + format;
      EXPECT_EQ(exported(options + " --snapshot " + file, plan).size(), placed + evicted - unsaid)
          << file << " " << format;
    }
  }
}

// The cluster once the objects are carried out: bound pods run, evicted ones are gone or, if they are bound again, have
// been created anew.
Json carried_out(Json list, const std::vector<Json>& objects) {
  std::map<std::string, std::string> nodes;
  std::vector<std::string> gone;
  for (const Json& object : objects) {
    const std::string name = full_name(object["metadata"]);
    if (object["kind"] == "Binding") nodes[name] = object["target"]["name"];
    if (object["kind"] == "Eviction") gone.push_back(name);
    if (object["kind"] == "BindRequest") list["items"].push_back(object);
  }
  Json items = Json::array();
  for (Json& item : list["items"]) {
    if (item["kind"] != "Pod") {
      items.push_back(item);
      continue;
    }
    const std::string name = full_name(item["metadata"]);
    const auto node = nodes.find(name);
    if (node == nodes.end() && std::find(gone.begin(), gone.end(), name) != gone.end()) continue;
    if (node != nodes.end()) {
      item["spec"]["nodeName"] = node->second;
      item["status"]["phase"] = "Running";
    }
    items.push_back(item);
  }
  list["items"] = items;
  return list;
}

// The pods of a snapshot line that run, and where.
std::map<std::string, std::string> running_pods(const Json& snapshot) {
  std::map<std::string, std::string> nodes;
  for (const Json& pod : snapshot["pods"]) {
    if (pod.contains("node")) nodes[pod["name"]] = pod["node"];
  }
  return nodes;
}

TEST_F(Export, CarriedOutAndReadAgainThePlacementsRunAndTheRefereeHasNothingAgainstIt) {
  for (const std::string& file : scenario_files()) {
    const std::string line = solve(file);
    const Json plan = Json::parse(line), list = Json::parse(workplace.shell("cat " + file).out);
    std::map<std::string, std::string> left;  // by pod: why
    for (const Json& eviction : plan["evictions"]) left[eviction["pod"]] = eviction["reason"];
    for (const std::string format : {"bindings", "kai"}) {
      const std::string told = file + " " + format;
      const std::string options = "--phase all --allow-shared" + kAllSchedulers + "--format " + format;
      const auto objects = exported(options + " --snapshot " + file, line);
      const std::string path = workplace.file("after.json", carried_out(list, objects).dump());
      const Outcome imported = workplace.run("import kubernetes --quiet " + path);
      ASSERT_EQ(imported.exit_code, 0) << told << imported.err;
      const auto nodes = running_pods(Json::parse(imported.out));
      for (const Json& placement : plan["placements"]) {
        if (format == "kai" && left.contains(placement["pod"])) continue;  // moved: to be planned again
        ASSERT_TRUE(nodes.contains(placement["pod"])) << told << placement;
        EXPECT_EQ(nodes.at(placement["pod"]), placement["node"]) << told;
      }
      for (const auto& [pod, reason] : left) {
        if (reason == "consolidate") continue;
        EXPECT_FALSE(nodes.contains(pod)) << told << pod;
      }
      const std::string plans = workplace.file("plans.jsonl", solve(path));
      const Outcome verified = workplace.run("verify" + kAllSchedulers + path + " " + plans);
      EXPECT_EQ(verified.exit_code, 0) << told << verified.out << verified.err;
    }
  }
}

// The reader rejects a cluster whose running pods do not fit.
TEST_F(Export, ImmediateStepsFitBeforeAnyPodHasLeft) {
  for (const std::string& file : scenario_files()) {
    const std::string plan = solve(file);
    const auto objects = exported("--quiet" + kAllSchedulers + "--snapshot " + file + " --format bindings", plan);
    for (const Json& object : objects) EXPECT_EQ(object["kind"], "Binding");
    const Json list = Json::parse(workplace.shell("cat " + file).out);
    const std::string path = workplace.file("after.json", carried_out(list, objects).dump());
    EXPECT_EQ(workplace.run("solve --engine greedy --deterministic --quiet " + path).exit_code, 0) << file;
  }
}

// Two pods that run on one full node, and one of higher priority that takes their place.
constexpr const char* kPreemption =
    R"({"format":"muster/v1","id":"full","time":1000,"nodes":[{"name":"n1","gpus":{"count":2}}],"pods":[
        {"name":"ns/low-0","gpu":{"count":1},"node":"n1","priority":1},
        {"name":"ns/low-1","gpu":{"count":1},"node":"n1","priority":1},
        {"name":"ns/cpu"},{"name":"ns/high","gpu":{"count":2},"priority":50}]})";

std::string one_line(std::string text) {
  std::erase(text, '\n');
  return text + "\n";
}

TEST_F(Export, OnlyWhatWaitsForNothingIsWrittenUnlessToldOtherwise) {
  const std::string plan = workplace.run("solve --quiet --deterministic", one_line(kPreemption)).out;
  const Outcome now = workplace.run("export --format bindings", plan);
  EXPECT_EQ(now.exit_code, 0);
  ASSERT_EQ(lines_of(now.out).size(), 1U) << now.out;
  EXPECT_EQ(Json::parse(now.out)["metadata"]["name"], "cpu");
  EXPECT_NE(now.err.find("line 1: 2 of its pods are to be evicted: --phase evictions"), std::string::npos) << now.err;
  EXPECT_NE(now.err.find("line 1: 1 of its placements wait for evictions"), std::string::npos) << now.err;
  EXPECT_EQ(workplace.run("export --format bindings --quiet", plan).err, "");
  EXPECT_EQ(exported("--format bindings --phase evictions", plan).size(), 2U);
  const std::vector<Json> later = exported("--format bindings --phase after-evictions", plan);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0]["metadata"]["name"], "high");
  EXPECT_EQ(exported("--format deltas", plan).size(), 4U);
}

TEST_F(Export, ErrorRecordsAreGivenOnAndCounted) {
  const std::string good = workplace.run("solve --quiet --deterministic", one_line(kPreemption)).out;
  const std::string bad = workplace.run("solve --quiet --deterministic", "{\"id\":\"b\"}\n").out;
  const std::string snapshots = workplace.file("snapshots", one_line(kPreemption) + "{\"id\":\"b\"}\n");
  for (const std::string& snapshot : {std::string(), " --snapshot " + snapshots}) {
    const Outcome some = workplace.run("export --format deltas" + snapshot, good + bad);
    EXPECT_EQ(some.exit_code, 1);
    ASSERT_EQ(lines_of(some.out).size(), 5U);
    EXPECT_EQ(lines_of(some.out)[4] + "\n", bad);
  }
  const Outcome all = workplace.run("export --format deltas", bad + "nonsense\n");
  EXPECT_EQ(all.exit_code, 65);
  const Json record = Json::parse(lines_of(all.out).at(1));
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["error"]["code"], "InvalidJson");
  EXPECT_EQ(record["error"]["line"], 2);
  EXPECT_NE(all.err.find("line 2: InvalidJson at $"), std::string::npos) << all.err;
  EXPECT_EQ(workplace.run("export --format deltas", "\n").exit_code, 66);
  EXPECT_EQ(workplace.run("export --format deltas /no/such/file").exit_code, 66);
}

TEST_F(Export, APlanThatDoesNotFitItsSnapshotIsAnErrorThatNamesThePath) {
  const std::string snapshot = workplace.file("snapshot", one_line(kPreemption));
  const Json plan = Json::parse(workplace.run("solve --quiet --deterministic " + snapshot).out);
  const auto refused = [&](const Json& broken) {
    const Outcome outcome =
        workplace.run("export --format bindings --phase all --snapshot " + snapshot, broken.dump() + "\n");
    EXPECT_EQ(outcome.exit_code, 65) << outcome.out;
    EXPECT_EQ(lines_of(outcome.out).size(), 1U) << "nothing of it leaves";
    const Json error = Json::parse(outcome.out)["error"];
    return error["code"].get<std::string>() + " " + error["path"].get<std::string>();
  };
  Json broken = plan;
  broken["placements"][0]["node"] = "n2";
  EXPECT_EQ(refused(broken), "UnknownName $.placements[0].node");
  broken = plan;
  broken["placements"][1]["pod"] = "ns/other";
  EXPECT_EQ(refused(broken), "UnknownName $.placements[1].pod");
  broken = plan;
  broken["placements"][1].erase("after");
  EXPECT_EQ(refused(broken), "InvalidPlan $.placements");
  broken = plan;
  broken["evictions"].erase(0);
  EXPECT_EQ(refused(broken), "InvalidPlan $.placements");
  broken = plan;
  broken["evictions"][1].erase("for");
  broken["evictions"][1]["reason"] = "stale";
  EXPECT_EQ(refused(broken), "InvalidPlan $.evictions[1]");
  broken = plan;
  broken["id"] = "another";
  EXPECT_EQ(refused(broken), "OtherSnapshot $.id");
}

TEST_F(Export, BrokenPlansCostOneErrorRecordEachAndNothingElse) {
  const std::string plan = workplace.run("solve --quiet --deterministic", one_line(kPreemption)).out;
  const std::string good = plan.substr(0, plan.size() - 1);
  const std::string snapshot = workplace.file("snapshot", one_line(kPreemption));
  std::string plans, snapshots;
  constexpr std::size_t kBroken = 200;
  for (std::uint32_t seed = 0; seed < kBroken; ++seed) plans += broken_line(good, seed) + "\n";
  for (std::size_t i = 0; i <= kBroken; ++i) snapshots += one_line(kPreemption);
  const std::string file = workplace.file("snapshots", snapshots);
  for (const std::string& format : {std::string("bindings"), std::string("volcano"), std::string("deltas")}) {
    const Outcome outcome =
        workplace.run("export --phase all --format " + format + " --snapshot " + file, plans + plan);
    const std::vector<std::string> lines = lines_of(outcome.out);
    ASSERT_EQ(outcome.exit_code, 1) << outcome.err;
    ASSERT_EQ(lines.size(), kBroken + 4);
    for (std::size_t i = 0; i < kBroken; ++i) EXPECT_EQ(Json::parse(lines[i])["status"], "error") << lines[i];
  }
}

TEST_F(Export, PlansAndSnapshotsAreCountedAgainstOneAnother) {
  const std::string plan = workplace.run("solve --quiet --deterministic", one_line(kPreemption)).out;
  const std::string one = workplace.file("one", one_line(kPreemption));
  const std::string two = workplace.file("two", one_line(kPreemption) + one_line(kPreemption));
  const Outcome surplus = workplace.run("export --format deltas --snapshot " + one, plan + plan);
  EXPECT_EQ(surplus.exit_code, 66);
  EXPECT_EQ(lines_of(surplus.out).size(), 4U);
  EXPECT_NE(surplus.err.find("line 2: --snapshot has no line for this plan"), std::string::npos) << surplus.err;
  const Outcome missing = workplace.run("export --format deltas --snapshot " + two, plan);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("line 2 of --snapshot has no plan"), std::string::npos) << missing.err;
}

TEST_F(Export, WhatCannotBeMeantIsRefusedAsUsage) {
  for (const std::string& arguments :
       {std::string(""), std::string("--format yaml"), std::string("--format bindings --phase later"),
        std::string("--format kai"), std::string("--format volcano"), std::string("--format bindings --gate a"),
        std::string("--format patches --gate a,,b"), std::string("--format bindings --snapshot -")}) {
    EXPECT_EQ(workplace.run("export " + arguments).exit_code, 64) << arguments;
  }
  EXPECT_EQ(workplace.run("export --help").exit_code, 0);
}

TEST_F(Export, GatesAreNamedBetweenCommas) {
  const std::string plan = workplace.run("solve --quiet --deterministic", one_line(kPreemption)).out;
  EXPECT_EQ(exported("--format patches --gate a/b,c", plan)[0]["spec"]["schedulingGates"],
            Json::parse(R"([{"$patch":"delete","name":"a/b"},{"$patch":"delete","name":"c"}])"));
}

}  // namespace
}  // namespace muster::cli
