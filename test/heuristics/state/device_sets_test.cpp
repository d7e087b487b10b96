#include "heuristics/state/device_sets.h"

#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

using Devices = std::vector<std::int32_t>;

TEST(DeviceSets, ReturnsTheDevicesOfWhichASetWasMade) {
  DeviceSets sets;
  for (const Devices& devices : {Devices{}, Devices{0}, Devices{3, 30}, Devices{31}, Devices{0, 5, 31, 200}}) {
    EXPECT_EQ(sets.list_of(sets.set_of(devices)), DeviceList(devices));
  }
}

TEST(DeviceSets, VisitsDevicesInAscendingOrder) {
  DeviceSets sets;
  for (const Devices& devices : {Devices{1, 4, 30}, Devices{2, 40, 41}}) {
    Devices visited;
    sets.for_each(sets.set_of(devices), [&](std::int32_t device) { visited.push_back(device); });
    EXPECT_EQ(visited, devices);
  }
}

TEST(DeviceSets, ASetIsEqualToItsDevicesAlone) {
  DeviceSets sets;
  for (const Devices& devices : {Devices{1, 4}, Devices{1, 44}}) {
    const DeviceSet set = sets.set_of(devices);
    EXPECT_TRUE(sets.is_equal(set, devices));
    EXPECT_FALSE(sets.is_equal(set, Devices{1}));
    EXPECT_FALSE(sets.is_equal(set, Devices{1, 5}));
    EXPECT_FALSE(sets.is_equal(set, Devices{1, 4, 44}));
  }
}

TEST(DeviceSets, OnlyTheSetOfNoDevicesIsEmpty) {
  DeviceSets sets;
  EXPECT_TRUE(sets.set_of({}).empty());
  EXPECT_FALSE(sets.set_of(Devices{0}).empty());
  EXPECT_FALSE(sets.set_of(Devices{31}).empty());  // the first entry of the table
}

TEST(DeviceSets, EqualDevicesBeyondTheBitsAreOneEntryOfTheTable) {
  DeviceSets sets;
  const DeviceSet first = sets.set_of(Devices{7, 70}), other = sets.set_of(Devices{8, 70});
  EXPECT_NE(first.bits, other.bits);
  EXPECT_EQ(sets.set_of(Devices{7, 70}).bits, first.bits);
}

TEST(DeviceSets, ACopyReadsTheSetsOfTheOriginal) {
  DeviceSets sets;
  const DeviceSet set = sets.set_of(Devices{7, 70});
  const DeviceSets copy = sets;
  sets.set_of(Devices{9, 90});
  EXPECT_EQ(copy.list_of(set), (DeviceList{7, 70}));
}

}  // namespace
}  // namespace muster
