// Rules Affinity and Spread: valid plans pass, and each way to break one is found.
#include "model/snapshot/plan.h"
#include "test/model/breaches.h"

namespace muster::test {
namespace {

// A pod that goes to what runs, a pair of which one is the first, and pods that are to be spread.
const Scenario kInterPod{"inter-pod", R"json({"format":"muster/v1","time":1000,
 "nodes":[
  {"name":"x1","resources":{"cpu":8},"labels":{"zone":"x","host":"x1"}},
  {"name":"y1","resources":{"cpu":8},"labels":{"zone":"y","host":"y1"}},
  {"name":"z1","resources":{"cpu":8},"labels":{"zone":"z","host":"z1"},"taints":[{"key":"t","effect":"NoSchedule"}]},
  {"name":"bare","resources":{"cpu":8}}],
 "namespaces":[{"name":"data","labels":{"team":"store"}},{"name":"web","labels":{"team":"front"}}],
 "pods":[
  {"name":"db","namespace":"data","resources":{"cpu":1},"labels":{"app":"db"},"node":"x1","started":0},
  {"name":"near","namespace":"web","resources":{"cpu":1},"podAffinity":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"db"}},"namespaceSelector":{"matchLabels":{"team":"store"}}}},
  {"name":"pair-0","namespace":"web","resources":{"cpu":1},"labels":{"app":"pair"},"podAffinity":{"topologyKey":"host","labelSelector":{"matchLabels":{"app":"pair"}}}},
  {"name":"pair-1","namespace":"web","resources":{"cpu":1},"labels":{"app":"pair"},"podAffinity":{"topologyKey":"host","labelSelector":{"matchLabels":{"app":"pair"}}}},
  {"name":"even-0","namespace":"web","resources":{"cpu":1},"labels":{"app":"even"},"topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"even"}},"nodeTaintsPolicy":"Honor"}]},
  {"name":"even-1","namespace":"web","resources":{"cpu":1},"labels":{"app":"even"},"topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"even"}},"nodeTaintsPolicy":"Honor"}]},
  {"name":"even-2","namespace":"web","resources":{"cpu":1},"labels":{"app":"even"},"topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"even"}},"nodeTaintsPolicy":"Honor","minDomains":2}]}]})json",
                         R"(place near x1
place pair-0 y1
place pair-1 y1
place even-0 x1
place even-1 y1
place even-2 x1
)"};

const Breach kInterPodBreaches[] = {
    {"in another zone than what it asks for", referee::Rule::kAffinity, "place near x1", "place near y1"},
    {"on a node without the label", referee::Rule::kAffinity, "place near x1", "place near bare"},
    {"to a pod of a namespace that is not selected", referee::Rule::kAffinity, R"({"team":"store"}},{)",
     R"({"team":"shop"}},{)"},
    {"the second of a pair elsewhere", referee::Rule::kAffinity, "place pair-1 y1", "place pair-1 x1"},
    {"the first does not match itself", referee::Rule::kAffinity,
     R"("name":"pair-0","namespace":"web","resources":{"cpu":1},"labels":{"app":"pair"})",
     R"("name":"pair-0","namespace":"web","resources":{"cpu":1},"labels":{"app":"odd"})"},
    {"too many in one zone", referee::Rule::kSpread, "place even-1 y1", "place even-1 x1"},
    {"on a node without the label of its spread", referee::Rule::kSpread, "place even-1 y1", "place even-1 bare"},
    {"fewer domains than asked count as an empty one", referee::Rule::kSpread, R"("minDomains":2)",
     R"("minDomains":3)"},
};

TEST(RefereeOfInterPodRules, PassesAValidPlan) { expect_valid(kInterPod); }

TEST(RefereeOfInterPodRules, FindsEveryBreach) {
  for (const Breach& breach : kInterPodBreaches) expect_found(kInterPod, breach);
}

std::string pods_of(const std::string& pods) {
  return R"({"format":"muster/v1","time":1000,"nodes":[
   {"name":"x1","resources":{"cpu":8},"labels":{"zone":"x"}},{"name":"y1","resources":{"cpu":8},"labels":{"zone":"y"}}],
   "gangs":[{"name":"low","priority":1},{"name":"high","priority":90}],"pods":[)" +
         pods + "]}";
}

const char* const kToOwnKind =
    R"("resources":{"cpu":1},"labels":{"app":"a"},"podAffinity":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a"}}})";

TEST(RefereeOfInterPodRules, TwoPodsThatNeedEachOtherCannotBothBeSecond) {
  const Case cluster = Case::of_line(pods_of(
      R"({"name":"p","resources":{"cpu":1},"labels":{"app":"a"},"podAffinity":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"b"}}}},
      {"name":"q","resources":{"cpu":1},"labels":{"app":"b"},"podAffinity":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a"}}}})"));
  const auto violations = cluster.check(plan_of(cluster, "place p x1\nplace q x1\n"));
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations.front().rule, referee::Rule::kAffinity);
}

TEST(RefereeOfInterPodRules, TheStepsOfThePlanDecideWhichIsTheFirst) {
  const Case cluster =
      Case::of_line(pods_of("{\"name\":\"p\"," + std::string(kToOwnKind) +
                            "},{\"name\":\"a\",\"resources\":{\"cpu\":1},\"labels\":{\"app\":\"a\"}}"));
  Plan plan = plan_of(cluster, "place p x1\nplace a y1\n");
  EXPECT_EQ(text_of(cluster.check(plan)).find("Affinity"), 0U) << "a is bound first, by name";
  for (Placement& placement : plan.placements) placement.step = placement.pod == cluster.pod("a") ? 1 : 0;
  EXPECT_EQ(text_of(cluster.check(plan)), "");
}

