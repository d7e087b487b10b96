// `muster diff`: what it finds, what it does not count, and its exit codes.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/answers/plan_difference.h"
#include "test/cli/program.h"
#include "test/support/case.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;

// The gang a/big starts, a/low is evicted for it, ml/moves moves; a/waits waits.
const std::string kPlan =
    R"({"format":"muster/v1","id":"s","status":"ok","time":100,"placements":[)"
    R"({"pod":"a/big-0","node":"n1","gpus":[{"index":0,"share":1}],"after":["a/low-0"]},)"
    R"({"pod":"a/big-1","node":"n1","gpus":[{"index":1,"share":1}]},)"
    R"({"pod":"ml/moves-0","node":"n3"}],)"
    R"("evictions":[{"pod":"a/low-0","node":"n1","reason":"preempt","for":"a/big"},)"
    R"({"pod":"ml/moves-0","node":"n2","reason":"consolidate","for":"a/big"}],)"
    R"("gangs":[{"name":"a/big","phase":"Waiting","running":0,"placed":2,"evicted":0,"pending":0},)"
    R"({"name":"a/low","phase":"Evicted","running":0,"placed":0,"evicted":1,"pending":0,"reason":"Preempted"},)"
    R"({"name":"a/waits","phase":"Unschedulable","running":0,"placed":0,"evicted":0,"pending":1,"reason":"NeverFits"},)"
    R"({"name":"ml/moves","phase":"Running","running":1,"placed":0,"evicted":0,"pending":0}],)"
    R"("queues":[{"name":"q","gpu":{"quota":8,"fairShare":10.5,"allocated":2},"cpu":{"fairShare":0,"allocated":0},)"
    R"("memory":{"fairShare":0,"allocated":0}}],)"
    R"("objective":[{"level":"work","priority":50,"value":2000,"bound":4000},{"level":"evicted","value":1000},)"
    R"({"level":"fragmentation","value":1.5}],)"
    R"("solver":{"origin":"greedy","proof":"heuristic","gap":0,"budgetMs":200,"elapsedMs":41.2,"deadlineMissed":false}})";

class Diff : public testing::Test {
 protected:
  // The answer of `diff --format json` to the plan and the plan that `change` makes of it.
  Json changed(const std::function<void(Json&)>& change, int exit_code = 1) {
    Json plan = Json::parse(kPlan);
    change(plan);
    const Outcome outcome = diff(kPlan + "\n", plan.dump() + "\n", "--format json");
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    Json answer = Json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(answer["kind"], "diff");
    EXPECT_EQ(answer["different"], exit_code == 1);
    return answer;
  }
  Outcome diff(const std::string& before, const std::string& after, const std::string& arguments = "") {
    return workplace.run("diff " + arguments + " " + workplace.file("a.jsonl", before) + " " +
                         workplace.file("b.jsonl", after));
  }
  static std::vector<std::string> changes_of(const Json& answer) {
    std::vector<std::string> changes;
    for (const Json& pod : answer["pods"])
      changes.push_back(pod["pod"].get<std::string>() + ": " + pod["change"].get<std::string>());
    return changes;
  }
  Workplace workplace;
};

using Changes = std::vector<std::string>;

TEST_F(Diff, FindsNothingInEqualPlans) {
  const Outcome outcome = diff(kPlan + "\n", kPlan + "\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "Snapshot:          s\n"
            "Different:         no\n"
            "Better plan:       equal in all levels\n"
            "Pods:              no difference\n"
            "Gangs that differ: 0\n");
}

TEST_F(Diff, LeavesOutTimingsMessagesAndBounds) {
  const Json answer = changed(
      [](Json& plan) {
        plan["solver"]["elapsedMs"] = 77;
        plan["solver"]["origin"] = "milp";
        plan["gangs"][2]["message"] = "another one";
        plan["gangs"][2]["expectedStart"] = 500;
        plan["objective"][0]["bound"] = 2000;
      },
      0);
  EXPECT_EQ(answer["elapsedMsBefore"], 41.2);
  EXPECT_EQ(answer["elapsedMsAfter"], 77);
  EXPECT_EQ(answer["originAfter"], "milp");
  ASSERT_EQ(answer["levels"].size(), 1U) << "a bound that differs is shown";
  EXPECT_EQ(answer["levels"][0]["boundAfter"], 2000);
}

TEST_F(Diff, TellsPodsThatStartOrNoLongerStart) {
  const auto without = [](Json& plan) { plan["placements"].erase(1); };
  EXPECT_EQ(changes_of(changed(without)), (Changes{"a/big-1: notStarted"}));
  Json plan = Json::parse(kPlan);
  without(plan);
  const Outcome outcome = diff(plan.dump() + "\n", kPlan + "\n", "--format json");
  EXPECT_EQ(changes_of(Json::parse(outcome.out)), (Changes{"a/big-1: started"}));
}

