#include <string>

#include <gtest/gtest.h>

#include "heuristics/greedy/sharer_packing.h"
#include "test/support/case.h"

namespace muster::greedy {
namespace {

bool have_sums(const test::Cluster& cluster) {
  const test::Case problem(cluster);
  return have_exact_sums(*problem, ClusterState(*problem, ClusterState::Releasing::kFreed));
}

constexpr const char* kCores = R"("resources":{"cpu":64})";

test::Cluster two_nodes() { return test::Cluster().node("a", 8, kCores).node("b", 8, kCores); }

std::string with_cpu(int cores) { return R"("resources":{"cpu":)" + std::to_string(cores) + "}"; }

TEST(ExactSums, AreThereIfNodesAreAlikeAndSizesDivideEachOther) {
  EXPECT_TRUE(
      have_sums(two_nodes().pod("one", 1).pod("two", 2).pod("eight", 8).pod("half", R"("gpu":{"fraction":0.5})")));
  EXPECT_FALSE(have_sums(two_nodes().pod("three", 3)));
  EXPECT_FALSE(have_sums(test::Cluster().node("a", 6).pod("three", 3).pod("two", 2)));
}

TEST(ExactSums, NeedNodesThatAreAlikeAndIdle) {
  EXPECT_FALSE(have_sums(two_nodes().node("c", 4, kCores).pod("one", 1)));
  EXPECT_FALSE(have_sums(test::Cluster().node("a", 8, with_cpu(64)).node("b", 8, with_cpu(32)).pod("one", 1)));
  EXPECT_FALSE(have_sums(two_nodes().running("r", "a", 1).pod("one", 1)));
  EXPECT_TRUE(have_sums(two_nodes().node("no-devices").pod("one", 1)));
  EXPECT_FALSE(have_sums(test::Cluster().node("no-devices").pod("one", 1)));
}

TEST(ExactSums, NeedPodsThatUseDevicesAndNoMoreThanTheirPartOfTheRest) {
  EXPECT_FALSE(have_sums(two_nodes().pod("one", 1).pod("none")));
  EXPECT_TRUE(have_sums(two_nodes().pod("two", 2, with_cpu(16))));
  EXPECT_FALSE(have_sums(two_nodes().pod("two", 2, with_cpu(17))));
  EXPECT_FALSE(have_sums(two_nodes().pod("memory", R"("gpu":{"memory":"1Gi"})")));
}

TEST(ExactSums, NeedPodsThatMayGoAnywhere) {
  EXPECT_FALSE(have_sums(test::Cluster()
                             .node("a", 8, R"("labels":{"zone":"x"})")
                             .node("b", 8, R"("labels":{"zone":"y"})")
                             .pod("one", 1, R"("nodeSelector":{"zone":"x"})")));
}

}  // namespace
}  // namespace muster::greedy
