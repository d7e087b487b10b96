#include "heuristics/greedy/greedy.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/leading_levels.h"
#include "model/objective/evaluation.h"
#include "test/support/plan.h"

namespace muster::greedy {
namespace {

struct Solved : test::Outcome {
  Solved(test::Case cluster, Candidate candidate)
      : Outcome(std::move(cluster), std::move(candidate.plan)), ran_out(candidate.ran_out) {}
  bool ran_out;
};

Solved solved(const std::string& body, const GreedyOptions& options = {}) {
  test::Case cluster(body);
  Candidate candidate = solve_greedy(*cluster, cluster.shares(), options);
  return {std::move(cluster), std::move(candidate)};
}

TEST(Greedy, PlacesAGangWholeOrNotAtAll) {
  const std::string nodes = R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}}],)";
  const std::string pods =
      R"("pods":[{"name":"g-0","gang":"g","gpu":{"count":1}},{"name":"g-1","gang":"g","gpu":{"count":1}},
     {"name":"g-2","gang":"g","gpu":{"count":1}},{"name":"g-3","gang":"g","gpu":{"count":1}}])";
  EXPECT_EQ(solved(nodes + R"("gangs":[{"name":"g"}],)" + pods).running("g"), 0);
  EXPECT_EQ(solved(nodes + R"("gangs":[{"name":"g","minMember":2}],)" + pods).running("g"), 3);
}

TEST(Greedy, KeepsSubgroupsWithinTheirDomainsInsideTheParents) {
  const Solved outcome = solved(R"("topology":["zone","rack"],"nodes":[
     {"name":"a1","gpus":{"count":2},"labels":{"zone":"a","rack":"1"}},{"name":"a2","gpus":{"count":1},"labels":{"zone":"a","rack":"2"}},
     {"name":"b1","gpus":{"count":2},"labels":{"zone":"b","rack":"1"}},{"name":"b2","gpus":{"count":2},"labels":{"zone":"b","rack":"2"}}],
     "gangs":[{"name":"g","topology":{"required":"zone"},"subgroups":[{"name":"x","minMember":2,"topology":{"required":"rack"}},
       {"name":"y","minMember":2,"topology":{"required":"rack"}}]}],
     "pods":[{"name":"x-0","gang":"g","subgroup":"x","gpu":{"count":1}},{"name":"x-1","gang":"g","subgroup":"x","gpu":{"count":1}},
             {"name":"y-0","gang":"g","subgroup":"y","gpu":{"count":1}},{"name":"y-1","gang":"g","subgroup":"y","gpu":{"count":1}}])");
  EXPECT_EQ(outcome.running("g"), 4);
  EXPECT_EQ(outcome.node("x-0").substr(0, 1), "b");
}

// Racks a and b, zones x and y, one node for each pair.
constexpr const char* kCrossing =
    R"("topologies":[{"name":"net","levels":["rack"]},{"name":"power","levels":["zone"]}],"nodes":[
     {"name":"ax","gpus":{"count":2},"labels":{"rack":"a","zone":"x"}},{"name":"ay","gpus":{"count":1},"labels":{"rack":"a","zone":"y"}},
     {"name":"bx","gpus":{"count":1},"labels":{"rack":"b","zone":"x"}},{"name":"by","gpus":{"count":3},"labels":{"rack":"b","zone":"y"}}],)";

TEST(Greedy, KeepsSubgroupsWithinTheDomainsOfTopologiesThatCross) {
  const Solved outcome =
      solved(std::string(kCrossing) +
             R"("gangs":[{"name":"g","subgroups":[{"name":"x","minMember":3,"topology":{"required":"rack"}},
       {"name":"y","minMember":4,"topology":{"required":"zone"}}]}],
     "pods":[{"name":"x-0","gang":"g","subgroup":"x","gpu":{"count":1}},{"name":"x-1","gang":"g","subgroup":"x","gpu":{"count":1}},
             {"name":"x-2","gang":"g","subgroup":"x","gpu":{"count":1}},{"name":"y-0","gang":"g","subgroup":"y","gpu":{"count":1}},
             {"name":"y-1","gang":"g","subgroup":"y","gpu":{"count":1}},{"name":"y-2","gang":"g","subgroup":"y","gpu":{"count":1}},
             {"name":"y-3","gang":"g","subgroup":"y","gpu":{"count":1}}])");
  EXPECT_EQ(outcome.running("g"), 0) << "the zone y has four GPUs, and rack a none beside them but ax";
}

TEST(Greedy, ASubgroupLiesInWhatItsDomainAndThatOfItsParentHaveInCommon) {
  const Solved outcome = solved(std::string(kCrossing) + R"("gangs":[{"name":"g","topology":{"required":"zone"},
       "subgroups":[{"name":"x","minMember":2,"topology":{"required":"rack"}},{"name":"y","minMember":1}]}],
     "pods":[{"name":"x-0","gang":"g","subgroup":"x","gpu":{"count":1}},{"name":"x-1","gang":"g","subgroup":"x","gpu":{"count":1}},
             {"name":"y-0","gang":"g","subgroup":"y","gpu":{"count":2}}])");
  EXPECT_EQ(outcome.running("g"), 0) << "by has three GPUs, ax two, and no zone holds both";
  const Solved fits = solved(std::string(kCrossing) + R"("gangs":[{"name":"g","topology":{"required":"zone"},
       "subgroups":[{"name":"x","minMember":2,"topology":{"required":"rack"}},{"name":"y","minMember":1}]}],
     "pods":[{"name":"x-0","gang":"g","subgroup":"x","gpu":{"count":1}},{"name":"x-1","gang":"g","subgroup":"x","gpu":{"count":1}},
             {"name":"y-0","gang":"g","subgroup":"y","gpu":{"count":1}}])");
  EXPECT_EQ(fits.running("g"), 3);
  EXPECT_EQ(fits.node("x-0"), fits.node("x-1"));
}

