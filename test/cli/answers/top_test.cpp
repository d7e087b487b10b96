// `muster top`: the numbers of small clusters, sections and sorting.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/answers/answers.h"
#include "test/cli/program.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

// n1: 2 of 4 devices whole, one shared by half; n2: no processor left; n3: cordoned; n4: another model, all idle.
const std::string kCluster =
    R"({"format":"muster/v1","id":"s","time":10000,"nodes":[)"
    R"({"name":"n1","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":4,"memory":"40Gi","model":"A100"}},)"
    R"({"name":"n2","resources":{"cpu":"8","memory":"64Gi"},"gpus":{"count":2,"memory":"40Gi","model":"A100"}},)"
    R"({"name":"n3","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":8,"memory":"40Gi","model":"A100"},)"
    R"("unschedulable":true},)"
    R"({"name":"n4","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":2,"model":"T4"}},{"name":"cpu"}],)"
    R"("queues":[{"name":"root"},{"name":"a","parent":"root","gpu":{"quota":2,"limit":6}},{"name":"b","parent":"root"}],)"
    R"("gangs":[{"name":"ns/train","queue":"a","created":4000},{"name":"ns/big","queue":"b","created":6400,"priority":7},)"
    R"({"name":"ns/wait","queue":"b","created":9940}],"pods":[)"
    R"({"name":"ns/train-0","gang":"ns/train","node":"n1","gpu":{"count":2},"resources":{"cpu":"1"}},)"
    R"({"name":"ns/train-1","gang":"ns/train","node":"n1","gpu":{"fraction":0.5},"resources":{"cpu":"1"}},)"
    R"({"name":"ns/train-2","gang":"ns/train","node":"n3","gpu":{"count":1},"resources":{"cpu":"1"}},)"
    R"({"name":"ns/eater","queue":"b","node":"n2","resources":{"cpu":"8"}},)"
    R"({"name":"ns/big-0","gang":"ns/big","gpu":{"count":4},"resources":{"cpu":"1"}},)"
    R"({"name":"ns/big-1","gang":"ns/big","gpu":{"count":4},"resources":{"cpu":"1"}},)"
    R"({"name":"ns/wait-0","gang":"ns/wait","gpu":{"fraction":0.25},"resources":{"cpu":"1"}},)"
    R"({"name":"ns/gated","queue":"b","status":"gated","gpu":{"count":1},"resources":{"cpu":"1"}}]})"
    "\n";

