#include "heuristics/local_search/round_parts.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "test/heuristics/local_search/search_case.h"

namespace muster::local_search {
namespace {

std::string nodes(int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += (i > 0 ? "," : "") + std::string(R"({"name":"n)") + std::to_string(i) + R"(","gpus":{"count":1}})";
  return R"("nodes":[)" + list + "],";
}

TEST(RoundParts, HaveEachNodeAtMostOnceAndAtMost64) {
  const SearchCase search(nodes(150) + R"("pods":[{"name":"x","gpu":{"count":1}}])", {});
  RoundParts rounds(search.scope, search.state, 1);
  const std::vector<SearchPart> parts = rounds.next({.trials_left = 1000});
  ASSERT_EQ(parts.size(), 3U);
  std::set<NodeIndex> seen;
  for (const SearchPart& part : parts) {
    EXPECT_LE(part.nodes.size(), 64U);
    for (const NodeIndex node : part.nodes) EXPECT_TRUE(seen.insert(node).second);
  }
  EXPECT_EQ(seen.size(), 150U);
}

TEST(RoundParts, ShareTheTrialsThatAreLeft) {
  const SearchCase search(nodes(100) + R"("pods":[{"name":"x","gpu":{"count":1}}])", {});
  RoundParts rounds(search.scope, search.state, 1);
  for (const SearchPart& part : rounds.next({.trials_left = 10})) EXPECT_EQ(part.trials, 5);
  for (const SearchPart& part : rounds.next({.trials_left = 1'000'000})) EXPECT_LT(part.trials, 1'000);
}

TEST(RoundParts, HoldTheNodesOfAGangTogether) {
  // The gang is on the first and the last of 100 nodes.
  const SearchCase search(nodes(100) + R"("gangs":[{"name":"g"}],
      "pods":[{"name":"g0","gang":"g","gpu":{"count":1}},{"name":"g1","gang":"g","gpu":{"count":1}}])",
                          {{"g0", "n0", {0}}, {"g1", "n99", {0}}});
  RoundParts rounds(search.scope, search.state, 1);
  int together = 0;
  for (int round = 0; round < 10; ++round) {
    for (const SearchPart& part : rounds.next({.trials_left = 100})) {
      const auto has = [&](const char* name) { return std::ranges::count(part.nodes, search.node(name)) > 0; };
      together += has("n0") && has("n99") ? 1 : 0;
    }
  }
  EXPECT_GE(together, 5);
}

TEST(RoundParts, DistributePodsAndGangsThatWait) {
  const SearchCase search(nodes(2) + R"("gangs":[{"name":"g"}],
      "pods":[{"name":"x","gpu":{"count":1}},{"name":"placed","gpu":{"count":1}},
              {"name":"g0","gang":"g","gpu":{"count":1}},{"name":"g1","gang":"g","gpu":{"count":1}}])",
                          {{"placed", "n0", {0}}});
  RoundParts rounds(search.scope, search.state, 1);
  const std::vector<SearchPart> parts = rounds.next({.trials_left = 100});
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].waiting_pods, std::vector{search.pod("x")});
  EXPECT_EQ(parts[0].waiting_gangs, std::vector{search.gang("g")});
}

TEST(RoundParts, AreNoneIfNoNodeMayBeChanged) {
  const SearchCase search(R"("nodes":[{"name":"n","unschedulable":true}],"pods":[{"name":"x"}])", {});
  EXPECT_TRUE(RoundParts(search.scope, search.state, 1).next({.trials_left = 100}).empty());
}

TEST(RoundParts, DifferFromRoundToRoundAndAreTheSameForASeed) {
  const SearchCase search(nodes(100) + R"("pods":[{"name":"x","gpu":{"count":1}}])", {});
  RoundParts rounds(search.scope, search.state, 5), same(search.scope, search.state, 5);
  const auto first = rounds.next({.trials_left = 100});
  EXPECT_EQ(first[0].nodes, same.next({.trials_left = 100})[0].nodes);
  EXPECT_NE(first[0].nodes, rounds.next({.trials_left = 100})[0].nodes);
}

}  // namespace
}  // namespace muster::local_search