TEST(Greedy, NeedsOnlySoManySubgroups) {
  const Solved outcome = solved(R"("nodes":[{"name":"n","gpus":{"count":2}}],
     "gangs":[{"name":"g","minSubgroups":1,"subgroups":[{"name":"big","minMember":3},{"name":"small","minMember":2}]}],
     "pods":[{"name":"b-0","gang":"g","subgroup":"big","gpu":{"count":1}},{"name":"b-1","gang":"g","subgroup":"big","gpu":{"count":1}},
             {"name":"b-2","gang":"g","subgroup":"big","gpu":{"count":1}},{"name":"s-0","gang":"g","subgroup":"small","gpu":{"count":1}},
             {"name":"s-1","gang":"g","subgroup":"small","gpu":{"count":1}}])");
  EXPECT_EQ(outcome.running("g"), 2);
  EXPECT_EQ(outcome.node("s-0"), "n");
}

TEST(Greedy, FillsSharedDevicesBeforeIdleOnes) {
  const Solved outcome = solved(R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":2}}],
     "pods":[{"name":"r","gpu":{"fraction":0.5},"node":"b","gpus":[1]},{"name":"half","gpu":{"fraction":0.5}},
             {"name":"one","gpu":{"count":1}},{"name":"two","gpu":{"count":1}}])");
  EXPECT_EQ(outcome.node("half"), "b");
  EXPECT_EQ(outcome.plan().placements.size(), 3U);
}

TEST(Greedy, PrefersTheNominatedNodeWhereItFits) {
  const Solved outcome = solved(R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":8}}],
     "pods":[{"name":"p","gpu":{"count":1},"nominatedNode":"b"}])");
  EXPECT_EQ(outcome.node("p"), "b");
}

TEST(Greedy, KeepsCpuForIdleDevicesWhenItPlacesASharer) {
  // The tighter device is on the node with less cpu, all of which its idle devices need.
  std::string pods =
      R"({"name":"r","resources":{"cpu":1},"gpu":{"fraction":0.75},"node":"a","gpus":[3]},
     {"name":"s","resources":{"cpu":1},"gpu":{"fraction":0.5},"node":"b","gpus":[3]},
     {"name":"share","priority":100,"resources":{"cpu":6},"gpu":{"fraction":0.25}})";
  for (int i = 0; i < 6; ++i)
    pods += R"(,{"name":"one-)" + std::to_string(i) + R"(","resources":{"cpu":5},"gpu":{"count":1}})";
  const Solved outcome = solved(R"("nodes":[{"name":"a","resources":{"cpu":16},"gpus":{"count":4}},
     {"name":"b","resources":{"cpu":64},"gpus":{"count":4}}],"pods":[)" +
                                pods + "]");
  EXPECT_EQ(outcome.node("share"), "b");
  EXPECT_EQ(outcome.plan().placements.size(), 7U);
}

TEST(Greedy, PutsTheOldestFirstWhereOneQueueHasOneStart) {
  // Two of the most recent ones fill both nodes, and so do all of those that have waited longest.
  std::string pods;
  for (int i = 0; i < 3; ++i)
    pods += R"({"name":"young-)" + std::to_string(i) + R"(","created":999900,"gpu":{"count":8}},)";
  for (int i = 0; i < 11; ++i)
    pods += R"({"name":"old-)" + std::to_string(i) + R"(","created":)" + std::to_string(100 + i) +
            R"(,"gpu":{"count":)" + (i % 2 == 0 ? "1" : "2") + "}},";
  pods.pop_back();
  const std::string body =
      R"("nodes":[{"name":"a","gpus":{"count":8}},{"name":"b","gpus":{"count":8}}],"pods":[)" + pods + "]";
  GreedyOptions options;
  options.starts = 1;
  const std::string mixed = body + R"(,"queues":[{"name":"default"},{"name":"other"}])";
  EXPECT_EQ(solved(mixed, options).running("young-0"), 1);
  const Solved oldest = solved(body, options);  // with one queue
  EXPECT_EQ(oldest.running("young-0"), 0);
  for (int i = 0; i < 11; ++i) EXPECT_EQ(oldest.running(("old-" + std::to_string(i)).c_str()), 1) << i;
}

TEST(Greedy, OldestFirstLeavesOutRecentSharersWithoutAFullDevice) {
  // All sharers together leave 5 x 0.05 devices idle; without five of 0.75 those that are left fill six devices.
  std::string pods;
  const auto add = [&](const char* name, int count, int created, const char* gpu) {
    for (int i = 0; i < count; ++i) {
      pods += pods.empty() ? "" : ",";
      pods += R"({"name":")" + std::string(name) + std::to_string(i) + R"(","created":)" + std::to_string(created + i) +
              R"(,"gpu":)" + gpu + "}";
    }
  };
  add("three-quarters-", 10, 100, R"({"fraction":0.75})");
  add("quarter-", 5, 100, R"({"fraction":0.25})");
  add("fifth-", 5, 100, R"({"fraction":0.2})");
  add("young-", 4, 999900, R"({"count":1})");
  GreedyOptions options;
  options.starts = 1;
  const Solved outcome = solved(R"("nodes":[{"name":"a","gpus":{"count":10}}],"pods":[)" + pods + "]", options);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(outcome.running(("young-" + std::to_string(i)).c_str()), 1) << i;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(outcome.running(("three-quarters-" + std::to_string(i)).c_str()), i < 5) << i;
}

