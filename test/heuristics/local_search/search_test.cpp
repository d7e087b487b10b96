#include "heuristics/local_search/search.h"

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "test/heuristics/local_search/search_case.h"
#include "test/support/plan.h"

namespace muster::local_search {
namespace {

// The case's plan, which the referee has checked.
Candidate incumbent(const SearchCase& of) {
  test::expect_legal(of.problem, of.plan);
  Candidate candidate;
  candidate.plan = of.plan;
  candidate.levels = evaluate(*of.problem, of.shares, of.plan);
  return candidate;
}

Candidate improve(const SearchCase& of, const SearchOptions& options = {.most_trials = 20'000}) {
  const Candidate before = incumbent(of);
  Candidate found = search(*of.problem, of.shares, before, options);
  test::expect_legal(of.problem, found.plan);
  EXPECT_EQ(found.levels, evaluate(*of.problem, of.shares, found.plan));
  EXPECT_TRUE(compare(found.levels, before.levels, level_ids(*of.problem)) >= 0);
  return found;
}

std::string nodes(const SearchCase& of, const Candidate& candidate, std::initializer_list<const char*> pods) {
  return test::nodes_of(of.problem, candidate.plan, pods);
}

constexpr const char* kTwoNodes = R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],)";

TEST(Search, PutsPlacedPodsElsewhereForOneThatFoundNoRoom) {
  const SearchCase split(std::string(kTwoNodes) +
                             R"("pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},
                                  {"name":"big","gpu":{"count":2}}])",
                         {{"x", "a", {0}}, {"y", "b", {0}}});
  EXPECT_EQ(improve(split).plan.placements.size(), 3U);
}

TEST(Search, PlacesPodsWithRulesAboutOthersWhereThereIsRoom) {
  const SearchCase free(std::string(R"("nodes":[{"name":"a","labels":{"host":"a"},"gpus":{"count":2}}],)") +
                            R"("pods":[{"name":"x","gpu":{"count":1}},
                                 {"name":"near","gpu":{"count":1},"labels":{"app":"x"},
                                  "podAffinity":[{"topologyKey":"host","labelSelector":{"matchLabels":{"app":"x"}}}]}])",
                        {{"x", "a", {0}}});
  EXPECT_EQ(nodes(free, improve(free), {"x", "near"}), "a a");
}

// Two of three parts of each node run; the large pod fits only if one of them moves to the other node.
constexpr const char* kSpread = R"("nodes":[{"name":"a","resources":{"cpu":3}},{"name":"b","resources":{"cpu":3}}],
    "pods":[{"name":"ran-a","resources":{"cpu":1},"node":"a"},{"name":"ran-b","resources":{"cpu":1},"node":"b"},
            {"name":"small","priority":9,"resources":{"cpu":1}},
            {"name":"large","priority":9,"resources":{"cpu":3}}])";

