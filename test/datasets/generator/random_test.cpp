#include "datasets/generator/random.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace muster::generator {
namespace {

TEST(Random, FollowsTheReferenceAlgorithm) {
  // Computed from the published definitions of splitmix64 and xoshiro256** by another program.
  Random random(42);
  EXPECT_EQ(random.next(), 0x15780b2e0c2ec716u);
  EXPECT_EQ(random.next(), 0x6104d9866d113a7eu);
  EXPECT_EQ(random.next(), 0xae17533239e499a1u);
  EXPECT_EQ(random.next(), 0xecb8ad4703b360a1u);
}

TEST(Random, GivesEachStreamOfASeedItsOwnSequence) {
  std::set<std::uint64_t> first;
  for (std::uint64_t stream = 0; stream < 100; ++stream) first.insert(Random(7, stream).next());
  EXPECT_EQ(first.size(), 100u);
}

TEST(Random, DrawsEveryValueBelowTheBoundAboutEquallyOften) {
  Random random(1);
  std::array<int, 6> seen{};
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t drawn = random.below(seen.size());
    ASSERT_LT(drawn, seen.size());
    ++seen[drawn];
  }
  // Ten standard deviations (91 each) of a fair die.
  for (const int count : seen) EXPECT_NEAR(count, kDraws / 6, 910);
}

TEST(Random, DrawsOnlyZeroBelowOneAndCoversTheWholeRange) {
  Random random(1);
  EXPECT_EQ(random.below(1), 0u);
  std::uint64_t highest = 0;
  for (int i = 0; i < 100; ++i) highest = std::max(highest, random.below(~std::uint64_t{0}));
  EXPECT_GT(highest, ~std::uint64_t{0} / 2);
}

TEST(Random, TakesAChanceOfNothingNeverAndOfAMillionAlways) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(random.chance(0));
    EXPECT_TRUE(random.chance(1'000'000));
  }
}

TEST(Random, DrawsPositionsByWeightAndNeverOneOfWeightZero) {
  Random random(1);
  const std::vector<std::uint64_t> weights = {0, 3, 0, 1, 0};
  std::array<int, 5> seen{};
  for (int i = 0; i < 4000; ++i) ++seen[random.weighted(weights)];
  EXPECT_EQ(seen[0] + seen[2] + seen[4], 0);
  EXPECT_NEAR(seen[1], 3000, 280);  // ten standard deviations
}

}  // namespace
}  // namespace muster::generator