TEST(Greedy, KeepsLongRunningPodsInPlaceOfRecentOnesElsewhere) {
  // Only `long` has a node to itself; the short ones run next to pods that have to stay, but may move.
  std::string pods = R"({"name":"big","priority":20,"gpu":{"count":4}},
     {"name":"long","priority":10,"gpu":{"count":4},"node":"a","started":100})";
  for (const char* node : {"b", "c"}) {
    for (int i = 0; i < 4; ++i) {
      pods += R"(,{"name":")" + std::string(i < 2 ? "short-" : "stays-") + node + std::to_string(i) +
              R"(","priority":)" + (i < 2 ? "10" : "20") + R"(,"gpu":{"count":1},"node":")" + node +
              R"(","started":999000})";
    }
  }
  const Solved outcome = solved(R"("nodes":[{"name":"a","gpus":{"count":4}},{"name":"b","gpus":{"count":4}},
     {"name":"c","gpus":{"count":4}}],"pods":[)" +
                                pods + "]");
  EXPECT_EQ(outcome.running("big"), 1);
  EXPECT_EQ(outcome.running("long"), 1);
  EXPECT_EQ(outcome.running("short-b0") + outcome.running("short-c0"), 0);
  EXPECT_EQ(outcome.running("stays-b2") + outcome.running("stays-c2"), 2);
}

// Each of the two pods that wait for a whole node takes it from a pod that has run for long. The four nodes of the
// young gang give no pod a whole node at first; both get one once the gang is evicted and two of the pods next to it
// have moved.
TEST(Greedy, ChoosesAYoungGangInPlaceOfSeveralOlderVictims) {
  std::string pods = R"({"name":"high-0","priority":30,"gpu":{"count":2}},
     {"name":"high-1","priority":30,"gpu":{"count":2}},
     {"name":"long-e","priority":10,"gpu":{"count":2},"node":"e","started":100},
     {"name":"long-f","priority":10,"gpu":{"count":2},"node":"f","started":100})";
  std::string nodes = R"({"name":"e","gpus":{"count":2}},{"name":"f","gpus":{"count":2}})";
  for (const std::string node : {"a", "b", "c", "d"}) {
    nodes += R"(,{"name":")" + node + R"(","gpus":{"count":2}})";
    pods += R"(,{"name":"young-)" + node + R"(","gang":"young","gpu":{"count":1},"started":999000,"node":")" + node;
    pods += R"("},{"name":"beside-)" + node + R"(","priority":20,"gpu":{"count":1},"node":")" + node + R"("})";
  }
  const Solved outcome =
      solved(R"("nodes":[)" + nodes + R"(],"gangs":[{"name":"young","priority":10}],"pods":[)" + pods + "]");
  EXPECT_EQ(outcome.running("high-0") + outcome.running("high-1"), 2);
  EXPECT_EQ(outcome.running("long-e") + outcome.running("long-f"), 2);
  EXPECT_EQ(outcome.running("young"), 0);
}

TEST(Greedy, MovesTheCheapestPodThatStandsInTheWay) {
  const Solved outcome = solved(R"("nodes":[{"name":"a","gpus":{"count":4}},{"name":"b","gpus":{"count":4}}],
     "pods":[{"name":"one","gpu":{"count":1},"node":"a"},{"name":"two","gpu":{"count":2},"node":"b"},{"name":"big","gpu":{"count":4}}])");
  EXPECT_EQ(outcome.node("big"), "a");
  EXPECT_EQ(outcome.node("one"), "b");
  EXPECT_EQ(outcome.plan().evictions.size(), 1U);
}

TEST(Greedy, TakesBackWhatWasPlacedForALaterLevelBeforeItMovesWhatRuns) {
  // The gang of two finds no node until the lone pods of lower priority, which were put on the fuller node, are
  // elsewhere.
  const Solved outcome = solved(R"("nodes":[{"name":"a","gpus":{"count":3}},{"name":"b","gpus":{"count":2}}],
     "queues":[{"name":"q","gpu":{"quota":0,"weight":0}},{"name":"r","gpu":{"quota":5}}],
     "pods":[{"name":"run","queue":"r","priority":200,"gpu":{"count":1},"node":"a"},
             {"name":"x","queue":"r","priority":1,"gpu":{"count":1}},{"name":"y","queue":"r","priority":1,"gpu":{"count":1}},
             {"name":"big","queue":"q","priority":9,"gpu":{"count":2}}])");
  EXPECT_EQ(outcome.running("big"), 1);
  EXPECT_EQ(outcome.running("x") + outcome.running("y"), 2);
  EXPECT_TRUE(outcome.plan().evictions.empty());
}

TEST(Greedy, PreemptsALowerGangOfItsQueueWholeAndNoMore) {
  const Solved outcome = solved(R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}}],
     "gangs":[{"name":"low","priority":10},{"name":"lower","priority":5},{"name":"high","priority":50}],
     "pods":[{"name":"low-0","gang":"low","gpu":{"count":1},"node":"a"},{"name":"low-1","gang":"low","gpu":{"count":1},"node":"a"},
             {"name":"lower-0","gang":"lower","gpu":{"count":1},"node":"b"},{"name":"high-0","gang":"high","gpu":{"count":1}}])");
  EXPECT_EQ(outcome.running("high"), 1);
  EXPECT_EQ(outcome.running("low"), 2);
  EXPECT_EQ(outcome.running("lower"), 0);
}