TEST(Search, MovesRunningPodsOnlyIfThatIsItsAim) {
  for (const SearchAim aim : {SearchAim::kLevels, SearchAim::kMoves, SearchAim::kRoom}) {
    const SearchCase spread(kSpread, {{"small", "a", {}}});
    const Candidate found = improve(spread, {.aim = aim, .most_trials = 20'000});
    const bool may_move = aim != SearchAim::kLevels;
    EXPECT_EQ(found.plan.placements.size(), may_move ? 3U : 1U);
    ASSERT_EQ(found.plan.evictions.size(), may_move ? 1U : 0U) << "one move is enough";
    for (const Eviction& moved : found.plan.evictions) EXPECT_EQ(moved.reason, EvictionReason::kConsolidate);
  }
}

TEST(Search, MovesNoMorePodsThanThePolicyAllowsNorAtAPrice) {
  const std::string policies[] = {R"("policy":{"maxMoves":0},)", R"("policy":{"actions":["place"]},)",
                                  R"("policy":{"protect":{}},)", R"("policy":{"overTime":{"evictionPrice":0}},)"};
  for (const std::string& policy : policies) {
    const SearchCase spread(policy + kSpread, {{"small", "a", {}}});
    EXPECT_TRUE(improve(spread, {.aim = SearchAim::kRoom, .most_trials = 20'000}).plan.evictions.empty()) << policy;
  }
}

// The plan moves a pod that could have stayed if the new one went elsewhere.
TEST(Search, SendsMovedPodsHomeIfThatCostsNothing) {
  const SearchCase moved(R"("nodes":[{"name":"a","resources":{"cpu":1}},{"name":"b","resources":{"cpu":1}},
                                      {"name":"c","resources":{"cpu":1}}],
                            "pods":[{"name":"ran","resources":{"cpu":1},"node":"a"},
                                    {"name":"new","resources":{"cpu":1}}])",
                         {});
  Candidate before;
  before.plan.placements = {{moved.pod("ran"), moved.node("b"), {}, {}},
                            {moved.pod("new"), moved.node("a"), {}, {moved.pod("ran")}}};
  before.plan.evictions = {{moved.pod("ran"), EvictionReason::kConsolidate, moved.gang("new")}};
  before.levels = evaluate(*moved.problem, moved.shares, before.plan);
  const Candidate after =
      search(*moved.problem, moved.shares, before, {.aim = SearchAim::kMoves, .most_trials = 5'000});
  test::expect_legal(moved.problem, after.plan);
  EXPECT_EQ(after.plan.placements.size(), 1U);
  EXPECT_TRUE(after.plan.evictions.empty());
}

TEST(Search, NeedsNoWorkLimit) {
  const SearchCase split(std::string(kTwoNodes) +
                             R"("pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},
                                  {"name":"big","gpu":{"count":2}}])",
                         {{"x", "a", {0}}, {"y", "b", {0}}});
  EXPECT_EQ(improve(split, {}).plan.placements.size(), 3U);
}

TEST(Search, PassesPodsOnInAChain) {
  // The pod on c goes to a, the one on b to c, and the gang finds b empty: a takes no more than a quarter.
  const SearchCase chain(
      R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}},{"name":"c","gpus":{"count":1}}],
     "pods":[{"name":"most","gpu":{"fraction":0.75},"node":"a","gpus":[0]},{"name":"quarter","gpu":{"fraction":0.25}},
             {"name":"tall","gpu":{"fraction":0.8}},{"name":"one","gpu":{"count":1}}])",
      {{"quarter", "c", {0}}, {"tall", "b", {0}}});
  EXPECT_EQ(improve(chain).plan.placements.size(), 3U);
}

TEST(Search, MakesRoomForAWholeGang) {
  const SearchCase gang(std::string(kTwoNodes) +
                            R"("gangs":[{"name":"g"}],
     "pods":[{"name":"half-0","gpu":{"fraction":0.5}},{"name":"half-1","gpu":{"fraction":0.5}},
             {"name":"half-2","gpu":{"fraction":0.5}},{"name":"half-3","gpu":{"fraction":0.5}},
             {"name":"g-0","gang":"g","gpu":{"count":1}},{"name":"g-1","gang":"g","gpu":{"count":1}}])",
                        {{"half-0", "a", {0}}, {"half-1", "a", {1}}, {"half-2", "b", {0}}, {"half-3", "b", {1}}});
  EXPECT_EQ(improve(gang).plan.placements.size(), 6U);
}

TEST(Search, GivesASurplusPodsRoomToAGang) {
  const SearchCase elastic(
      R"("nodes":[{"name":"a","gpus":{"count":4}}],"gangs":[{"name":"e","minMember":1},{"name":"g"}],
     "pods":[{"name":"e-0","gang":"e","gpu":{"count":1}},{"name":"e-1","gang":"e","gpu":{"count":2}},
             {"name":"g-0","gang":"g","gpu":{"count":1}},{"name":"g-1","gang":"g","gpu":{"count":2}}])",
      {{"e-0", "a", {0}}, {"e-1", "a", {1, 2}}});
  const Candidate found = improve(elastic);
  EXPECT_EQ(nodes(elastic, found, {"e-0", "e-1", "g-0", "g-1"}), "a - a a");
}

TEST(Search, PutsTwoInThePlaceOfOneThatLeavesAHole) {
  const SearchCase hole(R"("nodes":[{"name":"a","gpus":{"count":1}}],
     "pods":[{"name":"lone","gpu":{"fraction":0.81}},{"name":"x","gpu":{"fraction":0.47}},{"name":"y","gpu":{"fraction":0.47}}])",
                        {{"lone", "a", {0}}});
  EXPECT_EQ(nodes(hole, improve(hole), {"lone", "x", "y"}), "- a a");
}

TEST(Search, DropsAGangWholeForMoreWork) {
  const SearchCase gang(std::string(kTwoNodes) +
                            R"("gangs":[{"name":"g"}],
     "pods":[{"name":"g-0","gang":"g","gpu":{"fraction":0.7}},{"name":"g-1","gang":"g","gpu":{"fraction":0.7}},
             {"name":"x","gpu":{"count":2}},{"name":"y","gpu":{"count":2}}])",
                        {{"g-0", "a", {0}}, {"g-1", "b", {0}}});
  EXPECT_EQ(nodes(gang, improve(gang), {"g-0", "g-1", "x", "y"}).substr(0, 4), "- - ");
}

