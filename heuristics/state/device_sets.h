// The devices of one node that a pod holds, in 32 bits.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "heuristics/state/device_list.h"
#include "model/base/index.h"

namespace muster {

// A bit for each device or, on nodes with more devices than bits, a position in the table of DeviceSets.
struct DeviceSet {
  std::uint32_t bits = 0;
  bool empty() const { return bits == 0; }
};

// The place of a pod, in eight bytes: a state has one for each pod.
struct CompactPlace {
  NodeIndex node;  // none: the pod is not present
  DeviceSet devices;
};

// Makes and reads sets. A set is read by the object that made it, or by a copy of that.
class DeviceSets {
 public:
  static constexpr std::int32_t kBits = 31;  // devices that have a bit; the last of the 32 bits marks a position

  // Requires ascending devices. Threads may call it at the same time only if all devices have a bit. Cost: O(devices),
  // and O(devices x log of the table's size) if one of them has no bit.
  DeviceSet set_of(std::span<const std::int32_t> devices);
  // Ascending.
  DeviceList list_of(DeviceSet set) const;
  bool is_equal(DeviceSet set, std::span<const std::int32_t> devices) const;
  // Calls visit(device) in ascending order.
  template <class Visit>
  void for_each(DeviceSet set, const Visit& visit) const {
    if ((set.bits & kListed) != 0) {
      for (const std::int32_t device : lists_[set.bits & ~kListed]) visit(device);
      return;
    }
    for (std::uint32_t left = set.bits; left != 0; left &= left - 1) visit(std::countr_zero(left));
  }

 private:
  static constexpr std::uint32_t kListed = std::uint32_t{1} << kBits;

  std::vector<DeviceList> lists_;  // all different
  std::map<std::vector<std::int32_t>, std::uint32_t> position_of_;
};

}  // namespace muster
