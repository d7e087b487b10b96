#include "model/objective/subset_sums.h"

#include <cstdint>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(SubsetSums, BestIsThatOfAllSubsetsAfterEachKind) {
  std::mt19937 random(1);
  const auto draw = [&](std::int64_t lowest, std::int64_t highest) {
    return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random);
  };
  for (int round = 0; round < 2'000; ++round) {
    const std::int64_t divisor = draw(1, 3), capacity = draw(0, 120) * divisor;
    SubsetSums sums(capacity, divisor);
    std::set<std::int64_t> all{0};
    for (std::int64_t kinds = draw(1, 4); kinds > 0; --kinds) {
      const std::int64_t item = draw(0, 40) * divisor, count = draw(0, 5);
      SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(item) + ", capacity " + std::to_string(capacity));
      for (std::int64_t n = 0; n < count; ++n) {
        const std::set<std::int64_t> before = all;
        for (const std::int64_t sum : before)
          if (sum + item <= capacity) all.insert(sum + item);
      }
      sums.add(item, count);
      ASSERT_EQ(sums.best(), *all.rbegin());
      ASSERT_EQ(sums.is_full(), *all.rbegin() == capacity);
    }
  }
}

TEST(SubsetSums, AKindAloneFillsAnyCapacityAsFarAsItGoes) {
  constexpr std::int64_t kMuch = std::int64_t{1} << 60;
  SubsetSums sums(kMuch - 1, 1);
  sums.add(1'000'000, kMuch);
  EXPECT_EQ(sums.best(), (kMuch - 1) / 1'000'000 * 1'000'000);
}

}  // namespace
}  // namespace muster
