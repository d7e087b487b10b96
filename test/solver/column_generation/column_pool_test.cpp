#include "solver/column_generation/column_pool.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/master_case.h"

namespace muster::column_generation {
namespace {

using test::MasterCase;
using test::nodes_with;

constexpr formulation::DemandIndex kPod{0};
constexpr formulation::ResidualClassIndex kRoom{0};

// Two nodes of two GPUs, three pods of one: none, one or two pods on a node.
struct Pool : MasterCase {
  Pool() : MasterCase(nodes_with({{"a", 2}, {"b", 2}}).pods("p", 3, 1)) {}
  static formulation::Configuration one_on(std::int32_t device) { return {{{kPod, {device}, -1}}, {{kPod, 1}}, {}, 0}; }
};

TEST(ColumnPool, ListsEveryNumberOfPodsThatFits) {
  Pool pool;
  ASSERT_TRUE(pool.restricted.pool.list_all({1000, 1000}));
  std::vector<std::int32_t> pods;
  for (const formulation::Configuration& one : pool.restricted.pool.configurations()[kRoom])
    pods.push_back(one.counts.empty() ? 0 : one.counts[0].second);
  std::ranges::sort(pods);
  EXPECT_EQ(pods, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(ColumnPool, KeepsNothingOfAListThatIsTooLong) {
  Pool pool;
  EXPECT_FALSE(pool.restricted.pool.list_all({1000, 2}));
  EXPECT_TRUE(pool.restricted.pool.configurations()[kRoom].empty());
  EXPECT_FALSE(pool.restricted.pool.list_all({1000, 1000, [] { return true; }}));
  EXPECT_TRUE(pool.restricted.pool.configurations()[kRoom].empty());
  EXPECT_TRUE(pool.restricted.pool.list_all({1000, 3}));
}

TEST(ColumnPool, KeepsAConfigurationOnce) {
  Pool pool;
  EXPECT_TRUE(pool.restricted.pool.add(kRoom, Pool::one_on(0)));
  EXPECT_FALSE(pool.restricted.pool.add(kRoom, Pool::one_on(1))) << "the same pods, on another device";
  EXPECT_EQ(pool.restricted.pool.position(kRoom, Pool::one_on(0)), 0U);
  EXPECT_EQ(pool.restricted.pool.position(kRoom, {{}, {}, {}, 0}), 1U);
  EXPECT_EQ(pool.restricted.pool.configurations()[kRoom].size(), 2U);
}

// a holds two pods, b one: two configurations, each with its devices by position.
TEST(ColumnPool, LearnsWhatStandsOnTheNodesOfAPlan) {
  Pool pool;
  ClusterState end = pool.before;
  end.put(PodIndex(0), NodeIndex(0), {0});
  end.put(PodIndex(1), NodeIndex(0), {1});
  end.put(PodIndex(2), NodeIndex(1), {1});
  pool.restricted.pool.add_contents(end, pool.restricted.base);
  const std::vector<formulation::Configuration>& all = pool.restricted.pool.configurations()[kRoom];
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].counts[0].second, 2);
  EXPECT_EQ(all[1].counts[0].second, 1);
  ASSERT_EQ(all[1].steps.size(), 1U);
  EXPECT_EQ(all[1].steps[0].devices, std::vector<std::int32_t>{1});
}

// One pod is placed for good, so the residual class holds one less.
TEST(ColumnPool, WhatThePlanHasSettledIsNoPartOfTheContents) {
  Pool pool;
  ClusterState settled = pool.before;
  settled.put(PodIndex(0), NodeIndex(0), {0});
  RestrictedMaster restricted(pool.setting, settled, formulation::find_candidates(*pool.cluster, pool.rules, settled));
  ClusterState end = settled;
  end.put(PodIndex(1), NodeIndex(0), {1});
  restricted.pool.add_contents(end, restricted.base);
  const auto& all = restricted.pool.configurations()[restricted.supply.residual_of[NodeIndex(0)]];
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].counts[0].second, 1);
}

TEST(ColumnPool, LearnsNothingOfEmptyNodes) {
  Pool pool;
  pool.restricted.pool.add_contents(pool.before, pool.restricted.base);
  EXPECT_TRUE(pool.restricted.pool.configurations()[kRoom].empty());
}

}  // namespace
}  // namespace muster::column_generation
