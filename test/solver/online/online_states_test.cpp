#include "solver/online/online_states.h"

#include <gtest/gtest.h>

namespace muster::online {
namespace {

std::vector<policies::OnlineType> one_type() {
  policies::OnlineType type;
  type.cpu = 8;
  type.memory = 16;
  type.devices = 2;
  return {type};
}

constexpr std::array<std::int32_t, 1> kFirst{0}, kSecond{1};

TEST(NodeStates, EqualNodesAreOneState) {
  NodeStates nodes(one_type(), {0, 0, 0});
  EXPECT_EQ(&nodes.of(0), &nodes.of(2));
  EXPECT_EQ(nodes.of(0).nodes.size(), 3U);
  EXPECT_EQ(nodes.of(0).whole(), 2);
}

TEST(NodeStates, WhichDeviceIsUsedMakesNoDifference) {
  NodeStates nodes(one_type(), {0, 0, 0});
  nodes.take(0, 1000, 1024, kFirst, 30);
  EXPECT_NE(&nodes.of(0), &nodes.of(1));
  nodes.take(1, 1000, 1024, kSecond, 30);
  EXPECT_EQ(&nodes.of(0), &nodes.of(1));
  EXPECT_NE(nodes.devices(0), nodes.devices(1));
  EXPECT_EQ(nodes.of(1).key.cpu, 7000);
}

TEST(NodeStates, WhatIsGivenBackIsFreeAgain) {
  NodeStates nodes(one_type(), {0, 0});
  nodes.take(0, 1000, 1024, kFirst, 30);
  nodes.take(0, -1000, -1024, kFirst, -30);
  EXPECT_EQ(&nodes.of(0), &nodes.of(1));
  EXPECT_EQ(nodes.devices(0), nodes.devices(1));
}

TEST(NodeStates, AStampIsNeverUsedAgain) {
  NodeStates nodes(one_type(), {0});
  const std::uint32_t first = nodes.stamp(0);
  EXPECT_NE(first, 0U);
  nodes.forget_values();
  const std::uint32_t second = nodes.stamp(0);
  EXPECT_GT(second, first);
  nodes.take(0, 1000, 0, {}, 0);  // the only node leaves its state, whose slot is free or used anew
  for (std::size_t slot = 0; slot < nodes.all().size(); ++slot) {
    const bool is_free = nodes.stamp(slot) == 0;
    EXPECT_TRUE(is_free || nodes.stamp(slot) > second) << slot;
  }
}

}  // namespace
}  // namespace muster::online