// The second start makes room for a priority before it places those below: they are placed however soon it has to stop
// making room.
TEST(Greedy, PlacesWhatFitsWhereverItHasToStopMakingRoom) {
  constexpr int kSmall = 40;
  std::string small;
  for (int i = 0; i < kSmall; ++i) small += R"(,{"name":"small-)" + std::to_string(i) + R"(","resources":{"cpu":1}})";
  const std::string body =
      R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}},{"name":"c","resources":{"cpu":40}}],
     "gangs":[{"name":"low","priority":10},{"name":"lower","priority":5},{"name":"high","priority":50},{"name":"highest","priority":60}],
     "pods":[{"name":"low-0","gang":"low","gpu":{"count":1},"node":"a"},{"name":"lower-0","gang":"lower","gpu":{"count":1},"node":"b"},
             {"name":"highest-0","gang":"highest","gpu":{"count":1}},{"name":"high-0","gang":"high","gpu":{"count":1}})" +
      small + "]";
  std::set<std::pair<int, int>> seen;
  for (int most = 0; most < 100; ++most) {
    int asked = 0;
    GreedyOptions options;
    options.starts = 2;
    options.stop.claims = [] { return true; };
    options.stop_more = {[] { return false; }, [&] { return asked++ >= most; }};
    const Solved outcome = solved(body, options);
    EXPECT_EQ(outcome.ran_out, outcome.running("high") == 0) << most;
    const int highest = outcome.running("highest"), high = outcome.running("high");
    EXPECT_EQ(std::ssize(outcome.plan().placements), kSmall + highest + high) << most;
    seen.emplace(highest, high);
  }
  const std::set<std::pair<int, int>> expected{{0, 0}, {1, 0}, {1, 1}};
  EXPECT_EQ(seen, expected);
}

std::string elastic_gang(int pods, const std::string& nodes, const std::string& terms) {
  std::string body = nodes + R"(,"gangs":[{"name":"g","minMember":1)" + terms + R"(}],"pods":[)";
  for (int i = 0; i < pods; ++i)
    body += (i == 0 ? "" : ",") + (R"({"name":"g-)" + std::to_string(i)) + R"(","gang":"g","resources":{"cpu":1}})";
  return body + "]";
}

// However many pods a gang has beyond its minimum, the clock is read among them.
TEST(Greedy, StopsAmongThePodsOfOneGang) {
  constexpr int kPods = 3'000, kLooks = 5;
  int asked = 0;
  GreedyOptions options;
  options.starts = 1;
  options.stop.all = [&] { return ++asked > kLooks; };
  const std::string node = R"("nodes":[{"name":"n","resources":{"cpu":5000,"pods":5000}}])";
  const Solved outcome = solved(elastic_gang(kPods, node, ""), options);
  EXPECT_TRUE(outcome.ran_out);
  EXPECT_GE(outcome.running("g"), 1);
  EXPECT_LE(outcome.running("g"), 20 * kLooks);
  EXPECT_EQ(solved(elastic_gang(kPods, node, "")).running("g"), kPods);
}

TEST(Greedy, GrowsAGangWithinTheDomainOfItsFirstPods) {
  const std::string nodes =
      R"("topology":["rack","host"],"nodes":[
         {"name":"a","resources":{"cpu":10},"labels":{"rack":"r1","host":"a"}},{"name":"b","resources":{"cpu":10},"labels":{"rack":"r1","host":"b"}},
         {"name":"c","resources":{"cpu":12},"labels":{"rack":"r2","host":"c"}},{"name":"d","resources":{"cpu":12},"labels":{"rack":"r2","host":"d"}}])";
  EXPECT_EQ(solved(elastic_gang(40, nodes, R"(,"topology":{"required":"rack"})")).running("g"), 24);
  EXPECT_EQ(solved(elastic_gang(40, nodes, R"(,"topology":{"required":"host"})")).running("g"), 12);
  const Solved preferred = solved(elastic_gang(40, nodes, R"(,"topology":{"required":"rack","preferred":"host"})"));
  EXPECT_EQ(preferred.running("g"), 24);
  EXPECT_EQ(solved(elastic_gang(40, nodes, R"(,"topology":{"preferred":"rack"})")).running("g"), 40);
}

// Two roles, of one of which too many run and of the other none: surplus goes, and the other role is completed.
std::string two_roles(int gpus) {
  return R"("nodes":[{"name":"n","gpus":{"count":)" + std::to_string(gpus) + R"(}}],
     "gangs":[{"name":"roles","priority":10,"subgroups":[{"name":"x","minMember":1},{"name":"y","minMember":1}]},{"name":"high","priority":50}],
     "pods":[{"name":"x-0","gang":"roles","subgroup":"x","gpu":{"count":1},"node":"n"},
             {"name":"x-1","gang":"roles","subgroup":"x","gpu":{"count":1},"node":"n"},
             {"name":"x-2","gang":"roles","subgroup":"x","gpu":{"count":1},"node":"n"},
             {"name":"y-0","gang":"roles","subgroup":"y","gpu":{"count":1}},{"name":"high-0","gang":"high","gpu":{"count":2}}])";
}

TEST(Greedy, EvictsSurplusOfAGangWhoseMinimumItCompletes) {
  const Solved outcome = solved(two_roles(4));
  EXPECT_EQ(outcome.running("high"), 1);
  EXPECT_EQ(outcome.running("roles"), 2);
  EXPECT_EQ(outcome.node("y-0"), "n");
}

TEST(Greedy, EvictsAGangWholeWhoseMinimumCannotBeCompleted) {
  const Solved outcome = solved(two_roles(3));
  EXPECT_EQ(outcome.running("high"), 1);
  EXPECT_EQ(outcome.running("roles"), 0);
}

