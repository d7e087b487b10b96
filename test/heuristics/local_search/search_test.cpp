#include "heuristics/local_search/search.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "test/support/built_problem.h"

namespace muster::local_search {
namespace {

// A problem with a plan that a test puts together by hand.
class Case {
 public:
  struct Placed {
    const char* pod;
    const char* node;
    std::vector<std::int32_t> devices;
  };
  Case(const std::string& body, std::initializer_list<Placed> placed)
      : problem_(body), shares_(compute_fair_shares(*problem_)) {
    for (const Placed& one : placed)
      incumbent_.plan.placements.push_back({problem_.pod(one.pod), problem_.node(one.node), one.devices, {}});
    normalise(incumbent_.plan);
    expect_legal(incumbent_.plan);
    incumbent_.levels = evaluate(*problem_, shares_, incumbent_.plan);
  }

  const Candidate& incumbent() const { return incumbent_; }
  Candidate improve(SearchOptions options = {.most_trials = 20'000}) const {
    Candidate found = search(*problem_, shares_, incumbent_, options);
    expect_legal(found.plan);
    EXPECT_EQ(found.levels, evaluate(*problem_, shares_, found.plan));
    EXPECT_TRUE(compare(found.levels, incumbent_.levels, level_ids(*problem_)) >= 0);
    return found;
  }
  // The node of each pod, in order, "-" if it has none: "a b -".
  std::string nodes(const Candidate& candidate, std::initializer_list<const char*> pods) const {
    std::string text;
    for (const char* pod : pods) {
      const auto& placements = candidate.plan.placements;
      const auto at = std::ranges::find(placements, problem_.pod(pod), &Placement::pod);
      text += text.empty() ? "" : " ";
      text += at == placements.end() ? "-" : std::string(problem_.snapshot().nodes[at->node.value()].name);
    }
    return text;
  }

 private:
  void expect_legal(const Plan& plan) const {
    for (const referee::Violation& violation : referee::check_plan(problem_.snapshot(), *problem_, shares_, plan))
      ADD_FAILURE() << referee::rule_name(violation.rule) << " " << violation.subject << ": " << violation.message;
  }
  BuiltProblem problem_;
  FairShares shares_;
  Candidate incumbent_;
};

constexpr const char* kTwoNodes = R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],)";

TEST(Search, PutsPlacedPodsElsewhereForOneThatFoundNoRoom) {
  const Case split(std::string(kTwoNodes) +
                       R"("pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},
                                  {"name":"big","gpu":{"count":2}}])",
                   {{"x", "a", {0}}, {"y", "b", {0}}});
  EXPECT_EQ(split.improve().plan.placements.size(), 3U);
}

TEST(Search, PlacesPodsWithRulesAboutOthersWhereThereIsRoom) {
  const Case free(std::string(R"("nodes":[{"name":"a","labels":{"host":"a"},"gpus":{"count":2}}],)") +
                      R"("pods":[{"name":"x","gpu":{"count":1}},
                                 {"name":"near","gpu":{"count":1},"labels":{"app":"x"},
                                  "podAffinity":[{"topologyKey":"host","labelSelector":{"matchLabels":{"app":"x"}}}]}])",
                  {{"x", "a", {0}}});
  EXPECT_EQ(free.nodes(free.improve(), {"x", "near"}), "a a");
}

TEST(Search, NeedsNoWorkLimit) {
  const Case split(std::string(kTwoNodes) +
                       R"("pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},
                                  {"name":"big","gpu":{"count":2}}])",
                   {{"x", "a", {0}}, {"y", "b", {0}}});
  EXPECT_EQ(split.improve({}).plan.placements.size(), 3U);
}

TEST(Search, PassesPodsOnInAChain) {
  // The pod on c goes to a, the one on b to c, and the gang finds b empty: a takes no more than a quarter.
  const Case chain(
      R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}},{"name":"c","gpus":{"count":1}}],
     "pods":[{"name":"most","gpu":{"fraction":0.75},"node":"a","gpus":[0]},{"name":"quarter","gpu":{"fraction":0.25}},
             {"name":"tall","gpu":{"fraction":0.8}},{"name":"one","gpu":{"count":1}}])",
      {{"quarter", "c", {0}}, {"tall", "b", {0}}});
  EXPECT_EQ(chain.improve().plan.placements.size(), 3U);
}

TEST(Search, MakesRoomForAWholeGang) {
  const Case gang(std::string(kTwoNodes) +
                      R"("gangs":[{"name":"g"}],
     "pods":[{"name":"half-0","gpu":{"fraction":0.5}},{"name":"half-1","gpu":{"fraction":0.5}},
             {"name":"half-2","gpu":{"fraction":0.5}},{"name":"half-3","gpu":{"fraction":0.5}},
             {"name":"g-0","gang":"g","gpu":{"count":1}},{"name":"g-1","gang":"g","gpu":{"count":1}}])",
                  {{"half-0", "a", {0}}, {"half-1", "a", {1}}, {"half-2", "b", {0}}, {"half-3", "b", {1}}});
  EXPECT_EQ(gang.improve().plan.placements.size(), 6U);
}

