// Disruption budgets: which pods they select, what of them binds, and how the referee counts.
#include "model/problem/disruption_budgets.h"

#include "model/referee/rule.h"
#include "test/model/breaches.h"
#include "test/support/case.h"

namespace muster {
namespace {

std::string pod_on(const std::string& name, const std::string& more) {
  return R"({"name":")" + name + R"(","node":"n","resources":{"cpu":1})" + more + "}";
}

// Four pods run: a and b of application x, c of application y, d of another namespace.
std::string cluster(const std::string& more) {
  return R"("nodes":[{"name":"n","resources":{"cpu":8}}],"pods":[)" + pod_on("a", R"(,"labels":{"app":"x"})") + "," +
         pod_on("b", R"(,"labels":{"app":"x","rank":"1"})") + "," + pod_on("c", R"(,"labels":{"app":"y"})") + "," +
         pod_on("d", R"(,"labels":{"app":"x"},"namespace":"other")") + "]" + more;
}

std::string selected_by(const std::string& budget) {
  const test::Case problem(cluster(R"(,"disruptionBudgets":[{"name":"p","allowed":0)" + budget + "}]"));
  std::string names;
  for (const PodIndex pod : problem->pods.indices()) {
    if (problem->disruption_budgets.is_pinned(pod)) names += problem.snapshot().pods[pod.value()].name;
  }
  return names;
}

TEST(DisruptionBudgets, SelectPodsAsKubernetesDoes) {
  EXPECT_EQ(selected_by(R"(,"selector":{"matchLabels":{"app":"x"}})"), "ab");
  EXPECT_EQ(selected_by(R"(,"selector":{"matchLabels":{"app":"x","rank":"1"}})"), "b");
  EXPECT_EQ(selected_by(R"(,"selector":{"matchLabels":{"app":"x"}},"namespace":"other")"), "d");
  EXPECT_EQ(selected_by(R"(,"selector":{})"), "abc") << "an empty selector selects all of the namespace";
  EXPECT_EQ(selected_by(""), "") << "an absent one selects none";
  const std::string in = R"({"key":"app","operator":"In","values":["y","z"]})",
                    absent = R"({"key":"rank","operator":"DoesNotExist"})";
  EXPECT_EQ(selected_by(R"(,"selector":{"matchExpressions":[)" + in + "]}"), "c");
  EXPECT_EQ(selected_by(R"(,"selector":{"matchExpressions":[)" + absent + "]}"), "ac");
}

TEST(DisruptionBudgets, ThatAllowAllThatRunsDoNotBind) {
  const std::string budget = R"(,"disruptionBudgets":[{"name":"p","selector":{"matchLabels":{"app":"x"}},"allowed":)";
  EXPECT_TRUE(test::Case(cluster(budget + "2}]"))->disruption_budgets.empty());
  EXPECT_FALSE(test::Case(cluster(budget + "1}]"))->disruption_budgets.empty());
}

TEST(DisruptionBudgets, OfWhichOneIsExclusiveHoldPodsThatTheyShare) {
  const auto held = [](const std::string& more) {
    const test::Case problem(cluster(
        R"(,"disruptionBudgets":[{"name":"p","selector":{},"allowed":9},{"name":"q","selector":{"matchLabels":{"app":"y"}},"allowed":9)" +
        more + "}]"));
    return problem->disruption_budgets.is_pinned(problem.pod("c")) &&
           !problem->disruption_budgets.is_pinned(problem.pod("a"));
  };
  EXPECT_TRUE(held(R"(,"exclusive":true)"));
  EXPECT_FALSE(held(""));
}

TEST(DisruptionBudgets, AreRefusedWhereTheyMakeNoSense) {
  const auto error = [](const std::string& budgets) {
    return test::error_of(cluster(R"(,"disruptionBudgets":[)" + budgets + "]"));
  };
  EXPECT_EQ(error(R"({"name":"p","allowed":-1})"), "InvalidValue $.disruptionBudgets[0].allowed");
  EXPECT_EQ(error(R"({"name":"p"})"), "MissingKey $.disruptionBudgets[0].allowed");
  EXPECT_EQ(error(R"({"name":"p","allowed":1},{"name":"p","allowed":1})"), "DuplicateName $.disruptionBudgets[1].name");
  EXPECT_EQ(error(R"({"name":"p","allowed":1},{"name":"p","namespace":"other","allowed":1})"), "");
}

// The pods that stay, and the number of warnings, when odd objects do not cost the others their plan.
std::string pinned_by(const std::string& budgets) {
  const test::Case problem(cluster(R"(,"disruptionBudgets":[)" + budgets + "]"), test::Oddities::kSettled);
  std::string names;
  for (const PodIndex pod : problem->pods.indices()) {
    if (problem->disruption_budgets.is_pinned(pod)) names += problem.snapshot().pods[pod.value()].name;
  }
  return names + " " + std::to_string(problem.snapshot().anomalies.count());
}

TEST(DisruptionBudgets, ThatCannotBeReadHoldAllPodsThatTheyMaySelect) {
  const std::string selector = R"("selector":{"matchLabels":{"app":"x"}})";
  EXPECT_EQ(pinned_by(R"({"name":"p","allowed":9,)" + selector + "}"), " 0");
  EXPECT_EQ(pinned_by(R"({"name":"p","allowed":-1,)" + selector + "}"), "ab 1");
  EXPECT_EQ(pinned_by(R"({"name":"p","allowed":9,"colour":1,)" + selector + "}"), "ab 1");
  EXPECT_EQ(pinned_by(R"({"name":"p","allowed":9,"unclear":"its status is odd",)" + selector + "}"), "ab 1");
  EXPECT_EQ(pinned_by(R"({"name":"p","allowed":9,"selector":{"matchLabels":7}})"), "abc 1") << "of its namespace";
  EXPECT_EQ(pinned_by(R"({"name":"p","allowed":9,"namespace":7,)" + selector + "}"), "abd 1") << "of any namespace";
  EXPECT_EQ(pinned_by(R"({"allowed":9,)" + selector + "}"), "ab 1") << "without a name";
  EXPECT_EQ(pinned_by("7"), "abcd 1");
}

TEST(DisruptionBudgets, OfOneNameBothCount) {
  EXPECT_EQ(pinned_by(R"({"name":"p","allowed":0,"selector":{"matchLabels":{"app":"y"}}},)"
                      R"({"name":"p","allowed":0,"selector":{"matchLabels":{"rank":"1"}}})"),
            "bc 1");
}

TEST(PolicyProtect, HoldsPodsOfAllNamespaces) {
  const test::Case problem(cluster(R"(,"policy":{"protect":{"matchLabels":{"app":"x"}}})"));
  const auto is_pinned = [&](const char* pod) { return problem->disruption_budgets.is_pinned(problem.pod(pod)); };
  EXPECT_TRUE(is_pinned("a") && is_pinned("b") && is_pinned("d"));
  EXPECT_FALSE(is_pinned("c"));
}

TEST(PolicySchedulers, LeaveOutPodsOfOthersThatWaitAndHoldThoseThatRun) {
  const std::string pods =
      R"("nodes":[{"name":"n","resources":{"cpu":8}}],"pods":[{"name":"mine"},{"name":"theirs","schedulerName":"kai"},)" +
      pod_on("a", "") + "," + pod_on("b", R"(,"schedulerName":"kai")") + "]";
  const test::Case all(pods), ours(pods + R"(,"policy":{"schedulers":["default-scheduler"]})");
  EXPECT_EQ(all->pods[all.pod("theirs")].status, PodStatus::kPending);
  EXPECT_EQ(ours->pods[ours.pod("theirs")].status, PodStatus::kFailed);
  EXPECT_EQ(ours->pods[ours.pod("mine")].status, PodStatus::kPending);
  EXPECT_TRUE(ours->disruption_budgets.is_pinned(ours.pod("b")));
  EXPECT_FALSE(ours->disruption_budgets.is_pinned(ours.pod("a")));
}

// Waiting pods of another scheduler: nominated ones, of which one is of a gang of ours, and one that is not.
const char* const kNominated =
    R"("policy":{"schedulers":["default-scheduler"]},"nodes":[{"name":"n","resources":{"cpu":8}}],)"
    R"("gangs":[{"name":"g","minMember":2}],"pods":[)"
    R"({"name":"a","schedulerName":"kai","nominatedNode":"n","resources":{"cpu":2}},)"
    R"({"name":"b","schedulerName":"kai","nominatedNode":"n","resources":{"cpu":2},"gang":"g","labels":{"app":"x"}},)"
    R"({"name":"c","schedulerName":"kai","nominatedNode":"gone"},{"name":"d","gang":"g"}])";

TEST(PolicySchedulers, TakeTheRoomThatPodsOfOthersAreNominatedFor) {
  const test::Case problem(kNominated);
  for (const char* name : {"a", "b"}) {
    const Pod& pod = problem->pods[problem.pod(name)];
    EXPECT_EQ(pod.status, PodStatus::kRunning) << name;
    EXPECT_EQ(pod.node, problem.node("n")) << name;
    EXPECT_TRUE(problem->disruption_budgets.is_pinned(problem.pod(name))) << name;
  }
  EXPECT_EQ(problem->pods[problem.pod("c")].status, PodStatus::kFailed) << "its node is not there";
  EXPECT_NE(problem->pods[problem.pod("b")].gang, problem.gang("g")) << "it makes up no minimum of the gang";
}

// --- Stale gangs

std::string stale(const std::string& budgets) {
  const auto gang = [](const std::string& name, const std::string& since) {
    return R"({"name":")" + name + R"(","minMember":3,"staleSince":)" + since + "}";
  };
  const auto two = [](const std::string& gang_name) {
    return pod_on(gang_name + "-0", R"(,"gang":")" + gang_name + R"(","labels":{"app":"x"})") + "," +
           pod_on(gang_name + "-1", R"(,"gang":")" + gang_name + R"(","labels":{"app":"x"})");
  };
  return R"("nodes":[{"name":"n","resources":{"cpu":8}}],"gangs":[)" + gang("late", "999800") + "," +
         gang("early", "999700") + R"(],"pods":[)" + two("late") + "," + two("early") + "]" + budgets;
}

std::string stale_with(const std::string& allowed) {
  const test::Case problem(
      stale(R"(,"disruptionBudgets":[{"name":"p","selector":{"matchLabels":{"app":"x"}},"allowed":)" + allowed + "}]"));
  std::string names;
  for (const Gang& gang : problem->gangs) names += gang.stale ? std::string(gang.name) + " " : "";
  return names;
}

TEST(DisruptionBudgets, LetStaleGangsGoWholeTheEarliestFirst) {
  EXPECT_EQ(stale_with("1"), "");
  EXPECT_EQ(stale_with("2"), "early ");
  EXPECT_EQ(stale_with("3"), "early ");
  EXPECT_EQ(stale_with("4"), "late early ");
}

}  // namespace

namespace test {
namespace {

// One pod of a gang with a surplus is evicted, another one is moved; both are of the budget.
const Scenario kWithin{"within budgets", R"json({"format":"muster/v1","time":1000,
 "disruptionBudgets":[{"name":"web","namespace":"team","selector":{"matchLabels":{"app":"web"}},"allowed":2},
                      {"name":"all","namespace":"team","selector":{},"allowed":3}],
 "nodes":[{"name":"n1","resources":{"cpu":4}},{"name":"n2","resources":{"cpu":2}}],
 "gangs":[{"name":"low","priority":1,"minMember":1},{"name":"high","priority":9,"minMember":2}],
 "pods":[
  {"name":"team/low-0","namespace":"team","gang":"low","resources":{"cpu":2},"node":"n1","labels":{"app":"web"}},
  {"name":"team/low-1","namespace":"team","gang":"low","resources":{"cpu":2},"node":"n1","labels":{"app":"web"}},
  {"name":"team/low-2","namespace":"team","gang":"low","resources":{"cpu":1},"node":"n2","labels":{"app":"web"}},
  {"name":"high-0","gang":"high","resources":{"cpu":4}},
  {"name":"high-1","gang":"high","resources":{"cpu":0}}]})json",
                       R"(evict team/low-0 preempt high
evict team/low-1 preempt high
place high-0 n1 after team/low-0 team/low-1
place high-1 n2 after team/low-0
)"};

const Breach kWithinBreaches[] = {
    {"one pod more than the budget allows", referee::Rule::kDisruptionBudget, R"({"app":"web"}},"allowed":2)",
     R"({"app":"web"}},"allowed":1)"},
    {"a second budget of the same pods", referee::Rule::kDisruptionBudget, R"("selector":{},"allowed":3)",
     R"("selector":{},"allowed":1)"},
    {"pods of two budgets of which one is exclusive", referee::Rule::kDisruptionBudget, R"("selector":{},"allowed":3)",
     R"("selector":{},"allowed":3,"exclusive":true)"},
    {"pods that the policy protects", referee::Rule::kDisruptionBudget, R"("time":1000,)",
     R"("time":1000,"policy":{"protect":{"matchExpressions":[{"key":"app","operator":"NotIn","values":["db"]}]}},)"},
    {"pods that another scheduler runs", referee::Rule::kDisruptionBudget, R"("time":1000,)",
     R"("time":1000,"policy":{"schedulers":["kai","default-scheduler"]},)"},
};

TEST(RefereeOfDisruptionBudgets, PassesAValidPlan) { expect_valid(kWithin); }

TEST(RefereeOfDisruptionBudgets, FindsEveryBreach) {
  for (const Breach& breach : kWithinBreaches) {
    Scenario scenario = kWithin;
    if (breach.name.find("scheduler") != std::string::npos)
      replace_once(scenario.snapshot, R"("name":"team/low-0",)", R"("name":"team/low-0","schedulerName":"x",)");
    expect_found(scenario, breach);
  }
}

TEST(RefereeOfDisruptionBudgets, CountsMovesAsEvictions) {
  Scenario scenario = kWithin;
  replace_once(scenario.plan, "evict team/low-1 preempt high", "evict team/low-1 consolidate high");
  replace_once(scenario.plan, "place high-1 n2 after team/low-0",
               "place high-1 n2 after team/low-0\nplace team/low-1 n2 after team/low-0");
  replace_once(scenario.snapshot, R"({"name":"n2","resources":{"cpu":2}})", R"({"name":"n2","resources":{"cpu":3}})");
  expect_valid(scenario);
  expect_found(scenario, kWithinBreaches[0]);
}

TEST(RefereeOfDisruptionBudgets, LetsAStaleGangStayThatCannotGoWhole) {
  const auto told_of = [](const std::string& allowed, const std::string& plan) {
    const Case cluster(stale(R"(,"disruptionBudgets":[{"name":"p","selector":{},"allowed":)" + allowed + "}]"));
    std::string rules;
    for (const referee::Violation& violation : cluster.check(plan_of(cluster, plan)))
      rules += std::string(referee::rule_name(violation.rule)) + " ";
    return rules;
  };
  const std::string late = "evict late-0 stale\nevict late-1 stale\n";
  const std::string early = "evict early-0 stale\nevict early-1 stale\n";
  EXPECT_EQ(told_of("1", ""), "");
  EXPECT_EQ(told_of("2", ""), "Stale ") << "the one that fell below its minimum first must go";
  EXPECT_EQ(told_of("2", early), "");
  EXPECT_EQ(told_of("2", late), "Stale Stale Stale ") << "not the other one in its place";
  EXPECT_EQ(told_of("4", early), "Stale ");
  EXPECT_EQ(told_of("4", early + late), "");
}

}  // namespace
}  // namespace test
}  // namespace muster
