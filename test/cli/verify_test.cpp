// `muster verify` from outside: it passes what `solve` writes, and nothing that was tampered with.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;

class Verify : public testing::Test {
 protected:
  Outcome verify(const std::string& snapshots, const std::string& plans) {
    return workplace.run("verify " + workplace.file("s.jsonl", snapshots) + " " + workplace.file("p.jsonl", plans));
  }
  std::string solve(const std::string& snapshots) {
    return workplace.run("solve --deterministic --quiet", snapshots).out;
  }
  // Verifies the plan of good line `line` after `tamper` has had its way.
  Outcome tampered(std::size_t line, const std::function<void(Json&)>& tamper) {
    const std::string snapshot = good_lines()[line] + "\n";
    Json plan = Json::parse(solve(snapshot));
    tamper(plan);
    return verify(snapshot, plan.dump() + "\n");
  }
  Workplace workplace;
};

TEST_F(Verify, PassesWhatSolveWrites) {
  const std::string snapshots = joined(good_lines()) + "broken\n";
  const Outcome outcome = verify(snapshots, solve(snapshots));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.out, "8 plans, 0 violations, 0 false claims\n");
}

TEST_F(Verify, PassesTheTimedPlansOfEveryEngine) {
  const std::string snapshots = joined(good_lines());
  for (const char* engine : {"auto", "greedy", "milp"}) {
    const std::string plans =
        workplace.run(std::string("solve --budget 500ms --quiet --engine ") + engine, snapshots).out;
    const Outcome outcome = verify(snapshots, plans);
    EXPECT_EQ(outcome.exit_code, 0) << engine << ": " << outcome.out;
  }
}

TEST_F(Verify, FindsTamperedPlacements) {
  const std::vector<std::function<void(Json&)>> tampers = {
      [](Json& plan) { plan["placements"][0]["node"] = "n9"; },
      [](Json& plan) { plan["placements"][0]["gpus"][0]["index"] = 77; },
      [](Json& plan) { plan["placements"][0]["gpus"].erase(0); },
      [](Json& plan) { plan["placements"].push_back(plan["placements"][0]); },
      [](Json& plan) { plan["placements"][0]["pod"] = "missing"; },
      [](Json& plan) { plan["placements"].erase(0); },
      [](Json& plan) {
        plan["placements"][1]["gpus"] = plan["placements"][0]["gpus"],
        plan["placements"][1]["node"] = plan["placements"][0]["node"];
      }};
  for (std::size_t i = 0; i < tampers.size(); ++i) {
    const Outcome outcome = tampered(1, tampers[i]);
    EXPECT_EQ(outcome.exit_code, 1) << i << ": " << outcome.out;
    EXPECT_NE(outcome.out.find("line 1: violation of "), std::string::npos) << i << ": " << outcome.out;
  }
}

TEST_F(Verify, FindsFalseClaims) {
  struct Case {
    const char* subject;
    std::function<void(Json&)> tamper;
  };
  const auto level = [](Json& plan, const char* name) -> Json& {
    for (Json& l : plan["objective"]) {
      if (l["level"] == name) return l;
    }
    return plan["objective"][0];
  };
  const std::vector<Case> cases = {
      {"id", [](Json& plan) { plan["id"] = "another"; }},
      {"objective work", [&](Json& plan) { level(plan, "work")["value"] = 1; }},
      {"objective fragmentation", [&](Json& plan) { level(plan, "fragmentation")["value"] = 0.5; }},
      {"objective work", [&](Json& plan) { level(plan, "work")["bound"] = 1; }},
      {"objective", [](Json& plan) { plan["objective"].erase(0); }},
      {"objective", [](Json& plan) { plan["objective"][0]["priority"] = 7; }},
      {"solver", [](Json& plan) { plan["solver"]["gap"] = 0.25; }},
      {"solver",
       [&](Json& plan) {
         plan["solver"]["proof"] = "optimal";
         level(plan, "work").erase("bound");
       }},
      {"gang g", [](Json& plan) { plan["gangs"][0]["phase"] = "Waiting"; }},
      {"gang g", [](Json& plan) { plan["gangs"][0]["placed"] = 1; }},
      {"gang g", [](Json& plan) { plan["gangs"][0]["running"] = 1; }},
      {"gang g", [](Json& plan) { plan["gangs"][0]["evicted"] = 1; }},
      {"gang g", [](Json& plan) { plan["gangs"][0]["pending"] = 1; }},
      {"gang g", [](Json& plan) { plan["gangs"].erase(0); }}};
  for (const Case& c : cases) {
    const Outcome outcome = tampered(1, c.tamper);
    EXPECT_EQ(outcome.exit_code, 1) << c.subject << ": " << outcome.out;
    EXPECT_NE(outcome.out.find(std::string("line 1: false claim: ") + c.subject), std::string::npos)
        << c.subject << ": " << outcome.out;
  }
}

TEST_F(Verify, FindsEvictionsThatNoRuleAllows) {
  const Outcome outcome = tampered(4, [](Json& plan) { plan["evictions"][0]["reason"] = "reclaim"; });
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("violation of "), std::string::npos) << outcome.out;
}

TEST_F(Verify, FindsMissingAndSurplusAnswers) {
  const std::string one = good_lines()[0] + "\n";
  const std::string two = one + good_lines()[1] + "\n";
  const Outcome missing = verify(two, solve(one));
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.out.find("it has no plan"), std::string::npos) << missing.out;
  const Outcome surplus = verify(one, solve(two));
  EXPECT_EQ(surplus.exit_code, 1);
  EXPECT_NE(surplus.out.find("it has no snapshot"), std::string::npos) << surplus.out;
}

TEST_F(Verify, FindsErrorRecordsForGoodLinesAndPlansForBrokenOnes) {
  const std::string good = good_lines()[0] + "\n";
  const std::string plan = solve(good);
  const std::string record = solve("broken\n");
  EXPECT_NE(verify(good, record).out.find("an error record for a valid snapshot"), std::string::npos);
  EXPECT_NE(verify("broken\n", plan).out.find("a plan for an invalid snapshot"), std::string::npos);
  EXPECT_EQ(verify(good, "broken\n").exit_code, 1);
}

TEST_F(Verify, TellsWhatItCouldNotRead) {
  EXPECT_EQ(verify("", "").exit_code, 66);
  EXPECT_EQ(verify("broken\n", solve("broken\n")).exit_code, 65);
  EXPECT_EQ(workplace.run("verify /no/such/file /dev/null").exit_code, 66);
}

}  // namespace
}  // namespace muster::cli
