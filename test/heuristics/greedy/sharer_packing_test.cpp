#include "heuristics/greedy/sharer_packing.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace muster::greedy {
namespace {

TEST(SharerPacking, PutsTheLargestFirstOnTheTightestDevice) {
  // Seven 0.3 fill 2 devices except 0.1 each, and one has 0.3 alone; both 0.7 are first.
  const SharerPacking packing = pack_sharers({{700'000, 2}, {300'000, 9}, {50'000, 1}});
  EXPECT_EQ(packing.idle, 100'000 + 50'000 + 700'000);
  EXPECT_EQ(packing.on_idle, (SharerCounts{{300'000, 7}, {50'000, 1}}));
}

TEST(SharerPacking, HasNothingIdleWhereAllFitEachOther) {
  const SharerPacking packing = pack_sharers({{750'000, 100}, {500'000, 4}, {250'000, 100}, {200'000, 10}});
  EXPECT_EQ(packing.idle, 0);
  EXPECT_TRUE(packing.on_idle.empty());
}

TEST(SharerPacking, CountsWholeDevicesAndNothing) {
  EXPECT_EQ(pack_sharers({{1'000'000, 3}}).idle, 0);
  EXPECT_EQ(pack_sharers({}).idle, 0);
}

TEST(SharerPacking, ReportsTheLastPodsThatAreTooMany) {
  std::vector<SharerGang> gangs;
  for (std::size_t i = 0; i < 20; ++i) gangs.push_back({i, 750'000, 2});
  for (std::size_t i = 20; i < 30; ++i) gangs.push_back({i, 250'000, 2});
  std::vector<std::size_t> surplus = surplus_sharers(gangs);
  std::ranges::sort(surplus);
  EXPECT_EQ(surplus, (std::vector<std::size_t>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
}

TEST(SharerPacking, KeepsGangsThatAreMoreThanTooMany) {
  // One of the two is too many, but they come and go together.
  const std::vector<SharerGang> gangs{{0, 750'000, 2}, {1, 250'000, 1}};
  EXPECT_TRUE(surplus_sharers(gangs).empty());
}

TEST(SharerPacking, ReportsPodsOfSeveralSizesThatFillADeviceWithNoOther) {
  // Without one of the two, more would be idle.
  const std::vector<SharerGang> gangs{{0, 500'000, 2}, {1, 700'000, 1}, {2, 250'000, 1}};
  std::vector<std::size_t> surplus = surplus_sharers(gangs);
  std::ranges::sort(surplus);
  EXPECT_EQ(surplus, (std::vector<std::size_t>{1, 2}));
}

TEST(SharerPacking, LeavesOutNoPodIfNothingIsIdle) {
  const std::vector<SharerGang> gangs{{0, 500'000, 4}, {1, 250'000, 4}};
  EXPECT_TRUE(surplus_sharers(gangs).empty());
}

}  // namespace
}  // namespace muster::greedy
