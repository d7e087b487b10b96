// `muster split` and `muster merge --cells`: one snapshot that several processes plan.
#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

// To which the plan's pods go.
std::set<std::string> nodes_of(const std::string& plan) {
  static const std::regex pattern(R"re("node":"([^"]*)")re");
  std::set<std::string> nodes;
  for (std::sregex_iterator at(plan.begin(), plan.end(), pattern), end; at != end; ++at) nodes.insert((*at)[1]);
  return nodes;
}

class Cells : public testing::Test {
 protected:
  Cells() {
    whole_ = place_.path("whole.jsonl");
    place_.shell(test::program() + " generate --nodes 24 --load 1.4 --gangs-max 8 --queues 3 --limit 1.2 --seed 3 > " +
                 whole_);
  }
  Outcome split(const std::string& options) const {
    Outcome outcome = place_.run("split --ledger " + place_.path("ledger") + " " + options + " " + whole_);
    place_.file("cells", outcome.out);
    return outcome;
  }
  void solve() const {
    place_.file("plans", place_.run("solve --deterministic --engine greedy " + place_.path("cells")).out);
  }
  Outcome merge(const std::string& options = "") const {
    return place_.run("merge --cells " + place_.path("ledger") + " --of " + whole_ + " " + options + " " +
                      place_.path("plans"));
  }
  Outcome verify(const Outcome& merged) const {
    return place_.run("verify " + whole_ + " " + place_.file("merged", merged.out));
  }

  Workplace place_;
  std::string whole_;
};

TEST_F(Cells, AreMergedToAPlanThatVerifies) {
  for (const std::string cells : {"1", "3", "4"}) {
    const Outcome divided = split("--cells " + cells);
    ASSERT_EQ(divided.exit_code, 0) << divided.err;
    EXPECT_EQ(lines_of(divided.out).size(), std::stoul(cells));
    solve();
    const Outcome merged = merge();
    EXPECT_EQ(merged.exit_code, 0) << merged.err;
    const Outcome verified = verify(merged);
    EXPECT_EQ(verified.exit_code, 0) << verified.out;
    EXPECT_NE(merged.out.find(R"("bound":)"), std::string::npos);
  }
}

TEST_F(Cells, ComeInAnyOrder) {
  split("--cells 4");
  solve();
  const Outcome in_order = merge();
  std::vector<std::string> lines = lines_of(place_.content("plans"));
  place_.file("plans", joined({lines[2], lines[0], lines[3], lines[1]}));
  const auto decisions = [](const std::string& line) { return line.substr(0, line.find(R"("solver":)")); };
  EXPECT_EQ(decisions(merge().out), decisions(in_order.out));
}

TEST_F(Cells, ThatAreMissingAreFilledUp) {
  split("--cells 3");
  solve();
  const std::vector<std::string> lines = lines_of(place_.content("plans"));
  place_.file("plans", joined({lines[0], "{\"torn", lines[2]}));
  const Outcome merged = merge();
  EXPECT_EQ(merged.exit_code, 1);
  EXPECT_NE(merged.err.find("1 cell without a plan"), std::string::npos) << merged.err;
  EXPECT_EQ(verify(merged).exit_code, 0);
  const std::set<std::string> nodes = nodes_of(merged.out);
  for (const std::string& cell : lines_of(place_.content("cells"))) {
    const bool is_used = std::ranges::any_of(
        nodes, [&](const std::string& node) { return cell.find(R"("name":")" + node + '"') != std::string::npos; });
    EXPECT_TRUE(is_used);
  }
}

TEST_F(Cells, GoOnInASecondRound) {
  split("--cells 3");
  solve();
  const std::string first = place_.file("first", merge().out);
  ASSERT_EQ(split("--cells 3 --plan " + first).exit_code, 0);
  solve();
  const Outcome merged = merge("--plan " + first);
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_EQ(verify(merged).exit_code, 0);
}

TEST_F(Cells, ThatCannotBeAreRejected) {
  EXPECT_EQ(split("").exit_code, 64);
  EXPECT_EQ(split("--cells 0").exit_code, 64);
  EXPECT_EQ(place_.run("split --cells 2 " + whole_).exit_code, 64);
  EXPECT_EQ(place_.run("split --cells 2 --ledger " + place_.path("l") + " /nonexistent").exit_code, 66);
  split("--cells 2");
  solve();
  EXPECT_EQ(place_.run("merge --cells " + place_.path("ledger") + " " + place_.path("plans")).exit_code, 64);
  place_.file("ledger", R"({"format":"muster-ledger/v1","id":"other","cells":[]})");
  EXPECT_EQ(merge().exit_code, 65);
}

TEST_F(Cells, OfANodeAreOne) {
  split("--cells 2");
  solve();
  std::string ledger = place_.content("ledger");
  const std::size_t first = ledger.find("\"node-"), end = ledger.find('"', first + 1) + 1;
  const std::string node = ledger.substr(first, end - first);
  ledger.insert(ledger.rfind("\"nodes\":[") + 9, node + ",");
  place_.file("ledger", ledger);
  const Outcome merged = merge();
  EXPECT_EQ(merged.exit_code, 65);
  EXPECT_NE(merged.err.find("$.cells[1].nodes: the node " + node + " is in a cell already"), std::string::npos)
      << merged.err;
}

}  // namespace
}  // namespace muster::cli
