// The pool that keeps a snapshot's characters.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {
namespace {

std::string pooled_text(std::size_t i) {
  return std::string(i % 5000 == 0 ? 700'000 : i % 97, static_cast<char>('a' + i % 26)) + std::to_string(i);
}

TEST(StringPool, KeepsViewsValidWhileItGrows) {
  StringPool pool;
  std::vector<std::string_view> views;
  for (std::size_t i = 0; i < 20'000; ++i) views.push_back(pool.store(pooled_text(i)));
  for (std::size_t i = 0; i < views.size(); ++i) ASSERT_EQ(views[i], pooled_text(i));
}

TEST(StringPool, KeepsViewsValidWhenItIsMoved) {
  StringPool pool;
  const std::string_view before = pool.store("before");
  StringPool moved = std::move(pool);
  const std::string_view after = moved.store("after");
  EXPECT_EQ(before, "before");
  EXPECT_EQ(after, "after");
}

TEST(StringPool, CanBeUsedAgainAfterItWasMovedFrom) {
  StringPool pool;
  static_cast<void>(pool.store("before"));
  const StringPool moved = std::move(pool);
  EXPECT_EQ(pool.store("again"), "again");  // NOLINT(bugprone-use-after-move): this is what is promised
}

TEST(StringPool, KeepsViewsOfAPoolThatItTakesOver) {
  std::vector<std::string_view> views;
  StringPool all;
  for (std::size_t part = 0; part < 4; ++part) {
    StringPool pool;
    for (std::size_t i = 0; i < 1'000; ++i) {
      views.push_back(pool.store(pooled_text(views.size())));
      if (part % 2 == 1) views.push_back(all.store(pooled_text(views.size())));
    }
    all.take(std::move(pool));
    EXPECT_EQ(pool.store("again"), "again");  // NOLINT(bugprone-use-after-move): this is what is promised
  }
  for (std::size_t i = 0; i < views.size(); ++i) ASSERT_EQ(views[i], pooled_text(i));
}

TEST(StringPool, TakesEmptyAndBinaryText) {
  StringPool pool;
  EXPECT_EQ(pool.store(""), "");
  const std::string zeros(3, '\0');
  EXPECT_EQ(pool.store(zeros), zeros);
}

}  // namespace
}  // namespace muster::muster_v1