TEST(Search, DropsAGangWholeForAnother) {
  const SearchCase gangs(std::string(kTwoNodes) +
                             R"("gangs":[{"name":"g"},{"name":"h"}],
     "pods":[{"name":"g-0","gang":"g","gpu":{"count":1}},{"name":"g-1","gang":"g","gpu":{"count":1}},
             {"name":"h-0","gang":"h","gpu":{"count":2}},{"name":"h-1","gang":"h","gpu":{"count":2}}])",
                         {{"g-0", "a", {0}}, {"g-1", "b", {0}}});
  EXPECT_EQ(improve(gangs).plan.placements.size(), 2U);
  EXPECT_EQ(nodes(gangs, improve(gangs), {"g-0", "g-1"}), "- -");
}

TEST(Search, TakesTheOlderOfEquals) {
  const SearchCase equals(R"("nodes":[{"name":"a","gpus":{"count":1}}],
     "pods":[{"name":"young","created":999000,"gpu":{"count":1}},{"name":"old","created":900000,"gpu":{"count":1}}])",
                          {{"young", "a", {0}}});
  EXPECT_EQ(nodes(equals, improve(equals), {"young", "old"}), "- a");
}

TEST(Search, ReplacesARecentGangByAnOlderOneInOneStep) {
  const SearchCase alike(std::string(kTwoNodes) +
                             R"("gangs":[{"name":"young","created":999000},{"name":"old","created":900000},
              {"name":"middle","created":950000},{"name":"big","created":800000}],
     "pods":[{"name":"y-0","gang":"young","gpu":{"count":1}},{"name":"y-1","gang":"young","gpu":{"count":1}},
             {"name":"m-0","gang":"middle","gpu":{"count":1}},{"name":"m-1","gang":"middle","gpu":{"count":1}},
             {"name":"o-0","gang":"old","gpu":{"count":1}},{"name":"o-1","gang":"old","gpu":{"count":1}},
             {"name":"b-0","gang":"big","gpu":{"count":2}},{"name":"b-1","gang":"big","gpu":{"count":2}}])",
                         {{"y-0", "a", {1}}, {"y-1", "b", {0}}, {"m-0", "a", {0}}, {"m-1", "b", {1}}});
  const Candidate found = improve(alike, {.most_trials = 0});
  EXPECT_EQ(nodes(alike, found, {"y-0", "y-1", "m-0", "m-1", "o-0", "o-1", "b-0"}), "- - a b a b -");
}

TEST(Search, ExchangesNoGangsThatDifferInMoreThanTheirAge) {
  const std::string young = R"("nodes":[{"name":"a","gpus":{"count":2}}],"pods":[{"name":"young","created":999000,
      "priority":2,"gpu":{"count":1}},)";
  const SearchCase priority(young + R"({"name":"old","created":900000,"priority":1,"gpu":{"count":1}}])",
                            {{"young", "a", {0}}});
  EXPECT_EQ(nodes(priority, improve(priority, {.most_trials = 0}), {"young", "old"}), "a -");
  const SearchCase size(young + R"({"name":"old","created":900000,"priority":2,"gpu":{"count":2}}])",
                        {{"young", "a", {0}}});
  EXPECT_EQ(nodes(size, improve(size, {.most_trials = 0}), {"young", "old"}), "a -");
}

TEST(Search, TakesHigherPrioritiesFirst) {
  const SearchCase priorities(R"("nodes":[{"name":"a","gpus":{"count":3}}],
     "pods":[{"name":"low","priority":1,"gpu":{"count":3}},{"name":"high","priority":2,"gpu":{"count":2}}])",
                              {{"low", "a", {0, 1, 2}}});
  EXPECT_EQ(nodes(priorities, improve(priorities), {"low", "high"}), "- a");
}

TEST(Search, SwapsPlacesForPreference) {
  const SearchCase nominated(R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}}],
     "pods":[{"name":"x","nominatedNode":"b","gpu":{"count":1}},{"name":"y","gpu":{"count":1}}])",
                             {{"x", "a", {0}}, {"y", "b", {0}}});
  EXPECT_EQ(nodes(nominated, improve(nominated), {"x", "y"}), "b a");
}

TEST(Search, LeavesIdleWhatTheExpectedWorkloadCanUse) {
  const std::string expected = R"("policy":{"expectedWorkload":[{"pod":{"gpu":{"count":2}},"weight":1}]},)";
  const SearchCase fragments(
      expected + kTwoNodes + R"("pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}}])",
      {{"x", "a", {0}}, {"y", "b", {0}}});
  const Candidate found = improve(fragments);
  EXPECT_EQ(found.levels.values.back(), 0);
  EXPECT_EQ(incumbent(fragments).levels.values.back(), 2 * 1'000 * 1'000'000LL);
}

