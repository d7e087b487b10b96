// What `muster solve` prints for people, and when.
#include <string>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

const std::string kCluster =
    R"({"format":"muster/v1","nodes":[{"name":"n1","gpus":{"count":2}},{"name":"n2","gpus":{"count":1}}],)"
    R"("gangs":[{"name":"high","priority":60},{"name":"low"},{"name":"big"},{"name":"few","minMember":3}],"pods":[)"
    R"({"name":"low-0","gang":"low","node":"n1","gpu":{"count":2}},{"name":"high-0","gang":"high","gpu":{"count":2}},)"
    R"({"name":"big-0","gang":"big","gpu":{"count":5}},{"name":"few-0","gang":"few"},)"
    R"({"name":"one\u001b[31m","gpu":{"count":1}},{"name":"held","held":"the pod uses x, which Muster does not plan"}]})"
    "\n";

class Table : public testing::Test {
 protected:
  // The row that begins with the gang's name.
  static std::string row_of(const std::string& table, const std::string& gang) {
    for (const std::string& line : lines_of(table)) {
      if (line.starts_with(gang + " ")) return line;
    }
    return "";
  }
  Workplace workplace;
};

TEST_F(Table, SaysOfEachGangItsPhaseItsReasonAndWhatItWaitsFor) {
  const Outcome outcome = workplace.run("solve --quiet -o table", kCluster);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(lines_of(outcome.out)[0].substr(0, 4), "GANG");
  const auto has = [&](const std::string& gang, const std::vector<std::string>& words) {
    for (const std::string& word : words)
      EXPECT_NE(row_of(outcome.out, gang).find(word), std::string::npos) << gang << ", " << word << "\n" << outcome.out;
  };
  has("high", {"default", "Waiting", "1/1", "low-0 to leave"});
  has("low", {"Evicted", "0/1", "preempted", "1 pod is evicted to make room for high (preempt)"});
  has("big", {"Unschedulable", "0/1", "larger than the cluster", "0/2 nodes are available: 2 Insufficient gpu"});
  has("few", {"Unschedulable", "too few pods"});
  has("held", {"Held", "Muster cannot plan it", "not planned: the pod uses x"});
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "names are fit for a terminal";
}

TEST_F(Table, ColumnsStandBelowTheirTitles) {
  const std::string table = workplace.run("solve --quiet -o table", kCluster).out;
  const std::size_t phase = lines_of(table)[0].find("PHASE");
  EXPECT_EQ(row_of(table, "big").find("Unschedulable"), phase);
  EXPECT_EQ(row_of(table, "high").find("Waiting"), phase);
}

TEST_F(Table, IsForTerminalsAndJsonForPipesAndFilesUnlessToldOtherwise) {
  const auto in_terminal = [&](const std::string& arguments) {
    const std::string file = workplace.file("c.jsonl", kCluster);
    return workplace
        .shell("script -qec '" + test::program() + " solve --quiet " + arguments + " " + file + "' /dev/null")
        .out;
  };
  EXPECT_EQ(workplace.run("solve --quiet", kCluster).out.substr(0, 1), "{");
  EXPECT_NE(in_terminal("").find("PHASE"), std::string::npos);
  EXPECT_NE(in_terminal("-o json").find("\"placements\""), std::string::npos);
  const std::string file = workplace.path("plans.jsonl");
  EXPECT_EQ(in_terminal("--output " + file).find("PHASE"), std::string::npos);
  EXPECT_EQ(workplace.content("plans.jsonl").substr(0, 1), "{");
  EXPECT_EQ(workplace.run("solve -o xml", kCluster).exit_code, 64);
}

TEST_F(Table, WrapsItsLastColumnToTheTerminal) {
  const std::string file = workplace.file("c.jsonl", kCluster);
  const std::string command = "stty cols 110; " + test::program() + " solve --quiet " + file;
  const std::string table = workplace.shell("script -qec '" + command + "' /dev/null").out;
  ASSERT_NE(table.find("PHASE"), std::string::npos);
  EXPECT_GT(lines_of(table).size(), lines_of(workplace.run("solve --quiet -o table", kCluster).out).size());
  for (std::string line : lines_of(table)) {
    if (line.ends_with('\r')) line.pop_back();
    EXPECT_LE(line.size(), 110U) << line;
  }
}

TEST_F(Table, LeavesBrokenLinesToStderr) {
  const Outcome outcome = workplace.run("solve -o table", kCluster + "broken\n" + good_lines()[0] + "\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out.find("InvalidJson"), std::string::npos);
  EXPECT_NE(outcome.err.find("line 2"), std::string::npos) << outcome.err;
}

TEST_F(Table, YamlIsRefusedOnceWithTheCommandThatReadsIt) {
  for (const char* yaml : {"apiVersion: v1\nkind: List\nitems: []\n", "---\nkind: Pod\n", "kind: Pod\n"}) {
    const Outcome outcome = workplace.run("solve", yaml);
    EXPECT_EQ(outcome.exit_code, 65) << yaml;
    EXPECT_EQ(outcome.out, "") << yaml;
    EXPECT_NE(outcome.err.find("muster import kubernetes"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace muster::cli