TEST(Search, GivesASurplusPodsRoomToAGang) {
  const Case elastic(R"("nodes":[{"name":"a","gpus":{"count":4}}],"gangs":[{"name":"e","minMember":1},{"name":"g"}],
     "pods":[{"name":"e-0","gang":"e","gpu":{"count":1}},{"name":"e-1","gang":"e","gpu":{"count":2}},
             {"name":"g-0","gang":"g","gpu":{"count":1}},{"name":"g-1","gang":"g","gpu":{"count":2}}])",
                     {{"e-0", "a", {0}}, {"e-1", "a", {1, 2}}});
  const Candidate found = elastic.improve();
  EXPECT_EQ(elastic.nodes(found, {"e-0", "e-1", "g-0", "g-1"}), "a - a a");
}

TEST(Search, PutsTwoInThePlaceOfOneThatLeavesAHole) {
  const Case hole(R"("nodes":[{"name":"a","gpus":{"count":1}}],
     "pods":[{"name":"lone","gpu":{"fraction":0.81}},{"name":"x","gpu":{"fraction":0.47}},{"name":"y","gpu":{"fraction":0.47}}])",
                  {{"lone", "a", {0}}});
  EXPECT_EQ(hole.nodes(hole.improve(), {"lone", "x", "y"}), "- a a");
}

TEST(Search, DropsAGangWholeForMoreWork) {
  const Case gang(std::string(kTwoNodes) +
                      R"("gangs":[{"name":"g"}],
     "pods":[{"name":"g-0","gang":"g","gpu":{"fraction":0.7}},{"name":"g-1","gang":"g","gpu":{"fraction":0.7}},
             {"name":"x","gpu":{"count":2}},{"name":"y","gpu":{"count":2}}])",
                  {{"g-0", "a", {0}}, {"g-1", "b", {0}}});
  EXPECT_EQ(gang.nodes(gang.improve(), {"g-0", "g-1", "x", "y"}).substr(0, 4), "- - ");
}

TEST(Search, DropsAGangWholeForAnother) {
  const Case gangs(std::string(kTwoNodes) +
                       R"("gangs":[{"name":"g"},{"name":"h"}],
     "pods":[{"name":"g-0","gang":"g","gpu":{"count":1}},{"name":"g-1","gang":"g","gpu":{"count":1}},
             {"name":"h-0","gang":"h","gpu":{"count":2}},{"name":"h-1","gang":"h","gpu":{"count":2}}])",
                   {{"g-0", "a", {0}}, {"g-1", "b", {0}}});
  EXPECT_EQ(gangs.improve().plan.placements.size(), 2U);
  EXPECT_EQ(gangs.nodes(gangs.improve(), {"g-0", "g-1"}), "- -");
}

TEST(Search, TakesTheOlderOfEquals) {
  const Case equals(R"("nodes":[{"name":"a","gpus":{"count":1}}],
     "pods":[{"name":"young","created":999000,"gpu":{"count":1}},{"name":"old","created":900000,"gpu":{"count":1}}])",
                    {{"young", "a", {0}}});
  EXPECT_EQ(equals.nodes(equals.improve(), {"young", "old"}), "- a");
}

TEST(Search, ReplacesARecentGangByAnOlderOneInOneStep) {
  const Case alike(std::string(kTwoNodes) +
                       R"("gangs":[{"name":"young","created":999000},{"name":"old","created":900000},
              {"name":"middle","created":950000},{"name":"big","created":800000}],
     "pods":[{"name":"y-0","gang":"young","gpu":{"count":1}},{"name":"y-1","gang":"young","gpu":{"count":1}},
             {"name":"m-0","gang":"middle","gpu":{"count":1}},{"name":"m-1","gang":"middle","gpu":{"count":1}},
             {"name":"o-0","gang":"old","gpu":{"count":1}},{"name":"o-1","gang":"old","gpu":{"count":1}},
             {"name":"b-0","gang":"big","gpu":{"count":2}},{"name":"b-1","gang":"big","gpu":{"count":2}}])",
                   {{"y-0", "a", {1}}, {"y-1", "b", {0}}, {"m-0", "a", {0}}, {"m-1", "b", {1}}});
  const Candidate found = alike.improve({.most_trials = 0});
  EXPECT_EQ(alike.nodes(found, {"y-0", "y-1", "m-0", "m-1", "o-0", "o-1", "b-0"}), "- - a b a b -");
}