// What is asked to be free is asked of the nodes of pool p; of the surplus only the pod there has to go.
TEST(Greedy, EvictsNoSurplusWhereItFreesNothingThatIsAskedFor) {
  const Solved outcome = solved(R"("policy":{"actions":["place","preempt"]},
     "nodes":[{"name":"a","gpus":{"count":2},"labels":{"pool":"p"}},{"name":"b","gpus":{"count":1}},{"name":"c","gpus":{"count":2},"labels":{"pool":"p"}}],
     "gangs":[{"name":"low","priority":10,"minMember":1},{"name":"high","priority":50,"minResources":{"gpu":3}}],
     "pods":[{"name":"low-0","gang":"low","gpu":{"count":1},"node":"b"},{"name":"low-1","gang":"low","gpu":{"count":1},"node":"a"},
             {"name":"low-2","gang":"low","gpu":{"count":1},"node":"a"},
             {"name":"high-0","gang":"high","gpu":{"count":1},"nodeSelector":{"pool":"p"}}])");
  EXPECT_EQ(outcome.running("high"), 1);
  EXPECT_EQ(outcome.running("low"), 2);
}

TEST(Greedy, KeepsPodsThatAlreadyViolateTheirAntiAffinity) {
  // Only `low` has to leave, and `one` and `two` stay next to each other.
  const Solved outcome = solved(R"("nodes":[{"name":"n","labels":{"host":"n"},"gpus":{"count":3}}],
     "gangs":[{"name":"pair","priority":10,"minMember":1},{"name":"low","priority":5},{"name":"high","priority":50}],
     "pods":[{"name":"one","gang":"pair","gpu":{"count":1},"node":"n","podAntiAffinity":{"topologyKey":"host","matchGang":true}},
             {"name":"two","gang":"pair","gpu":{"count":1},"node":"n","podAntiAffinity":{"topologyKey":"host","matchGang":true}},
             {"name":"low-0","gang":"low","gpu":{"count":1},"node":"n"},{"name":"high-0","gang":"high","gpu":{"count":1}}])");
  EXPECT_EQ(outcome.running("high"), 1);
  EXPECT_EQ(outcome.running("pair"), 2);
}

TEST(Greedy, ReclaimsFromOneNodeAfterAnotherUntilBothHaveTheirHalf) {
  // Of equals the pods that have run for less go, whatever node they are on.
  std::string nodes, pods;
  for (int node = 0; node < 6; ++node) {
    nodes += (node > 0 ? R"(,{"name":"n)" : R"({"name":"n)") + std::to_string(node) + R"(","gpus":{"count":4}})";
    for (int pod = 0; pod < 4; ++pod) {
      const std::string name = std::to_string(node) + "-" + std::to_string(pod);
      pods += R"({"name":"r)" + name + R"(","queue":"left","gpu":{"count":1},"node":"n)" + std::to_string(node) +
              R"(","started":)" + std::to_string(999000 + 10 * ((7 * node + 5 * pod) % 24)) + "},";
      pods += R"({"name":"p)" + name + R"(","queue":"right","gpu":{"count":1}},)";
    }
  }
  pods.pop_back();
  const Solved outcome =
      solved(R"("queues":[{"name":"left","gpu":{"quota":0}},{"name":"right","gpu":{"quota":0}}],"nodes":[)" + nodes +
             R"(],"pods":[)" + pods + "]");
  EXPECT_EQ(outcome.plan().placements.size(), 12U);
  EXPECT_EQ(outcome.plan().evictions.size(), 12U);
}

TEST(Greedy, ReclaimsFromQueuesAboveTheirShareDownToIt) {
  const Solved outcome = solved(R"("nodes":[{"name":"n","gpus":{"count":4}}],
     "queues":[{"name":"left","gpu":{"quota":2}},{"name":"right","gpu":{"quota":2}}],"gangs":[{"name":"grown","queue":"left","minMember":1}],
     "pods":[{"name":"l-0","gang":"grown","gpu":{"count":1},"node":"n"},{"name":"l-1","gang":"grown","gpu":{"count":1},"node":"n"},
             {"name":"l-2","gang":"grown","gpu":{"count":1},"node":"n"},{"name":"l-3","gang":"grown","gpu":{"count":1},"node":"n"},
             {"name":"r-0","queue":"right","gpu":{"count":1}},{"name":"r-1","queue":"right","gpu":{"count":1}},{"name":"r-2","queue":"right","gpu":{"count":1}}])");
  EXPECT_EQ(outcome.running("grown"), 2);
  EXPECT_EQ(outcome.plan().placements.size(), 2U);
}

TEST(Greedy, ReclaimsBeyondAShareRatherThanToPreemptWithinOne) {
  const Solved outcome = solved(R"("nodes":[{"name":"n","gpus":{"count":4}}],
     "queues":[{"name":"left","gpu":{"quota":1,"weight":0}},{"name":"right","gpu":{"quota":3}}],
     "pods":[{"name":"l-0","queue":"left","priority":1,"gpu":{"count":1},"node":"n"},
             {"name":"l-1","queue":"left","priority":1,"gpu":{"count":1},"node":"n"},
             {"name":"l-2","queue":"left","priority":1,"gpu":{"count":1},"node":"n"},
             {"name":"low","queue":"right","priority":1,"gpu":{"count":1},"node":"n","started":999990},
             {"name":"high","queue":"right","priority":9,"gpu":{"count":1}}])");
  EXPECT_EQ(outcome.running("high"), 1);
  EXPECT_EQ(outcome.running("low"), 1);
  EXPECT_EQ(outcome.plan().evictions.size(), 1U);
}