TEST_F(Diff, TellsOtherNodesDevicesAndOrders) {
  const Json answer = changed([](Json& plan) {
    plan["placements"][0]["node"] = "n4";
    plan["placements"][1]["gpus"][0]["index"] = 3;
    plan["placements"][2]["step"] = 1;
  });
  EXPECT_EQ(changes_of(answer), (Changes{"a/big-0: otherNode", "a/big-1: otherGpus", "ml/moves-0: otherOrder"}));
  EXPECT_EQ(answer["pods"][0]["nodeBefore"], "n1");
  EXPECT_EQ(answer["pods"][0]["nodeAfter"], "n4");
  EXPECT_EQ(answer["pods"][1]["gpusBefore"], Json({1}));
  EXPECT_EQ(answer["pods"][1]["gpusAfter"], Json({3}));
}

TEST_F(Diff, TellsAShareOfADeviceThatDiffers) {
  const Json answer = changed([](Json& plan) { plan["placements"][1]["gpus"][0]["share"] = 0.5; });
  EXPECT_EQ(changes_of(answer), (Changes{"a/big-1: otherGpus"}));
}

TEST_F(Diff, TellsEvictionsAndMoves) {
  EXPECT_EQ(changes_of(changed([](Json& plan) { plan["evictions"].erase(0); })), (Changes{"a/low-0: notEvicted"}));
  EXPECT_EQ(changes_of(changed([](Json& plan) { plan["evictions"][0]["reason"] = "reclaim"; })),
            (Changes{"a/low-0: otherEviction"}));
  EXPECT_EQ(changes_of(changed([](Json& plan) { plan["evictions"][0]["for"] = "ml/moves"; })),
            (Changes{"a/low-0: otherEviction"}));
  EXPECT_EQ(changes_of(changed([](Json& plan) { plan["placements"].erase(2); })), (Changes{"ml/moves-0: evicted"}));
  const Json stays = changed([](Json& plan) {
    plan["placements"].erase(2);
    plan["evictions"].erase(1);
  });
  EXPECT_EQ(changes_of(stays), (Changes{"ml/moves-0: notMoved"}));
  EXPECT_EQ(stays["pods"][0]["actionBefore"], "move");
  EXPECT_EQ(stays["pods"][0]["fromBefore"], "n2");
  EXPECT_EQ(stays["pods"][0]["actionAfter"], "none");
}

TEST_F(Diff, TellsPhasesAndReasonsOfGangs) {
  const Json answer = changed([](Json& plan) {
    plan["gangs"][2]["reason"] = "Fragmented";
    plan["gangs"][3]["phase"] = "Scheduled";
  });
  EXPECT_TRUE(answer["pods"].empty());
  ASSERT_EQ(answer["gangs"].size(), 2U);
  EXPECT_EQ(answer["gangs"][0]["gang"], "a/waits");
  EXPECT_EQ(answer["gangs"][0]["reasonBefore"], "NeverFits");
  EXPECT_EQ(answer["gangs"][0]["reasonAfter"], "Fragmented");
  EXPECT_EQ(answer["gangs"][1]["phaseBefore"], "Running");
  EXPECT_EQ(answer["gangs"][1]["phaseAfter"], "Scheduled");
}

TEST_F(Diff, PutsTheGangWithTheMostChangedPodsFirst) {
  const Json answer = changed([](Json& plan) {
    plan["evictions"][0]["reason"] = "reclaim";
    plan["placements"][0]["node"] = plan["placements"][1]["node"] = "n9";
  });
  ASSERT_EQ(answer["gangs"].size(), 2U);
  EXPECT_EQ(answer["gangs"][0]["gang"], "a/big");
  EXPECT_EQ(answer["gangs"][0]["podsChanged"], 2);
  EXPECT_EQ(answer["gangs"][0]["otherNode"], 2);
  EXPECT_EQ(answer["gangs"][1]["gang"], "a/low");
  EXPECT_EQ(changes_of(answer), (Changes{"a/big-0: otherNode", "a/big-1: otherNode", "a/low-0: otherEviction"}));
}

TEST_F(Diff, NamesTheBetterPlanByTheFirstLevelThatDiffers) {
  const Json more = changed([](Json& plan) {
    plan["objective"][0]["value"] = 3000;
    plan["objective"][2]["value"] = 1.75;
  });
  EXPECT_EQ(more["better"], "after") << "more work comes before fragmentation";
  EXPECT_EQ(more["levels"][0]["difference"], 1000);
  EXPECT_EQ(more["levels"][1]["difference"], 0.25);
  EXPECT_EQ(more["levels"][1]["better"], "before") << "less fragmentation is better";
  EXPECT_EQ(changed([](Json& plan) { plan["objective"][1]["value"] = 2000; })["better"], "before");
  EXPECT_EQ(changed([](Json& plan) { plan["objective"][0]["priority"] = 60; })["better"], "unknown")
      << "plans with other levels are not comparable";
}