class Top : public testing::Test {
 protected:
  Outcome top(const std::string& arguments, const std::string& input = kCluster) {
    return workplace.run("top " + arguments, input);
  }
  Json answer(const std::string& arguments, const std::string& input = kCluster) {
    const Outcome outcome = top(arguments + " --format json", input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
  static Json row(const Json& table, const std::string& key, const std::string& name) {
    for (const Json& row : table) {
      if (row[key] == name) return row;
    }
    return nullptr;
  }
  static Names column(const Json& table, const std::string& key) {
    Names names;
    for (const Json& row : table) names.push_back(row[key].is_null() ? "" : row[key].get<std::string>());
    return names;
  }
  Workplace workplace;
};

TEST_F(Top, CountsQueuesWithAllBelowThem) {
  const Json queues = answer("queues")["queues"];
  const Json a = row(queues, "queue", "a"), b = row(queues, "queue", "b"), root = row(queues, "queue", "root");
  EXPECT_EQ(a["allocated"], 3.5);
  EXPECT_EQ(a["quota"], 2);
  EXPECT_EQ(a["limit"], 6);
  EXPECT_EQ(a["parent"], "root");
  EXPECT_EQ(a["runningGangs"], 1);
  EXPECT_EQ(a["waitingGangs"], 0);
  EXPECT_TRUE(a["longestWaitSeconds"].is_null());
  EXPECT_EQ(b["allocated"], 0);
  EXPECT_EQ(b["requested"], 8.25) << "a gated pod requests nothing yet";
  EXPECT_EQ(b["runningGangs"], 1);
  EXPECT_EQ(b["waitingGangs"], 2);
  EXPECT_EQ(b["longestWaitSeconds"], 3600);
  EXPECT_EQ(b["cpuAllocated"], 8);
  EXPECT_TRUE(b["quota"].is_null());
  EXPECT_EQ(root["allocated"], 3.5);
  EXPECT_EQ(root["requested"], 8.25);
  EXPECT_EQ(root["runningGangs"], 2);
}

TEST_F(Top, TellsHowFullTheLimitsOfAnyResourceAre) {
  const Json queues =
      answer("queues",
             R"({"format":"muster/v1","nodes":[{"name":"n","resources":{"cpu":4,"x.com/card":4}}],"queues":[)"
             R"({"name":"top","resources":{"x.com/card":{"limit":3},"pods":{"limit":9}}},{"name":"q","parent":"top"}],)"
             R"("pods":[{"name":"p","queue":"q","node":"n","resources":{"x.com/card":2}}]})"
             "\n")["queues"];
  EXPECT_EQ(row(queues, "queue", "top")["otherLimits"], "pods 1 of 9, x.com/card 2 of 3");
  EXPECT_FALSE(row(answer("queues")["queues"], "queue", "a").contains("otherLimits"))
      << "without any there is no column";
}

TEST_F(Top, DividesTheDevicesOfEachModel) {
  const Json gpus = answer("gpus")["gpus"];
  EXPECT_EQ(column(gpus, "model"), (Names{"A100", "T4"}));
  const Json a100 = gpus[0], t4 = gpus[1];
  EXPECT_EQ(a100["memoryMib"], 40 * 1024);
  EXPECT_EQ(a100["total"], 14);
  EXPECT_EQ(a100["allocated"], 3.5);
  EXPECT_EQ(a100["freeWhole"], 3);
  EXPECT_EQ(a100["freeInParts"], 0.5);
  EXPECT_EQ(a100["freeCordoned"], 7);
  EXPECT_EQ(a100["largestBlock"], 2);
  EXPECT_EQ(a100["largestBlockNodes"], 1);
  EXPECT_TRUE(t4["memoryMib"].is_null());
  EXPECT_EQ(t4["freeWhole"], 2);
}

TEST_F(Top, ListsGangsThatWaitBeforeThoseThatRun) {
  const Json gangs = answer("gangs")["gangs"];
  EXPECT_EQ(column(gangs, "gang"), (Names{"ns/big", "ns/gated", "ns/wait", "ns/train", "ns/eater"}));
  EXPECT_EQ(column(gangs, "status"), (Names{"waiting", "gated", "waiting", "running", "running"}));
  const Json big = gangs[0], train = gangs[3];
  EXPECT_EQ(big["gpus"], 8);
  EXPECT_EQ(big["waiting"], 2);
  EXPECT_EQ(big["priority"], 7);
  EXPECT_EQ(big["waitedSeconds"], 3600);
  EXPECT_EQ(big["waitingSince"], 6400);
  EXPECT_EQ(train["gpus"], 3.5);
  EXPECT_EQ(train["running"], 3);
  EXPECT_TRUE(train["waitedSeconds"].is_null());
  EXPECT_TRUE(big["reason"].is_null()) << "no plan is known";
}

TEST_F(Top, ListsNodesWithFreeGpusTheMostWastedFirst) {
  const Json nodes = answer("nodes")["nodes"];
  EXPECT_EQ(column(nodes, "node"), (Names{"n2", "n1", "n4"})) << "a cordoned node and one without GPUs are left out";
  EXPECT_EQ(nodes[0]["free"], 2);
  EXPECT_EQ(nodes[0]["wasted"], 2) << "its processors are taken";
  EXPECT_TRUE(nodes[0]["largestFit"].is_null());
  EXPECT_EQ(nodes[0]["cpuFree"], 0);
  EXPECT_EQ(nodes[1]["free"], 1);
  EXPECT_EQ(nodes[1]["freeInParts"], 0.5);
  EXPECT_EQ(nodes[1]["largestPart"], 0.5);
  EXPECT_EQ(nodes[1]["wasted"], 0.5);
  EXPECT_EQ(nodes[1]["largestFit"], 1);
  EXPECT_EQ(nodes[2]["largestFit"], 2);
  EXPECT_EQ(nodes[2]["wasted"], 0);
}

TEST_F(Top, ShowsAllSectionsInShortWithoutOne) {
  const Json all = answer("");
  for (const char* section : {"queues", "gpus", "gangs", "nodes"}) EXPECT_TRUE(all.contains(section)) << section;
  EXPECT_EQ(all["kind"], "top");
  EXPECT_EQ(all["nodeCount"], 5);
  EXPECT_EQ(all["cordonedNodes"], 1);
  EXPECT_EQ(all["gpuCount"], 16);
  EXPECT_EQ(all["gpusAllocated"], 3.5);
  EXPECT_EQ(all["gangsRunning"], 2);
  EXPECT_EQ(all["gangsWaiting"], 3);
  EXPECT_FALSE(answer("gangs").contains("queues"));
  EXPECT_NE(top("").out.find("ns/big    b      waiting  0/2      8         7   1h00m"), std::string::npos)
      << top("").out;
}

TEST_F(Top, SortsByAColumnAndLimitsRows) {
  EXPECT_EQ(column(answer("gangs --sort gang")["gangs"], "gang"),
            (Names{"ns/big", "ns/eater", "ns/gated", "ns/train", "ns/wait"}));
  EXPECT_EQ(column(answer("gangs --sort WAITED")["gangs"], "gang"),
            (Names{"ns/big", "ns/wait", "ns/gated", "ns/train", "ns/eater"}));
  const Json limited = answer("gangs --sort gpus --limit 2");
  EXPECT_EQ(column(limited["gangs"], "gang"), (Names{"ns/big", "ns/train"}));
  EXPECT_EQ(limited["notes"], Json({"3 more gangs"}));
}

TEST_F(Top, TakesReasonsFromPlansOrASolve) {
  const std::string file = workplace.file("s.jsonl", kCluster);
  const std::string plan = workplace.run("solve --quiet --deterministic --engine greedy " + file).out;
  const Json planned = answer("gangs --plans " + workplace.file("p.jsonl", plan) + " " + file)["gangs"];
  const Json solved = answer("gangs --solve --deterministic --engine greedy " + file)["gangs"];
  EXPECT_EQ(planned, solved);
  EXPECT_EQ(planned[0]["phase"], "Unschedulable");
  EXPECT_FALSE(planned[0]["reason"].is_null());
  EXPECT_FALSE(planned[0]["message"].is_null());
  EXPECT_EQ(row(planned, "gang", "ns/wait")["phase"], "Scheduled");
  const std::string table = top("gangs --solve --engine greedy " + file).out;
  EXPECT_NE(table.find("REASON"), std::string::npos) << table;
}

TEST_F(Top, SaysThatNoPlanAnswersTheSnapshot) {
  const std::string plan =
      R"({"format":"muster/v1","id":"other","status":"ok","placements":[],"evictions":[],"gangs":[],"queues":[],)"
      R"("objective":[],"solver":{"origin":"none","proof":"optimal","gap":0,"deadlineMissed":false}})";
  const Json notes = answer("gangs --plans " + workplace.file("p.jsonl", plan))["notes"];
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].get<std::string>().find("no plan of the snapshot 's'"), std::string::npos);
}