TEST(Greedy, RelocatesBlockingPodsAndEvictsOthersInTheirPlace) {
  const Solved outcome = solved(R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
     "pods":[{"name":"high-a","priority":50,"gpu":{"count":1},"node":"a"},{"name":"low-a","priority":10,"gpu":{"count":1},"node":"a"},
             {"name":"high-b","priority":50,"gpu":{"count":1},"node":"b"},{"name":"low-b","priority":10,"gpu":{"count":1},"node":"b"},
             {"name":"big","priority":50,"gpu":{"count":2}}])");
  EXPECT_EQ(outcome.running("big"), 1);
  EXPECT_EQ(outcome.running("high-a") + outcome.running("high-b"), 2);
  EXPECT_EQ(outcome.running("low-a") + outcome.running("low-b"), 0);
}

TEST(Greedy, LosesWorkOfTheLowestPriorityWhereItMayPutOthersElsewhere) {
  // Evicting "middle" gives a whole node immediately; evicting "low" does so only if another pod of "middle" moves.
  const Solved outcome = solved(
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}},{"name":"c","gpus":{"count":2}}],
     "pods":[{"name":"large","priority":20,"gpu":{"count":2},"node":"a"},
             {"name":"middle-b","priority":20,"gpu":{"count":1},"node":"b"},{"name":"low-b","priority":10,"gpu":{"count":1},"node":"b"},
             {"name":"middle-c","priority":20,"gpu":{"count":1},"node":"c"},{"name":"low-c","priority":10,"gpu":{"count":1},"node":"c"},
             {"name":"big","priority":50,"gpu":{"count":2}}])");
  EXPECT_EQ(outcome.running("big"), 1);
  EXPECT_EQ(outcome.running("large"), 1);
  EXPECT_EQ(outcome.running("middle-b") + outcome.running("middle-c"), 2);
}

TEST(Greedy, DoesNotTearAGangOfWhichItPutsPodsElsewhere) {
  // The other pods of "trio" would cost least to evict for those that have to leave node a.
  const Solved outcome = solved(
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}},{"name":"c","gpus":{"count":1}},{"name":"d","gpus":{"count":1}},{"name":"e","gpus":{"count":1}}],
     "gangs":[{"name":"trio","priority":10}],
     "pods":[{"name":"middle","priority":20,"gpu":{"count":1},"node":"a"},
             {"name":"trio-0","gang":"trio","gpu":{"count":1},"node":"a","started":990000},
             {"name":"trio-1","gang":"trio","gpu":{"count":1},"node":"b","started":999990},
             {"name":"trio-2","gang":"trio","gpu":{"count":1},"node":"e","started":999990},
             {"name":"low-c","priority":10,"gpu":{"count":1},"node":"c","started":996000},
             {"name":"low-d","priority":10,"gpu":{"count":1},"node":"d","started":996000},
             {"name":"big","priority":50,"gpu":{"count":2}}])");
  EXPECT_EQ(outcome.running("big"), 1);
  EXPECT_EQ(outcome.running("middle"), 1);
  EXPECT_EQ(outcome.running("trio"), 3);
}

TEST(Greedy, ProtectsVictimsWithinTheirMinimumRunTime) {
  const std::string rest = R"("nodes":[{"name":"n","gpus":{"count":1}}],
     "pods":[{"name":"low","queue":"q","priority":1,"gpu":{"count":1},"node":"n","started":999940},{"name":"high","queue":"q","priority":9,"gpu":{"count":1}}])";
  EXPECT_EQ(solved(R"("queues":[{"name":"q","preemptMinRuntime":"61s"}],)" + rest).running("high"), 0);
  EXPECT_EQ(solved(R"("queues":[{"name":"q","preemptMinRuntime":"60s"}],)" + rest).running("high"), 1);
}

TEST(Greedy, CompletesAStaleGangOrEvictsAllOfIt) {
  const std::string rest = R"("gangs":[{"name":"g","minMember":2,"staleSince":999000}],
     "pods":[{"name":"g-0","gang":"g","gpu":{"count":1},"node":"n"},{"name":"g-1","gang":"g","gpu":{"count":1}}])";
  EXPECT_EQ(solved(R"("nodes":[{"name":"n","gpus":{"count":2}}],)" + rest).running("g"), 2);
  EXPECT_EQ(solved(R"("nodes":[{"name":"n","gpus":{"count":1}}],)" + rest).running("g"), 0);
}

TEST(Greedy, DoesNothingThatThePolicyDoesNotName) {
  const std::string rest = R"("nodes":[{"name":"n","gpus":{"count":1}}],
     "pods":[{"name":"low","priority":1,"gpu":{"count":1},"node":"n"},{"name":"high","priority":9,"gpu":{"count":1}}])";
  EXPECT_EQ(solved(R"("policy":{"actions":["place","reclaim","consolidate"]},)" + rest).running("high"), 0);
  EXPECT_EQ(solved(R"("policy":{"actions":["preempt"]},)" + rest).running("high"), 0);
}

// --- Random snapshots

generator::GeneratorOptions random_options(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto part = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  generator::GeneratorOptions options = *generator::generator_preset("full");
  options.seed = seed;
  options.cluster.nodes = static_cast<std::int32_t>(6 + random() % 8);
  options.cluster.gpus_per_node = static_cast<std::int32_t>(1 + random() % 8);
  options.cluster.zones = 2;
  options.cluster.racks_per_zone = static_cast<std::int32_t>(1 + random() % 3);
  options.queues.count = static_cast<std::int32_t>(1 + random() % 7);
  options.priorities = static_cast<std::int32_t>(1 + random() % 4);
  options.queues.quota = 1.2 * part();
  options.queues.limit = random() % 2 == 0 ? 0 : 1 + part();
  options.gangs.largest = static_cast<std::int32_t>(1 + random() % 10);
  options.running.occupied = part();
  options.running.preemptible = part();
  options.running.releasing = 0.3 * part();
  options.gangs.elastic = part();
  options.gangs.subgroups = part();
  options.gangs.one_a_node = random() % 2 == 0 ? 0 : part();
  options.load = 0.5 + 2 * part();
  return options;
}