TEST_F(Diff, ComparesValuesOf64BitsExactly) {
  const auto set = [](Json& plan, std::int64_t value) { plan["objective"][0]["value"] = value; };
  Json plan = Json::parse(kPlan), other = plan;
  set(plan, 9007199254740993);
  set(other, 9007199254740992);
  const Outcome outcome = diff(plan.dump() + "\n", other.dump() + "\n", "--format json");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(Json::parse(outcome.out)["levels"][0]["difference"], -1);
}

TEST_F(Diff, TellsQueuesAndMissedDeadlines) {
  const Json answer = changed([](Json& plan) {
    plan["queues"][0]["gpu"]["allocated"] = 3.5;
    plan["solver"]["deadlineMissed"] = true;
    plan["evictions"].erase(0);
  });
  ASSERT_EQ(answer["queues"].size(), 1U);
  EXPECT_EQ(answer["queues"][0]["resource"], "gpu");
  EXPECT_EQ(answer["queues"][0]["difference"], 1.5);
  EXPECT_EQ(answer["deadlineMissedBefore"], false);
  EXPECT_EQ(answer["deadlineMissedAfter"], true);
}

TEST_F(Diff, ComparesLineByLine) {
  const std::string other = std::string(kPlan).replace(kPlan.find("\"n1\""), 4, "\"n7\"");
  const Outcome outcome =
      diff(kPlan + "\n" + kPlan + "\n\n" + kPlan + "\n", kPlan + "\n" + other + "\n" + kPlan + "\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out.find("Line:              2\n"), 0U) << outcome.out;
  EXPECT_NE(outcome.out.find("starts on n7"), std::string::npos);
  EXPECT_NE(outcome.out.find("\n1 of 3 lines differ\n"), std::string::npos);
  const Outcome json = diff(kPlan + "\n" + kPlan + "\n", kPlan + "\n" + other + "\n", "--format json");
  EXPECT_EQ(lines_of(json.out).size(), 2U) << "one object for each line";
  EXPECT_EQ(Json::parse(lines_of(json.out)[1])["line"], 2);
}

TEST_F(Diff, CountsALineThatOneFileLacks) {
  const Outcome outcome = diff(kPlan + "\n", kPlan + "\n" + kPlan + "\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("a.jsonl has no such line"), std::string::npos) << outcome.out;
}

TEST_F(Diff, ComparesErrorRecords) {
  const std::string error =
      R"({"format":"muster/v1","id":"s","status":"error","error":{"code":"InvalidValue","path":"$","message":"no","line":1}})";
  EXPECT_EQ(diff(error + "\n", error + "\n").exit_code, 0);
  const Outcome outcome = diff(error + "\n", kPlan + "\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("InvalidValue -> -"), std::string::npos) << outcome.out;
}

TEST_F(Diff, EndsWithTheCodeOfItsFailure) {
  EXPECT_EQ(workplace.run("diff " + workplace.file("a.jsonl", kPlan)).exit_code, 64);
  EXPECT_EQ(workplace.run("diff - -").exit_code, 64);
  EXPECT_EQ(diff(kPlan, kPlan, "--format yaml").exit_code, 64);
  const Outcome broken = diff("{\"format\":\n", "no\n");
  EXPECT_EQ(broken.exit_code, 65);
  EXPECT_NE(broken.err.find("a.jsonl: line 1"), std::string::npos) << broken.err;
  EXPECT_EQ(diff("", "").exit_code, 66);
  EXPECT_EQ(workplace.run("diff " + workplace.file("a.jsonl", kPlan) + " " + workplace.path("none")).exit_code, 66);
  EXPECT_EQ(diff(kPlan + "\nbroken\n", kPlan + "\n" + kPlan + "\n").exit_code, 1) << "some lines can be read";
}

TEST_F(Diff, ShortensTheTableAlone) {
  Json before = Json::parse(kPlan), after = before;
  for (int i = 0; i < 100; ++i) {
    before["placements"].push_back({{"pod", "a/big-" + std::to_string(100 + i)}, {"node", "n1"}});
    after["placements"].push_back({{"pod", "a/big-" + std::to_string(100 + i)}, {"node", "n2"}});
  }
  const auto answer = [&](const char* format) {
    return diff(before.dump(), after.dump(), std::string("--format ") + format).out;
  };
  EXPECT_NE(answer("table").find("and 70 more; --format wide shows all"), std::string::npos);
  EXPECT_EQ(answer("table").find("a/big-199"), std::string::npos);
  for (const char* format : {"wide", "md", "json"})
    EXPECT_NE(answer(format).find("a/big-199"), std::string::npos) << format;
}

TEST_F(Diff, TakesTheGangsOfPodsFromTheirSnapshot) {
  const std::string snapshot =
      R"({"format":"muster/v1","id":"s","nodes":[{"name":"n1","gpus":{"count":4}}],"gangs":[{"name":"team"}],"pods":[)"
      R"({"name":"zeta","gang":"team","gpu":{"count":1}},{"name":"x","gpu":{"count":1}}]})";
  const std::string plan = workplace.run("solve --quiet --deterministic --engine greedy", snapshot + "\n").out;
  Json other = Json::parse(plan);
  for (Json& placement : other["placements"])
    placement["gpus"][0]["index"] = placement["gpus"][0]["index"].get<int>() + 2;
  const auto gangs = [&](const std::string& arguments) {
    std::vector<std::string> names;
    const Json answer = Json::parse(diff(plan, other.dump(), arguments + " --format json").out);
    for (const Json& pod : answer["pods"]) names.push_back(pod["gang"].is_null() ? "" : pod["gang"].get<std::string>());
    return names;
  };
  EXPECT_EQ(gangs("--snapshot " + workplace.file("s.jsonl", snapshot)), (Changes{"team", "x"}));
  EXPECT_EQ(gangs(""), (Changes{"", "x"})) << "by its name alone, no gang is that of zeta";
}

TEST_F(Diff, MakesNamesSafe) {
  const std::string bad = std::string(kPlan).replace(kPlan.find("\"n1\""), 4, "\"n\\u001b[31m\"");
  EXPECT_EQ(diff(kPlan, bad).out.find('\x1b'), std::string::npos);
  EXPECT_NE(diff(kPlan, bad, "--color always").out.find('\x1b'), std::string::npos);
}

TEST_F(Diff, HasColoursAndFitsTheWidthOnATerminalAlone) {
  const std::string other = std::string(kPlan).replace(kPlan.find("\"n1\""), 4, "\"a-node-with-a-long-name\"");
  const std::string files = workplace.file("a.jsonl", kPlan) + " " + workplace.file("b.jsonl", other);
  const auto in_terminal = [&](const std::string& environment) {
    const std::string command = "stty cols 60; " + environment + " " + test::program() + " diff " + files;
    return workplace.shell("TERM=xterm script -qec '" + command + "' /dev/null").out;
  };
  EXPECT_NE(in_terminal("").find("\x1b["), std::string::npos);
  EXPECT_NE(in_terminal("NO_COLOR=").find("\x1b["), std::string::npos) << "empty: as if it were not set";
  EXPECT_EQ(in_terminal("NO_COLOR=1").find("\x1b["), std::string::npos);
  EXPECT_EQ(in_terminal("TERM=dumb").find("\x1b["), std::string::npos);
  EXPECT_NE(in_terminal("NO_COLOR=1").find("…"), std::string::npos);
  const std::string in_pipe = workplace.run("diff " + files).out;
  EXPECT_EQ(in_pipe.find("\x1b["), std::string::npos);
  EXPECT_EQ(in_pipe.find("…"), std::string::npos);
  EXPECT_NE(in_pipe.find("starts on a-node-with-a-long-name\n"), std::string::npos);
}

// The same difference without plan lines, as a command that solves twice has it.
TEST(PlanDifferenceInMemory, IsThatOfThePlanLines) {
  const test::Case first(test::Case::read(
      R"({"format":"muster/v1","nodes":[{"name":"n1","gpus":{"count":2}}],"pods":[{"name":"a","gpu":{"count":2}}]})"));
  const test::Case second(test::Case::read(
      R"({"format":"muster/v1","nodes":[{"name":"n1","gpus":{"count":1}}],"pods":[{"name":"a","gpu":{"count":2}}]})"));
  portfolio::Portfolio portfolio(test::program());
  portfolio::SolveOptions options;
  options.engine = portfolio::Engine::kGreedy;
  options.deterministic = true;
  const auto solve = [&](const test::Case& one) {
    return compared_plan(*one, portfolio.solve(one.snapshot(), *one, options));
  };
  const ComparedPlan before = solve(first), after = solve(second);
  EXPECT_TRUE(difference_of(before, before).is_empty());
  const PlanDifference difference = difference_of(before, after);
  ASSERT_EQ(difference.pods.size(), 1U);
  EXPECT_EQ(difference.pods[0].gang, "a");
  EXPECT_EQ(difference.pods[0].change, PodChange::kNotStarted);
  ASSERT_EQ(difference.gangs.size(), 1U);
  EXPECT_EQ(difference.gangs[0].before.phase, "Scheduled");
  EXPECT_EQ(difference.gangs[0].after.phase, "Unschedulable");
  EXPECT_EQ(difference.better, PlanDifference::Better::kBefore);
}

}  // namespace
}  // namespace muster::cli
