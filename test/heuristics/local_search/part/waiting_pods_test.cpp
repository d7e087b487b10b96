#include <array>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/local_search/neighbourhood.h"
#include "test/heuristics/local_search/search_case.h"

namespace muster::local_search {
namespace {

constexpr const char* kBody = R"("nodes":[{"name":"n","resources":{"cpu":8},"gpus":{"count":4}}],
    "pods":[{"name":"old","created":100,"gpu":{"count":1}},{"name":"young","created":900,"gpu":{"count":1}},
            {"name":"urgent","priority":5,"gpu":{"count":1}},{"name":"large","gpu":{"count":2}}])";

TEST(WaitingPods, AreGroupedByClassAndWorth) {
  const SearchCase cluster(kBody, {});
  WaitingPods waiting(cluster.scope);
  for (const char* name : {"young", "urgent", "old", "large"}) waiting.insert(cluster.pod(name));
  ASSERT_EQ(waiting.groups().size(), 3U);
  EXPECT_EQ(waiting.groups()[0].pods.size(), 2U);
  EXPECT_GT(waiting.groups()[1].worth, waiting.groups()[0].worth) << "a higher priority";
  EXPECT_EQ(waiting.groups()[2].pod_class, cluster.problem->pods[cluster.pod("large")].pod_class);
}

TEST(WaitingPods, GiveTheOneThatHasWaitedLongest) {
  const SearchCase cluster(kBody, {});
  WaitingPods waiting(cluster.scope);
  for (const char* name : {"old", "young"}) waiting.insert(cluster.pod(name));
  EXPECT_EQ(waiting.groups()[0].pods.back(), cluster.pod("old"));
  waiting.pop(0);
  EXPECT_EQ(waiting.groups()[0].pods.back(), cluster.pod("young"));
  waiting.insert(cluster.pod("old"));
  EXPECT_EQ(waiting.groups()[0].pods.back(), cluster.pod("old"));
}

TEST(WaitingPods, ComeInAnyOrder) {
  const SearchCase cluster(kBody, {});
  for (const auto& names : {std::array{"old", "young", "large"}, std::array{"large", "young", "old"}}) {
    std::vector<PodIndex> pods;
    for (const char* name : names) pods.push_back(cluster.pod(name));
    WaitingPods waiting(cluster.scope, pods);
    ASSERT_EQ(waiting.groups().size(), 2U);
    const std::size_t small = std::string_view(names[0]) == "large" ? 1 : 0;
    EXPECT_EQ(waiting.groups()[small].pods, (std::vector<PodIndex>{cluster.pod("young"), cluster.pod("old")}));
  }
}

TEST(WaitingPods, KeepAGroupThatIsEmpty) {
  const SearchCase cluster(kBody, {});
  WaitingPods waiting(cluster.scope);
  waiting.insert(cluster.pod("large"));
  waiting.withdraw(cluster.pod("large"));
  ASSERT_EQ(waiting.groups().size(), 1U);
  EXPECT_TRUE(waiting.groups()[0].pods.empty());
}

TEST(WaitingPods, KnowWhatOneOfAGroupRequests) {
  const SearchCase cluster(kBody, {});
  WaitingPods waiting(cluster.scope);
  waiting.insert(cluster.pod("large"));
  EXPECT_FALSE(waiting.groups()[0].request.exceeds({0, 0, CoarseAmounts::kDevice}));
  EXPECT_TRUE(waiting.groups()[0].request.exceeds({0, 0, CoarseAmounts::kDevice / 2}));
}

}  // namespace
}  // namespace muster::local_search
