#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/state/node_states.h"

namespace muster {
namespace {

std::vector<PodIndex> pods_of(const PodLists& lists, const PodLists::List& list) {
  const auto pods = lists.pods(list);
  return {pods.begin(), pods.end()};
}

TEST(PodLists, AListBeyondItsRoomGoesOnWithoutTouchingItsNeighbour) {
  PodLists lists;
  PodLists::List first = lists.make(1), second = lists.make(1);
  lists.add(second, PodIndex(100));
  for (std::uint32_t pod = 0; pod < 20; ++pod) lists.add(first, PodIndex(pod));
  ASSERT_EQ(lists.pods(first).size(), 20U);
  for (std::uint32_t pod = 0; pod < 20; ++pod) EXPECT_EQ(lists.pods(first)[pod], PodIndex(pod));
  EXPECT_EQ(pods_of(lists, second), std::vector{PodIndex(100)});
}

TEST(PodLists, KeepsTheOrderOfThoseThatStay) {
  PodLists lists;
  PodLists::List list = lists.make(0);
  for (const std::uint32_t pod : {7U, 3U, 9U, 1U}) lists.add(list, PodIndex(pod));
  lists.remove(list, PodIndex(3));
  EXPECT_EQ(pods_of(lists, list), (std::vector{PodIndex(7), PodIndex(9), PodIndex(1)}));
  lists.remove(list, PodIndex(1));
  lists.remove(list, PodIndex(7));
  lists.remove(list, PodIndex(9));
  EXPECT_TRUE(lists.pods(list).empty());
}

TEST(PodLists, IsAsManyVectors) {
  std::mt19937_64 random(3);
  PodLists lists;
  std::array<PodLists::List, 5> some;
  std::array<std::vector<PodIndex>, 5> expected;
  for (PodLists::List& list : some) list = lists.make(static_cast<std::uint32_t>(random() % 3));
  for (std::uint32_t step = 0; step < 2'000; ++step) {
    const std::size_t at = random() % some.size();
    if (expected[at].empty() || random() % 3 > 0) {
      lists.add(some[at], PodIndex(step));
      expected[at].emplace_back(step);
    } else {
      const PodIndex pod = expected[at][random() % expected[at].size()];
      lists.remove(some[at], pod);
      std::erase(expected[at], pod);
    }
    for (std::size_t i = 0; i < some.size(); ++i) ASSERT_EQ(pods_of(lists, some[i]), expected[i]) << "step " << step;
  }
}

}  // namespace
}  // namespace muster