TEST(Search, ExchangesNoGangsThatDifferInMoreThanTheirAge) {
  const std::string young = R"("nodes":[{"name":"a","gpus":{"count":2}}],"pods":[{"name":"young","created":999000,
      "priority":2,"gpu":{"count":1}},)";
  const Case priority(young + R"({"name":"old","created":900000,"priority":1,"gpu":{"count":1}}])",
                      {{"young", "a", {0}}});
  EXPECT_EQ(priority.nodes(priority.improve({.most_trials = 0}), {"young", "old"}), "a -");
  const Case size(young + R"({"name":"old","created":900000,"priority":2,"gpu":{"count":2}}])", {{"young", "a", {0}}});
  EXPECT_EQ(size.nodes(size.improve({.most_trials = 0}), {"young", "old"}), "a -");
}

TEST(Search, TakesHigherPrioritiesFirst) {
  const Case priorities(R"("nodes":[{"name":"a","gpus":{"count":3}}],
     "pods":[{"name":"low","priority":1,"gpu":{"count":3}},{"name":"high","priority":2,"gpu":{"count":2}}])",
                        {{"low", "a", {0, 1, 2}}});
  EXPECT_EQ(priorities.nodes(priorities.improve(), {"low", "high"}), "- a");
}

TEST(Search, SwapsPlacesForPreference) {
  const Case nominated(R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}}],
     "pods":[{"name":"x","nominatedNode":"b","gpu":{"count":1}},{"name":"y","gpu":{"count":1}}])",
                       {{"x", "a", {0}}, {"y", "b", {0}}});
  EXPECT_EQ(nominated.nodes(nominated.improve(), {"x", "y"}), "b a");
}

TEST(Search, LeavesIdleWhatTheExpectedWorkloadCanUse) {
  const std::string expected = R"("policy":{"expectedWorkload":[{"pod":{"gpu":{"count":2}},"weight":1}]},)";
  const Case fragments(
      expected + kTwoNodes + R"("pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}}])",
      {{"x", "a", {0}}, {"y", "b", {0}}});
  const Candidate found = fragments.improve();
  EXPECT_EQ(found.levels.values.back(), 0);
  EXPECT_EQ(fragments.incumbent().levels.values.back(), 2 * 1'000 * 1'000'000LL);
}

TEST(Search, LeavesRoomForMoreCopiesWhereTheLevelsAreEqual) {
  // One more pod with four cores fits on either node, wherever x goes; but only a keeps the cores for both of its idle
  // devices.
  const Case copies(R"("policy":{"expectedWorkload":[{"pod":{"resources":{"cpu":4},"gpu":{"count":1}},"weight":1}]},
     "nodes":[{"name":"a","resources":{"cpu":8},"gpus":{"count":2}},{"name":"b","resources":{"cpu":7},"gpus":{"count":2}}],
     "pods":[{"name":"x","resources":{"cpu":3}}])",
                    {{"x", "a", {}}});
  EXPECT_EQ(copies.nodes(copies.improve(), {"x"}), "b");
}

TEST(Search, KeepsAGangWithinItsDomain) {
  const Case racks(R"("topology":["rack"],"nodes":[{"name":"a","gpus":{"count":2},"labels":{"rack":"1"}},
       {"name":"b","gpus":{"count":2},"labels":{"rack":"2"}}],"gangs":[{"name":"g","topology":{"required":"rack"}}],
     "pods":[{"name":"g-0","gang":"g","gpu":{"fraction":0.5}},{"name":"g-1","gang":"g","gpu":{"fraction":0.5}},
             {"name":"run","gpu":{"count":1},"node":"b","gpus":[0]},{"name":"x","gpu":{"count":2}},{"name":"y","gpu":{"count":1}}])",
                   {{"g-0", "a", {0}}, {"g-1", "a", {1}}});
  EXPECT_EQ(racks.nodes(racks.improve(), {"g-0", "g-1", "x", "y"}).substr(0, 4), "a a ");
}

TEST(Search, KeepsQueuesWithinTheirLimits) {
  const Case limits(R"("nodes":[{"name":"a","gpus":{"count":2}}],
     "queues":[{"name":"p","gpu":{"limit":1}},{"name":"q"}],
     "pods":[{"name":"big","queue":"p","gpu":{"count":2}},{"name":"one","queue":"q","gpu":{"count":1}},
             {"name":"two","queue":"q","gpu":{"count":1}}])",
                    {{"one", "a", {0}}});
  EXPECT_EQ(limits.nodes(limits.improve(), {"big", "one", "two"}), "- a a");
}

TEST(Search, StopsImmediately) {
  const Case split(std::string(kTwoNodes) +
                       R"("pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},
                                  {"name":"big","gpu":{"count":2}}])",
                   {{"x", "a", {0}}, {"y", "b", {0}}});
  SearchOptions options;
  options.stop = [] { return true; };
  EXPECT_EQ(split.improve(options).plan, split.incumbent().plan);
}

TEST(Search, EndsWhereNothingMoreIsFound) {
  const Case alone(R"("nodes":[{"name":"a","gpus":{"count":1}}],"pods":[{"name":"x","gpu":{"count":1}}])",
                   {{"x", "a", {0}}});
  EXPECT_EQ(alone.improve({}).plan, alone.incumbent().plan);
}

}  // namespace
}  // namespace muster::local_search
