#include "model/base/block_vector.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

using Numbers = BlockVector<std::unique_ptr<std::size_t>>;  // what can only be moved
constexpr std::size_t kBlock = Numbers::kBlock;

Numbers numbers(std::size_t first, std::size_t count) {
  Numbers all;
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_EQ(*all.push_back(std::make_unique<std::size_t>(first + i)), first + i);
  return all;
}

std::vector<std::size_t> told_by(const Numbers& all) {
  std::vector<std::size_t> found;
  for (const auto& number : all) found.push_back(*number);
  EXPECT_EQ(found.size(), all.size());
  EXPECT_EQ(all.empty(), found.empty());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(*all[i], found[i]);
  if (!found.empty()) {
    EXPECT_EQ(*all.back(), found.back());
  }
  return found;
}

std::vector<std::size_t> up_to(std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

TEST(BlockVector, KeepsTheOrderOfWhatIsPushed) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock + 7})
    EXPECT_EQ(told_by(numbers(0, count)), up_to(count));
}

TEST(BlockVector, JoinsWholeBlocksAndRests) {
  for (const std::size_t first : {std::size_t{0}, kBlock, kBlock + 5, 2 * kBlock}) {
    for (const std::size_t second : {std::size_t{0}, std::size_t{3}, kBlock, 2 * kBlock + 1}) {
      Numbers all = numbers(0, first), rest = numbers(first, second);
      all.append(std::move(rest));
      EXPECT_TRUE(rest.empty());  // NOLINT(bugprone-use-after-move): this is what is promised
      EXPECT_EQ(told_by(all), up_to(first + second));
      all.push_back(std::make_unique<std::size_t>(first + second));
      EXPECT_EQ(told_by(all), up_to(first + second + 1));
    }
  }
}

TEST(BlockVector, DropsItsEnd) {
  for (const std::size_t kept : {2 * kBlock + 3, 2 * kBlock, 2 * kBlock - 1, kBlock, std::size_t{1}, std::size_t{0}}) {
    Numbers all = numbers(0, 2 * kBlock + 3);
    all.truncate(kept);
    EXPECT_EQ(told_by(all), up_to(kept));
  }
}

TEST(BlockVector, ErasesWhatATestPicks) {
  Numbers all = numbers(0, 3 * kBlock);
  all.erase_if([](const auto& number) { return *number % 3 != 1; });
  std::vector<std::size_t> expected;
  for (std::size_t i = 1; i < 3 * kBlock; i += 3) expected.push_back(i);
  EXPECT_EQ(told_by(all), expected);
  all.erase_if([](const auto&) { return true; });
  EXPECT_EQ(told_by(all), up_to(0));
}

}  // namespace
}  // namespace muster