TEST_F(Top, ReadsTheLastLine) {
  const std::string first = R"({"format":"muster/v1","id":"old","nodes":[]})";
  EXPECT_EQ(answer("", first + "\n" + kCluster)["id"], "s");
}

TEST_F(Top, ReadsTheClusterOfFrom) {
  const std::string file = workplace.file("s.jsonl", kCluster);
  const Json of_stdin = answer("");
  EXPECT_EQ(answer("--from " + file, ""), of_stdin);
  EXPECT_EQ(answer(file + " --save " + workplace.path("saved"), ""), of_stdin);
  EXPECT_EQ(workplace.content("saved"), kCluster);
  const std::string yaml = workplace.file("n.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: y1}\n");
  EXPECT_EQ(answer(yaml, "")["nodeCount"], 1);
}

TEST_F(Top, EndsWithTheCodeOfItsFailure) {
  const struct {
    const char* arguments;
    const char* input;
    int exit_code;
    const char* named;
  } cases[] = {{"gangs --sort colour", "{}", 65, ""},
               {"--sort gang", "", 64, "--sort"},
               {"--from a b", "", 64, "--from"},
               {"--solve --plans p", "", 64, "--plans"},
               {"--plans -", "", 64, "stdin"},
               {"colours file", "", 64, "colours"},
               {"--limit -1", "", 64, "--limit"},
               {"no-such-file", "", 66, "no-such-file"},
               {"", "", 66, "empty"},
               {"", "broken", 65, "stdin"}};
  for (const auto& one : cases) {
    const Outcome outcome = top(one.arguments, one.input);
    EXPECT_EQ(outcome.exit_code, one.exit_code) << one.arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(one.named), std::string::npos) << one.arguments << ": " << outcome.err;
  }
  const Outcome unknown = top("gangs --sort colour");
  EXPECT_EQ(unknown.exit_code, 64);
  EXPECT_NE(unknown.err.find("waitedSeconds"), std::string::npos) << "the columns are named: " << unknown.err;
}

TEST(AgeText, HasTwoUnitsAtMost) {
  EXPECT_EQ(age_text(0), "0s");
  EXPECT_EQ(age_text(59), "59s");
  EXPECT_EQ(age_text(3599), "59m");
  EXPECT_EQ(age_text(3600 + 300), "1h05m");
  EXPECT_EQ(age_text(2 * 86'400 + 4 * 3600 + 59), "2d4h");
}

TEST(TableOrder, PutsWhatIsUnknownLastAndKeepsEqualRows) {
  Table table{.key = "t",
              .columns = {{"name", "NAME"}, {"size", "SIZE"}},
              .rows = {{"b", {}}, {"a", Decimal{15, 10}}, {"d", 3}, {"c", 1.5}}};
  const auto names = [&] {
    std::string all;
    for (const auto& row : table.rows) all += value_text(row[0].value);
    return all;
  };
  EXPECT_TRUE(sort_rows(table, "Size"));
  EXPECT_EQ(names(), "dacb");
  EXPECT_TRUE(sort_rows(table, "name"));
  EXPECT_EQ(names(), "abcd");
  EXPECT_FALSE(sort_rows(table, "colour"));
  EXPECT_EQ(names(), "abcd");
  EXPECT_EQ(limit_rows(table, 3), 1U);
  EXPECT_EQ(limit_rows(table, 9), 0U);
  EXPECT_EQ(names(), "abc");
}

}  // namespace
}  // namespace muster::cli
