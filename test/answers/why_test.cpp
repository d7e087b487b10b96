#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/support/cluster.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

// A gang of three pods of four GPUs in a queue with a limit; one node is cordoned, one is tainted, one is in use.
std::string cluster() {
  test::Cluster cluster;
  cluster.queue("q", R"("gpu":{"quota":4})").queue("other", R"("gpu":{"quota":8})");
  cluster.node("n1", 4).node("n2", 4).node("n3", 4, R"("unschedulable":true)");
  cluster.node("n4", 4, R"("taints":[{"key":"team","value":"x","effect":"NoSchedule"}])").node("cpu", 0);
  cluster.running("busy", "n2", 3, R"("queue":"other","priority":200)");
  cluster.gang("ns/g", R"("minMember":3,"queue":"q")").pods("ns/g", 3, 4, R"("gang":"ns/g")");
  return cluster.line();
}

Json why(const std::string& arguments, const std::string& line) {
  const Workplace place;
  const Outcome outcome = place.run("why --deterministic --format json " + arguments, line + "\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return Json::parse(outcome.out);
}

std::int64_t nodes_of(const Json& funnel, const std::string& step) {
  for (const Json& row : funnel) {
    if (row["step"] == step) return row["nodes"];
  }
  return -1;
}

TEST(Why, ShowsAFunnelThatAddsUp) {
  const Json answer = why("g --no-remedies", cluster());
  const Json& funnel = answer["funnel"];
  EXPECT_EQ(nodes_of(funnel, "in the cluster"), 5);
  EXPECT_EQ(nodes_of(funnel, "- cordoned"), 1);
  EXPECT_EQ(nodes_of(funnel, "- taint not tolerated {team: x}"), 1);
  EXPECT_EQ(nodes_of(funnel, "- too few GPUs"), 1);
  EXPECT_EQ(nodes_of(funnel, "= suitable"), 2);
  EXPECT_EQ(nodes_of(funnel, "- now too few GPUs"), 1);
  EXPECT_EQ(nodes_of(funnel, "= open now"), 1);
  EXPECT_EQ(answer["reason"], "NodeMismatch");
  EXPECT_FALSE(answer.contains("remedies"));
}

TEST(Why, NamesNoFairShareOfAResourceThatHasNone) {
  test::Cluster cluster;
  cluster.node("n", R"("resources":{"cpu":8,"memory":"8Gi","x.com/card":4})").queue("a").queue("b");
  cluster.pod("r", R"("queue":"a","node":"n","resources":{"memory":"1Gi","x.com/card":4})");
  cluster.pod("g", R"("queue":"b","resources":{"memory":"1Gi","x.com/card":2})");
  const Json answer = why("g --no-remedies", cluster.line());
  EXPECT_EQ(answer["makeRoom"], "NoShares");
  ASSERT_EQ(answer["holders"].size(), 1U);
  EXPECT_EQ(answer["holders"][0]["hold"], "noShares");
}

TEST(Why, ListsTheLimitsOfAnyResourceOfItsQueues) {
  test::Cluster cluster;
  cluster.node("n", R"("resources":{"cpu":8})").queue("top", R"("resources":{"pods":{"limit":1}})");
  cluster.queue("q", R"("parent":"top")").pod("r", R"("queue":"q","node":"n")").pod("g", R"("queue":"q")");
  const Json answer = why("g --no-remedies", cluster.line());
  EXPECT_EQ(answer["reason"], "LimitExceeded");
  EXPECT_EQ(answer["otherLimits"], Json::parse(R"([{"queue":"top","resource":"pods","allocated":1,"limit":1}])"));
}

TEST(Why, NamesWhatIsInUseAndWhatKeepsItThere) {
  const Json answer = why("ns/g --no-remedies", cluster());
  ASSERT_EQ(answer["holders"].size(), 1U);
  EXPECT_EQ(answer["holders"][0]["gang"], "busy");
  EXPECT_EQ(answer["holders"][0]["hold"], "notPreemptible");
  EXPECT_EQ(answer["ahead"], 0);
}

TEST(Why, NamesTheBudgetThatIsInTheWayAndThatKubeSchedulerMayBreakIt) {
  test::Cluster cluster;
  cluster.node("n1", 2).running("low", "n1", 2, R"("labels":{"app":"x"},"preemptible":true,"started":1000)");
  cluster.pod("high", 2, R"("priority":50)");
  cluster.with(
      R"("disruptionBudgets":[{"name":"pdb","namespace":"default","selector":{"matchLabels":{"app":"x"}},"allowed":0}])");
  const std::string message = why("high --no-remedies", cluster.line())["message"];
  EXPECT_NE(
      message.find(R"(disruption budget "default/pdb" allows 0 of its pods to be evicted. kube-scheduler may break)"),
      std::string::npos)
      << message;
}

TEST(Why, ListsRemediesBySizeWithTheOptionsOfWhatIf) {
  const Json remedies = why("g", cluster())["remedies"];
  ASSERT_FALSE(remedies.empty());
  std::int64_t last = 0;
  for (const Json& remedy : remedies) {
    EXPECT_GE(remedy["size"], last) << remedy;
    last = remedy["size"];
    EXPECT_EQ(remedy["options"].get<std::string>().substr(0, 2), "--");
  }
  EXPECT_EQ(remedies.back()["kind"], "addNodes");
  EXPECT_EQ(remedies.back()["options"], "--add-nodes 2xn1");
}

TEST(Why, WithoutANameGroupsWhatWaitsAndPricesOneMore) {
  const Json answer = why("", cluster());
  ASSERT_EQ(answer["reasons"].size(), 1U);
  EXPECT_EQ(answer["reasons"][0]["gangs"], 1);
  EXPECT_EQ(answer["reasons"][0]["gpus"], 12);
  ASSERT_FALSE(answer["stranded"].empty());
  EXPECT_FALSE(answer["prices"].empty());
  for (const Json& price : answer["prices"]) EXPECT_EQ(price["gangs"], 0) << price;  // it needs two nodes
}

Outcome why_text(const std::string& arguments, const std::string& line) {
  return Workplace().run("why --deterministic " + arguments, line + "\n");
}

TEST(Why, TellsInWordsWhetherThePlanIsProven) {
  const std::string gang = why_text("g --no-remedies", cluster()).out, all = why_text("--no-remedies", cluster()).out;
  EXPECT_NE(gang.find("yes; no better plan starts it\n"), std::string::npos) << gang;
  EXPECT_NE(all.find("plan proven: yes; no better plan starts other gangs\n"), std::string::npos) << all;
  // Greedy proves nothing: `b` could start in place of `a`.
  test::Cluster open;
  open.node("n1", 4).node("n2", 4);
  for (const char* name : {"a", "b", "c"}) open.pod(name, 3);
  const std::string line = open.line();
  const std::string waits = why_text("c --no-remedies --engine greedy", line).out,
                    some = why_text("--no-remedies --engine greedy", line).out;
  EXPECT_NE(waits.find("no; another plan might start it\n"), std::string::npos) << waits;
  EXPECT_NE(some.find("plan proven: no; another plan might start other gangs\n"), std::string::npos) << some;
  EXPECT_EQ(why("--no-remedies --engine greedy", line)["choiceProven"], false);
}

TEST(Why, SaysWhatThePlanDoesIfNoGangWaits) {
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4).pod("a", 1).gang("g").pods("g", 2, 2, R"("gang":"g")");
  EXPECT_EQ(why_text("", cluster.line()).out, "No gang waits; the next plan starts 3 pods of 2 gangs.\n");
  EXPECT_EQ(why_text("", test::Cluster().node("n", 1).line()).out, "No gang waits; the next plan changes nothing.\n");
  test::Cluster full;
  full.node("n1", 4)
      .node("n2", 4)
      .running("x", "n1", 2, R"("started":1000)")
      .running("y", "n2", 2, R"("started":1000)");
  full.pod("big", 4);
  EXPECT_EQ(why_text("", full.line()).out, "No gang waits; the next plan starts 1 pod of 1 gang, moves 1 pod.\n");
}

