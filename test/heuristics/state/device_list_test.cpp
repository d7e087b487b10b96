#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/state/device_sets.h"

namespace muster {
namespace {

std::vector<std::int32_t> first_devices(std::size_t count) {
  std::vector<std::int32_t> devices(count);
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

TEST(DeviceList, HoldsAsManyAsThereAre) {
  for (const std::size_t count : {0U, 1U, 8U, 9U, 72U}) {
    const DeviceList list(first_devices(count));
    EXPECT_EQ(list.size(), count);
    EXPECT_EQ(list.empty(), count == 0);
    EXPECT_EQ(std::vector<std::int32_t>(list), first_devices(count));
  }
}

TEST(DeviceList, ACopyIsItsOwn) {
  for (const std::size_t count : {3U, 20U}) {
    DeviceList list(first_devices(count));
    const DeviceList copy = list;
    list = {7};
    EXPECT_EQ(std::vector<std::int32_t>(copy), first_devices(count));
    EXPECT_EQ(list, DeviceList{7});
    EXPECT_FALSE(list == copy);
    list = copy;
    EXPECT_EQ(list, copy);
  }
}

TEST(DeviceList, AMovedOneLeavesNothingBehind) {
  for (const std::size_t count : {0U, 3U, 20U}) {
    DeviceList list(first_devices(count));
    DeviceList moved = std::move(list);
    EXPECT_EQ(std::vector<std::int32_t>(moved), first_devices(count));
    list = {4, 5};
    list = std::move(moved);
    EXPECT_EQ(std::vector<std::int32_t>(list), first_devices(count));
  }
}

}  // namespace
}  // namespace muster
