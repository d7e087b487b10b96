// What functions require of their callers is checked: a requirement that is not met is reported with its place.
#include "model/base/require.h"

#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "model/base/block_vector.h"
#include "model/objective/subset_sums.h"
#include "test/support/unmet.h"

namespace muster {
namespace {

TEST(Require, SaysNothingWhereTheConditionHolds) {
  int asked = 0;
  MUSTER_REQUIRE(++asked == 1);
  EXPECT_EQ(asked, 1);
}

TEST(RequireDeathTest, TellsFileLineAndCondition) {
  expect_unmet([] { fail_requirement("/home/user/muster/model/base/require.cpp", 12, "a < b"); },
               "base/require.cpp:12: requirement not met: a < b");
  expect_unmet([] { MUSTER_REQUIRE(1 + 1 == 3); }, "requirement not met: 1 + 1 == 3");
}

// The condition is compiled in any case, and evaluated only where checks may cost something.
TEST(Require, ChecksWhatCostsSomethingWhereItIsAskedFor) {
  int asked = 0;
  MUSTER_REQUIRE_SLOW(++asked == 1);
#ifdef MUSTER_CHECKS
  EXPECT_EQ(asked, 1);
#else
  EXPECT_EQ(asked, 0);
#endif
}

TEST(RequireDeathTest, HoldsFunctionsToTheirContracts) {
  BlockVector<int> three;
  for (int i = 0; i < 3; ++i) three.push_back(i);
  expect_unmet([&] { three.truncate(4); }, "count <= size");
  expect_unmet([] { FractionalKnapsack(-1); }, "capacity >= 0");
  expect_unmet([] { SubsetSums(10, 0); }, "divisor > 0");
  expect_unmet([] { SubsetSums(10, 4).add(6, 1); }, "item % divisor_ == 0");
}

}  // namespace
}  // namespace muster