TEST(Why, WithAllFindsRemediesForEachGang) {
  const Json answer = why("--all", cluster());
  ASSERT_FALSE(answer["remedies"].empty());
  for (const Json& remedy : answer["remedies"]) EXPECT_EQ(remedy["gang"], "ns/g");
}

TEST(Why, ExplainsAPlanThatExistsAndRefusesOneThatDoesNotHold) {
  const Workplace place;
  const std::string snapshot = place.file("snapshot.json", cluster() + "\n");
  ASSERT_EQ(place.run("solve --deterministic -o json --output " + place.path("plan.json") + " " + snapshot).exit_code,
            0);
  const std::string arguments = "why ns/g --no-remedies --from " + snapshot + " --plan ";
  const Outcome good = place.run(arguments + place.path("plan.json"));
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_NE(good.out.find("ns/g waits: no suitable node."), std::string::npos) << good.out;
  EXPECT_NE(good.out.find("yes; no better plan starts it"), std::string::npos) << good.out;
  const std::string plan =
      R"({"format":"muster/v1","status":"ok","placements":[{"pod":"ns/g-0","node":"cpu","gpus":[0,1,2,3]}],"evictions":[]})";
  const Outcome bad = place.run(arguments + place.file("bad.json", plan + "\n"));
  EXPECT_EQ(bad.exit_code, 65);
  EXPECT_FALSE(bad.err.empty());
}