TEST(RefereeOfInterPodRules, AMovedPodIsBoundAmongThoseThatWait) {
  const Case cluster =
      Case::of_line(pods_of("{\"name\":\"p\",\"gang\":\"high\"," + std::string(kToOwnKind) +
                            R"(},{"name":"a","gang":"low","resources":{"cpu":1},"labels":{"app":"a"},"node":"y1"})"));
  Plan plan = plan_of(cluster, "place p x1\nplace a x1\nevict a consolidate high\n");
  for (Placement& placement : plan.placements) placement.step = placement.pod == cluster.pod("p") ? 1 : 0;
  EXPECT_NE(text_of(cluster.check(plan)).find("Affinity"), std::string::npos) << "p is bound first, whatever its step";
}

TEST(RefereeOfInterPodRules, WhatIsReleasingIsInTheWayOfTheFirstUntilItIsGone) {
  const Case cluster = Case::of_line(
      pods_of("{\"name\":\"p\"," + std::string(kToOwnKind) +
              R"(},{"name":"old","resources":{"cpu":1},"labels":{"app":"a"},"node":"y1","status":"releasing"})"));
  EXPECT_EQ(text_of(cluster.check(plan_of(cluster, "place p x1\n"))).find("Affinity"), 0U);
  EXPECT_EQ(text_of(cluster.check(plan_of(cluster, "place p y1\n"))).find("Affinity"), 0U)
      << "what leaves anchors no pod";
  EXPECT_EQ(text_of(cluster.check(plan_of(cluster, "place p x1 after old\n"))), "");
}

TEST(RefereeOfInterPodRules, WhatIsReleasingIsNoPartOfASpread) {
  const char* spread =
      R"("labels":{"app":"a"},"resources":{"cpu":1},"topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}])";
  const auto told_of = [&](const char* status) {
    const Case cluster = Case::of_line(pods_of(
        "{\"name\":\"p\"," + std::string(spread) +
        R"(},{"name":"old","resources":{"cpu":1},"labels":{"app":"a"},"node":"x1","status":")" + status + "\"}"));
    return text_of(cluster.check(plan_of(cluster, "place p x1\n")));
  };
  EXPECT_EQ(told_of("releasing"), "");
  EXPECT_EQ(told_of("running").find("Spread"), 0U);
}

// One pod runs in each zone. What waits may be spread over both.
std::string spread_beside_a_victim() {
  const char* spread =
      R"("labels":{"app":"a"},"resources":{"cpu":1},"topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}])";
  return pods_of("{\"name\":\"p\",\"gang\":\"high\"," + std::string(spread) + "},{\"name\":\"q\",\"gang\":\"high\"," +
                 spread +
                 R"(},{"name":"v","gang":"low","resources":{"cpu":8},"labels":{"app":"a"},"node":"x1","started":0},
                     {"name":"stays","resources":{"cpu":1},"labels":{"app":"a"},"node":"y1"})");
}

TEST(RefereeOfInterPodRules, AVictimCountsInItsDomainUntilAPlacementNamesIt) {
  const Case cluster = Case::of_line(spread_beside_a_victim());
  const auto told_of = [&](const char* places) {
    return text_of(cluster.check(plan_of(cluster, std::string(places) + "evict v preempt high\n")));
  };
  EXPECT_EQ(told_of("place p x1 after v\nplace q x1 after v\n"), "");
  EXPECT_EQ(told_of("place p x1 after v\nplace q y1\n").find("Spread"), 0U) << "x may be empty when q is bound";
  EXPECT_EQ(told_of("place p x1 after v\nplace q y1 after v\n"), "");
}

TEST(RefereeOfInterPodRules, NodesOutOfReachOfItsVolumesCountInASpread) {
  const std::string p =
      R"({"name":"p","resources":{"cpu":1},"labels":{"app":"a"},"topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}],)";
  const std::string terms =
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["x"]}]}]})";
  const std::string runs = R"(,{"name":"runs","resources":{"cpu":1},"labels":{"app":"a"},"node":"x1"})";
  const Case volume = Case::of_line(pods_of(p + R"("volumeNodeAffinity":{"required":)" + terms + "}}" + runs));
  EXPECT_EQ(text_of(volume.check(plan_of(volume, "place p x1\n"))).find("Spread"), 0U) << "zone y is empty";
  const Case affinity = Case::of_line(
      pods_of(p + R"("nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)" + terms + "}}" + runs));
  EXPECT_EQ(text_of(affinity.check(plan_of(affinity, "place p x1\n"))), "") << "zone y does not count";
}

TEST(RefereeOfInterPodRules, AVictimInTheWayOfASpreadHasNotGoneInVain) {
  const std::string victim =
      R"({"name":"v","gang":"low","resources":{"cpu":1},"labels":{"app":"a"},"node":"x1","started":0})";
  const auto claimant = [](const std::string& app) {
    return R"({"name":"p","gang":"high","resources":{"cpu":1},"labels":{"app":")" + app +
           R"("},"nodeSelector":{"zone":"x"},"topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
            "nodeAffinityPolicy":"Ignore","labelSelector":{"matchLabels":{"app":")" +
           app + R"("}}}]})";
  };
  const char* plan = "place p x1 after v\nevict v preempt high\n";
  const Case in_the_way = Case::of_line(pods_of(victim + "," + claimant("a")));
  EXPECT_EQ(text_of(in_the_way.check(plan_of(in_the_way, plan))), "");
  const Case in_vain = Case::of_line(pods_of(victim + "," + claimant("b")));
  EXPECT_EQ(text_of(in_vain.check(plan_of(in_vain, plan))).find("NotInVain"), 0U);
}

}  // namespace
}  // namespace muster::test