TEST(Search, LeavesRoomForMoreCopiesWhereTheLevelsAreEqual) {
  // One more pod with four cores fits on either node, wherever x goes; but only a keeps the cores for both of its idle
  // devices.
  const SearchCase copies(
      R"("policy":{"expectedWorkload":[{"pod":{"resources":{"cpu":4},"gpu":{"count":1}},"weight":1}]},
     "nodes":[{"name":"a","resources":{"cpu":8},"gpus":{"count":2}},{"name":"b","resources":{"cpu":7},"gpus":{"count":2}}],
     "pods":[{"name":"x","resources":{"cpu":3}}])",
      {{"x", "a", {}}});
  EXPECT_EQ(nodes(copies, improve(copies), {"x"}), "b");
}

TEST(Search, KeepsAGangWithinItsDomain) {
  const SearchCase racks(R"("topology":["rack"],"nodes":[{"name":"a","gpus":{"count":2},"labels":{"rack":"1"}},
       {"name":"b","gpus":{"count":2},"labels":{"rack":"2"}}],"gangs":[{"name":"g","topology":{"required":"rack"}}],
     "pods":[{"name":"g-0","gang":"g","gpu":{"fraction":0.5}},{"name":"g-1","gang":"g","gpu":{"fraction":0.5}},
             {"name":"run","gpu":{"count":1},"node":"b","gpus":[0]},{"name":"x","gpu":{"count":2}},{"name":"y","gpu":{"count":1}}])",
                         {{"g-0", "a", {0}}, {"g-1", "a", {1}}});
  EXPECT_EQ(nodes(racks, improve(racks), {"g-0", "g-1", "x", "y"}).substr(0, 4), "a a ");
}

TEST(Search, KeepsQueuesWithinTheirLimits) {
  const SearchCase limits(R"("nodes":[{"name":"a","gpus":{"count":2}}],
     "queues":[{"name":"p","gpu":{"limit":1}},{"name":"q"}],
     "pods":[{"name":"big","queue":"p","gpu":{"count":2}},{"name":"one","queue":"q","gpu":{"count":1}},
             {"name":"two","queue":"q","gpu":{"count":1}}])",
                          {{"one", "a", {0}}});
  EXPECT_EQ(nodes(limits, improve(limits), {"big", "one", "two"}), "- a a");
}

// Each queue has a share of 1 GPU. With "y1" on "b", too, queue y could no longer reclaim: "r0" would have left in
// vain.
TEST(Search, KeepsAQueueThatReclaimsWithinItsShare) {
  SearchCase claims(R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}}],
     "queues":[{"name":"x","gpu":{"quota":0}},{"name":"y","gpu":{"quota":0}},{"name":"z","gpu":{"quota":0}}],
     "pods":[{"name":"r0","queue":"x","gpu":{"count":1},"node":"a","gpus":[0],"started":1767225000},
             {"name":"r1","queue":"x","gpu":{"count":1},"node":"a","gpus":[1],"started":1767225000},
             {"name":"high","queue":"x","gpu":{"count":1},"priority":9},
             {"name":"y0","queue":"y","gpu":{"count":1}},{"name":"y1","queue":"y","gpu":{"count":1}},
             {"name":"nowhere","queue":"z","gpu":{"count":1},"nodeSelector":{"disk":"ssd"}}])",
                    {});
  claims.plan = test::plan_of(claims.problem,
                              "place y0 a gpus 0 after r0\nplace high a gpus 1 after r1\n"
                              "evict r0 preempt high\nevict r1 preempt high\n");
  EXPECT_EQ(nodes(claims, improve(claims), {"y0", "y1", "high"}), "a - a");
}

TEST(Search, StopsImmediately) {
  const SearchCase split(std::string(kTwoNodes) +
                             R"("pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},
                                  {"name":"big","gpu":{"count":2}}])",
                         {{"x", "a", {0}}, {"y", "b", {0}}});
  SearchOptions options;
  options.stop = [] { return true; };
  EXPECT_EQ(improve(split, options).plan, incumbent(split).plan);
}

TEST(Search, EndsWhereNothingMoreIsFound) {
  const SearchCase alone(R"("nodes":[{"name":"a","gpus":{"count":1}}],"pods":[{"name":"x","gpu":{"count":1}}])",
                         {{"x", "a", {0}}});
  EXPECT_EQ(improve(alone, {}).plan, incumbent(alone).plan);
}

}  // namespace
}  // namespace muster::local_search