TEST(Why, OfAGangThatRunsOrIsUnknown) {
  const Workplace place;
  const Outcome runs = place.run("why busy --deterministic", cluster() + "\n");
  EXPECT_EQ(runs.exit_code, 0) << runs.err;
  EXPECT_NE(runs.out.find("busy runs"), std::string::npos) << runs.out;
  const Outcome unknown = place.run("why ns/h", cluster() + "\n");
  EXPECT_EQ(unknown.exit_code, 65);
  EXPECT_NE(unknown.err.find("ns/g"), std::string::npos) << unknown.err;
}

TEST(RemediesInPlans, AreTheSmallestOfEachGangThatWaitsAndPassVerify) {
  const Workplace place;
  const std::string snapshot = place.file("snapshot.json", cluster() + "\n"), plan = place.path("plan.json");
  ASSERT_EQ(place.run("solve --deterministic --remedies 3 -o json --output " + plan + " " + snapshot).exit_code, 0);
  const Json gang = Json::parse(place.content("plan.json"))["gangs"].at(0);
  ASSERT_TRUE(gang.contains("remedy")) << gang;
  EXPECT_EQ(gang["remedy"]["kind"], why("g", cluster())["remedies"].at(0)["kind"]);
  EXPECT_EQ(gang["remedy"]["options"], why("g", cluster())["remedies"].at(0)["options"]);
  EXPECT_EQ(place.run("verify " + snapshot + " " + plan).exit_code, 0);
}

TEST(RemediesInPlans, AreNotLookedForUnlessAskedFor) {
  const Workplace place;
  const Outcome outcome = place.run("solve --deterministic -o json", cluster() + "\n");
  EXPECT_EQ(outcome.out.find("remedy"), std::string::npos);
}

TEST(RemediesInPlans, SayNeverWhereNothingHelps) {
  test::Cluster cluster;
  cluster.node("n1", 4).queue("q").gang("g", R"("minMember":1,"queue":"gone")").pods("g", 1, 1, R"("gang":"g")");
  const Workplace place;
  const Outcome outcome = place.run("solve --deterministic --remedies 1 -o json", cluster.line() + "\n");
  EXPECT_NE(outcome.out.find(R"("remedy":{"kind":"never"})"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace muster::cli
