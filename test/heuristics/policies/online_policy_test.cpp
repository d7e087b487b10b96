#include "heuristics/policies/online_policy.h"

#include <vector>

#include <gtest/gtest.h>

namespace muster::policies {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

struct Board {
  std::vector<std::int32_t> devices;
  OnlineNode node;
  Board(std::int64_t cpu_free, std::int64_t memory_free, std::vector<std::int32_t> levels)
      : devices(std::move(levels)) {
    node = {cpu_free, 64'000, memory_free, 256 * kGib, 0, devices};
  }
};

OnlinePolicy policy(OnlinePolicyKind kind, std::vector<TypicalPod> workload = {}) {
  return OnlinePolicy(kind, {128'000, 8, 1, std::move(workload)});
}

TEST(OnlinePolicy, HasANameForEachKind) {
  for (const OnlinePolicyKind kind : online_policies()) EXPECT_EQ(online_policy_of(online_policy_name(kind)), kind);
  EXPECT_FALSE(online_policy_of("random"));
}

TEST(OnlinePolicy, LeastAllocatedIsTheMeanOfFreeCpuAndMemoryInWholePercents) {
  const Board board(32'000, 128 * kGib, {});
  // 24,000 of 64,000 and 64 of 256 GiB stay free: 37 and 25 percent.
  EXPECT_EQ(policy(OnlinePolicyKind::kLeastAllocated).score({8'000, 64 * kGib, 0, 0}, board.node).score, 31);
}

TEST(OnlinePolicy, MostAllocatedIsTheMeanOfUsedCpuAndMemoryInWholePercents) {
  const Board board(32'000, 128 * kGib, {});
  // 40,000 of 64,000 and 192 of 256 GiB are in use: 62 and 75 percent.
  EXPECT_EQ(policy(OnlinePolicyKind::kMostAllocated).score({8'000, 64 * kGib, 0, 0}, board.node).score, 68);
}

TEST(OnlinePolicy, AllocatedScoresCountAPodThatAsksForNothingAsATenthOfACore) {
  const Board board(64'000, 256 * kGib, {});
  EXPECT_EQ(policy(OnlinePolicyKind::kLeastAllocated).score({}, board.node).score, 99);
}

TEST(OnlinePolicy, BestFitIsWhatIsLeftOfTheLargestNode) {
  const Board board(64'000, kGib, {1000, 1000, 500, 0});
  // Left: 56,000 of 128,000 and 1,500 of 8,000; half of each: 0.3125.
  const OnlineScore score = policy(OnlinePolicyKind::kBestFit).score({8'000, 0, 1, 1000}, board.node);
  EXPECT_EQ(score.score, 68);
  EXPECT_EQ(score.device, -1);
}

TEST(OnlinePolicy, DotProductPrefersWhereLittleIsFree) {
  const Board board(64'000, kGib, {1000, 1000, 1000, 1000});
  // 0.5 x 0.25 + 0.5 x 0.125 = 0.1875, half of it off one.
  EXPECT_EQ(policy(OnlinePolicyKind::kDotProduct).score({32'000, 0, 1, 1000}, board.node).score, 90);
}

TEST(OnlinePolicy, FractionsGoToTheTightestDeviceUnlessThePolicySaysOtherwise) {
  const Board board(64'000, kGib, {1000, 300, 600, 300});
  EXPECT_EQ(policy(OnlinePolicyKind::kBestFit).score({1'000, 0, 1, 250}, board.node).device, 1);
  EXPECT_EQ(policy(OnlinePolicyKind::kMostAllocated).score({1'000, 0, 1, 500}, board.node).device, 2);
}

TEST(OnlinePolicy, FragmentationIsWhatTypicalPodsCannotUse) {
  const std::vector<bool> all{true};
  const OnlinePolicy fgd = policy(OnlinePolicyKind::kFgd, {{{4'000, 0, 1, 500}, 2, all},
                                                           {{16'000, 0, 1, 1000}, 1, all},
                                                           {{4'000, 0, 2, 1000}, 1, all},
                                                           {{1'000, 0, 0, 0}, 1, all},
                                                           {{1'000, 0, 1, 500}, 1, {false}}});
  // Of 1,700 free: halves lose the 200 (2 of 6); a whole one with 16 cores, a pair, a pod without devices, and one that
  // does not accept the node lose everything (4 of 6).
  EXPECT_NEAR(fgd.fragmentation(Board(8'000, 0, {1000, 200, 500}).node), (2 * 200 + 4 * 1700) / 6.0, 1e-9);
  // With 16 cores the whole one loses only the two pieces.
  EXPECT_NEAR(fgd.fragmentation(Board(16'000, 0, {1000, 200, 500}).node), (2 * 200 + 700 + 3 * 1700) / 6.0, 1e-9);
}

TEST(OnlinePolicy, FgdTakesTheDeviceThatLosesLeast) {
  const OnlinePolicy fgd = policy(OnlinePolicyKind::kFgd, {{{0, 0, 1, 1000}, 1, {true}}, {{0, 0, 1, 700}, 3, {true}}});
  // The tightest is the 700, but that would take it from pods that ask for 700; no pod uses the 300.
  EXPECT_EQ(fgd.score({0, 0, 1, 300}, Board(8'000, 0, {1000, 700, 300}).node).device, 2);
  // A change of nothing is the middle of the scale.
  EXPECT_EQ(fgd.score({0, 0, 0, 0}, Board(8'000, 0, {1000, 700, 300}).node).score, 50);
}

TEST(OnlinePolicy, RareClassesAreNotTypical) {
  const std::vector<bool> all{true};
  const OnlinePolicy fgd = policy(OnlinePolicyKind::kFgd, {{{0, 0, 1, 500}, 96, all}, {{0, 0, 1, 1000}, 4, all}});
  EXPECT_DOUBLE_EQ(fgd.fragmentation(Board(1'000, 0, {600}).node), 0);
}

}  // namespace
}  // namespace muster::policies