// What the generator does not write.
void disturb(Snapshot& snapshot, std::uint64_t seed) {
  std::mt19937_64 random(seed + 1);
  if (random() % 3 == 0) snapshot.policy.placement = PlacementPolicy::kSpread;
  if (random() % 3 == 0) snapshot.policy.max_moves = static_cast<std::int64_t>(random() % 4);
  for (SnapshotQueue& queue : snapshot.queues) {
    if (random() % 4 == 0)
      queue.reclaim_min_runtime = static_cast<Nanoseconds>(random() % 3000) * kNanosecondsPerSecond;
    if (random() % 4 == 0)
      queue.preempt_min_runtime = static_cast<Nanoseconds>(random() % 3000) * kNanosecondsPerSecond;
  }
  for (SnapshotGang& gang : snapshot.gangs) {
    gang.has_min_resources = random() % 10 == 0;
    if (gang.has_min_resources) gang.min_resources_gpu = static_cast<std::int64_t>(random() % 12) * 500'000;
    if (random() % 8 == 0) gang.terms.preemption_policy = PreemptionPolicy::kNever;
    if (random() % 15 == 0 && gang.min_member) ++*gang.min_member;  // its running pods are below its minimum now
    if (random() % 10 == 0) gang.stale_since = snapshot.time - 1000 * kNanosecondsPerSecond;
    if (random() % 30 == 0) gang.terms.timeout = kNanosecondsPerSecond;
  }
  if (seed % 3 != 0) return;  // else some running pods wait, next to others of its gang that run on
  for (SnapshotPod& pod : snapshot.pods) {
    if (pod.status != PodStatus::kRunning || random() % 6 != 0) continue;
    pod.status = PodStatus::kPending;
    pod.node = {};
    pod.devices.clear();
  }
}

test::Case random_case(std::uint64_t seed) {
  Snapshot snapshot = test::Case::read(generator::generate_snapshot(random_options(seed)));
  disturb(snapshot, seed);
  return test::Case(std::move(snapshot));
}

TEST(GreedyOnRandomSnapshots, TheRefereePassesEveryPlan) {
  std::map<EvictionReason, int> evictions;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    const test::Case random = random_case(seed);
    GreedyOptions options;
    options.starts = static_cast<std::int32_t>(1 + seed % 4);
    const Candidate candidate = solve_greedy(*random, random.shares(), options);
    EXPECT_EQ(test::text_of(random.check(candidate.plan)), "") << "seed " << seed;
    EXPECT_EQ(candidate.levels, evaluate(*random, random.shares(), candidate.plan));
    for (const Eviction& eviction : candidate.plan.evictions) ++evictions[eviction.reason];
  }
  EXPECT_EQ(evictions.size(), 4U) << "the snapshots are meant to give cause for every kind of eviction";
}

TEST(GreedyOnRandomSnapshots, TheLeadingLevelsOfAStateAreThoseOfItsPlan) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const test::Case random = random_case(seed);
    const Candidate candidate = solve_greedy(*random, random.shares(), {});
    ClusterState state(*random, ClusterState::Releasing::kFreed);
    LeadingLevels leading(*random, random.shares());
    const Levels before = evaluate(*random, random.shares(), {});
    const auto leading_of = [&](const Levels& levels) {
      std::vector<Work> all;
      for (const LevelKind kind : {LevelKind::kShare, LevelKind::kQuota, LevelKind::kWork}) {
        const std::vector<std::int64_t> values = values_of_kind(*random, levels, kind);
        all.insert(all.end(), values.begin(), values.end());
      }
      return all;
    };
    const std::vector<Work> leading_before = leading.of(state);
    EXPECT_EQ(leading_before, leading_of(before)) << "seed " << seed;
    LeadingLevels copy = leading;
    const ClusterState as_counted = state;
    for (const Eviction& eviction : candidate.plan.evictions) state.take(eviction.pod);
    for (const Placement& placement : candidate.plan.placements) {
      state.put(placement.pod, placement.node, placement.devices);
    }
    EXPECT_EQ(leading.of(state), leading_of(candidate.levels)) << "seed " << seed;
    EXPECT_EQ(copy.of(as_counted), leading_before) << "what the other has counted since is its own, seed " << seed;
    EXPECT_EQ(copy.of(state), leading.of(state)) << "seed " << seed;
  }
}

TEST(GreedyOnRandomSnapshots, TheAnswerDoesNotDependOnTheNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const test::Case random = random_case(seed);
    GreedyOptions options;
    options.starts = 6;
    options.threads = 1;
    const Plan alone = solve_greedy(*random, random.shares(), options).plan;
    for (const std::int32_t threads : {2, 4}) {
      options.threads = threads;
      EXPECT_EQ(solve_greedy(*random, random.shares(), options).plan, alone)
          << "seed " << seed << ", threads " << threads;
    }
    options.first_alone = true;
    EXPECT_EQ(solve_greedy(*random, random.shares(), options).plan, alone) << "seed " << seed << ", first alone";
  }
}

TEST(GreedyOnRandomSnapshots, AnInterruptedSearchLeavesAPlanThatTheRefereePasses) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const test::Case random = random_case(seed);
    std::atomic<int> left{static_cast<int>(seed % 12)};
    GreedyOptions options;
    options.starts = 2;
    options.stop.all = [&] { return --left < 0; };
    const Plan plan = solve_greedy(*random, random.shares(), options).plan;
    EXPECT_EQ(test::text_of(random.check(plan)), "") << "seed " << seed;
  }
}

