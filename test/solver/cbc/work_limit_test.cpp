#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "solver/budget/deadline.h"

namespace muster::cbc {
namespace {

TEST(WorkLimit, NoneIsNeverReachedWhateverIsSpent) {
  const WorkLimit none;
  none.spend(1'000'000);
  EXPECT_TRUE(none.is_none());
  EXPECT_FALSE(none.is_reached());
  EXPECT_EQ(none.spent(), 0);
  EXPECT_EQ(none.left(), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(none.part(0.5).is_none());
}

TEST(WorkLimit, IsReachedWithTheLastUnit) {
  const WorkLimit limit(10);
  limit.spend(9);
  EXPECT_FALSE(limit.is_reached());
  EXPECT_EQ(limit.left(), 1);
  limit.spend(1);
  EXPECT_TRUE(limit.is_reached());
  limit.spend(5);
  EXPECT_EQ(limit.left(), 0) << "at least nothing";
  EXPECT_EQ(limit.spent(), 15);
}

TEST(WorkLimit, CopiesShareOneCount) {
  const WorkLimit limit(10);
  const WorkLimit copy = limit;
  copy.spend(10);
  EXPECT_TRUE(limit.is_reached());
}

// Of 1000 units 200 are spent: a quarter of the 800 that are left ends at 400 of the same count.
TEST(WorkLimit, APartEndsAfterItsShareOfWhatIsLeft) {
  const WorkLimit limit(1000);
  limit.spend(200);
  const WorkLimit part = limit.part(0.25);
  EXPECT_EQ(part.left(), 200);
  limit.spend(199);
  EXPECT_FALSE(part.is_reached());
  limit.spend(1);
  EXPECT_TRUE(part.is_reached());
  EXPECT_FALSE(limit.is_reached());
  EXPECT_EQ(limit.left(), 600);
}

}  // namespace
}  // namespace muster::cbc
