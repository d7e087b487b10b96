#include "solver/choice/device_patterns.h"

#include <gtest/gtest.h>

namespace muster::choice {
namespace {

using Patterns = std::vector<DevicePatterns::Pattern>;

TEST(DevicePatterns, AreTheMultisetsToWhichNothingCanBeAdded) {
  DevicePatterns patterns({{250, 10}, {500, 3}}, 1000);
  patterns.add(1000);
  patterns.add(300);
  ASSERT_TRUE(patterns.is_complete());
  EXPECT_EQ(patterns.of(1000), (Patterns{{{500, 2}}, {{500, 1}, {250, 2}}, {{250, 4}}}));
  EXPECT_EQ(patterns.of(300), (Patterns{{{250, 1}}}));
}

TEST(DevicePatterns, HoldNoMoreThanTheStock) {
  DevicePatterns patterns({{250, 1}, {500, 1}}, 1000);
  patterns.add(1000);
  ASSERT_TRUE(patterns.is_complete());
  EXPECT_EQ(patterns.of(1000), (Patterns{{{500, 1}, {250, 1}}}));
}

TEST(DevicePatterns, AreIncompleteWhereTheyAreTooMany) {
  DevicePatterns patterns({{10, 100}, {11, 100}, {12, 100}, {13, 100}}, 50);
  patterns.add(1000);
  EXPECT_FALSE(patterns.is_complete());
}

}  // namespace
}  // namespace muster::choice