TEST(GreedyOnRandomSnapshots, TheFirstPlanIsToldOnceAndIsNoBetterThanTheLast) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const test::Case random = random_case(seed);
    int told = 0;
    Levels first;
    GreedyOptions options;
    options.on_first = [&](const Candidate& candidate) {
      ++told;
      first = candidate.levels;
    };
    const Candidate best = solve_greedy(*random, random.shares(), options);
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(compare(best.levels, first, level_ids(*random)) >= 0) << "seed " << seed;
  }
}

TEST(GreedyOnRandomSnapshots, WhatIsPlacedBeforeAnyEvictionIsAPlanAndNoBetterThanTheLast) {
  int told = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const test::Case random = random_case(seed);
    std::optional<Candidate> placed;
    GreedyOptions options;
    options.on_placed = [&](Candidate candidate) { placed = std::move(candidate); };
    const Candidate best = solve_greedy(*random, random.shares(), options);
    if (!placed) continue;
    ++told;
    EXPECT_EQ(test::text_of(random.check(placed->plan)), "") << "seed " << seed;
    EXPECT_EQ(evaluate(*random, random.shares(), placed->plan), placed->levels) << "seed " << seed;
    EXPECT_TRUE(std::ranges::all_of(placed->plan.evictions,
                                    [](const Eviction& eviction) { return eviction.reason == EvictionReason::kStale; }))
        << "seed " << seed;
    EXPECT_TRUE(compare(best.levels, placed->levels, level_ids(*random)) >= 0) << "seed " << seed;
  }
  EXPECT_GT(told, 0);
}

TEST(GreedyOnRandomSnapshots, MoreStartsAreNeverWorse) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const test::Case random = random_case(seed);
    GreedyOptions one, many;
    one.starts = 1;
    many.starts = 5;
    const Candidate few = solve_greedy(*random, random.shares(), one),
                    more = solve_greedy(*random, random.shares(), many);
    EXPECT_TRUE(compare(more.levels, few.levels, level_ids(*random)) >= 0) << "seed " << seed;
  }
}

// r0 runs in two racks and may go on to; but once one of its pods is on other devices of its node, it is placed, and
// none of the others may come back to the other rack.
TEST(Greedy, VictimsDoNotComeBackApartFromOneThatChangedItsDevices) {
  const Solved outcome = solved(R"("policy":{"nonPreemptibleWithinQuota":false,"agingInterval":20},"topology":["rack"],
 "nodes":[{"name":"n0","gpus":{"count":3},"labels":{"rack":"r2"}},{"name":"n1","gpus":{"count":3},"labels":{"rack":"r2"}},
          {"name":"n2","gpus":{"count":3},"labels":{"rack":"r1"}}],
 "queues":[{"name":"q0","gpu":{"quota":0},"preemptMinRuntime":20},{"name":"q1","gpu":{"quota":0,"weight":2}}],
 "gangs":[{"name":"r0","created":999965,"queue":"q0","priority":50,"topology":{"required":"rack"}},
          {"name":"r1","created":999960,"queue":"q0","priority":10},
          {"name":"r2","created":999979,"queue":"q0","priority":50,"topology":{"required":"rack"}},
          {"name":"p0","created":999992,"queue":"q0","priority":50,"topology":{"required":"rack"}},
          {"name":"p1","created":999953,"queue":"q0","priority":80,"topology":{"required":"rack"}}],
 "pods":[{"name":"r0-0","gang":"r0","gpu":{"count":1},"node":"n2","gpus":[0],"started":999950},
         {"name":"r0-1","gang":"r0","gpu":{"count":1},"node":"n1","gpus":[0],"started":999500},
         {"name":"r0-2","gang":"r0","gpu":{"count":1},"node":"n0","gpus":[0],"started":999950},
         {"name":"r1-3","gang":"r1","gpu":{"count":1},"node":"n1","gpus":[1],"started":999995},
         {"name":"r1-4","gang":"r1","gpu":{"count":1},"node":"n2","gpus":[1],"started":999950},
         {"name":"r2-5","gang":"r2","gpu":{"count":1},"node":"n1","gpus":[2],"started":999950},
         {"name":"p0-6","gang":"p0","gpu":{"count":1}},{"name":"p0-7","gang":"p0","gpu":{"count":1}},
         {"name":"p0-8","gang":"p0","gpu":{"count":1}},{"name":"p1-9","gang":"p1","gpu":{"count":2}},
         {"name":"p1-10","gang":"p1","gpu":{"count":2}}])");
  EXPECT_EQ(outcome.running("p1"), 2);
}

TEST(Greedy, AddsToAPlan) {
  test::Case cluster(R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
     "pods":[{"name":"old","node":"a","gpus":[0],"gpu":{"count":1},"priority":1},
             {"name":"urgent","gpu":{"count":2},"priority":9},{"name":"x","gpu":{"count":1}},
             {"name":"y","gpu":{"count":1}},{"name":"z","gpu":{"count":1}}])");
  cluster.evict("old", EvictionReason::kPreempt, "urgent").place("urgent", "a", {0, 1}, {"old"}).place("y", "b", {1});
  const Plan plan = cluster.plan();
  ASSERT_TRUE(cluster.check(plan).empty()) << test::text_of(cluster.check(plan));
  GreedyOptions options;
  options.from = &plan;
  const Plan more = solve_greedy(*cluster, cluster.shares(), options).plan;
  EXPECT_TRUE(cluster.check(more).empty()) << test::text_of(cluster.check(more));
  EXPECT_EQ(more.evictions, plan.evictions);
  EXPECT_EQ(more.placements.size(), 3U);
  for (const Placement& placement : plan.placements) EXPECT_TRUE(std::ranges::count(more.placements, placement) == 1);
}

}  // namespace
}  // namespace muster::greedy
