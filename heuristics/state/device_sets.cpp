#include "heuristics/state/device_sets.h"

#include <algorithm>
#include <array>

#include "model/base/require.h"

namespace muster {

DeviceSet DeviceSets::set_of(std::span<const std::int32_t> devices) {
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(devices));
  DeviceSet set;
  for (const std::int32_t device : devices) {
    if (device >= kBits) {
      const auto next = static_cast<std::uint32_t>(lists_.size());
      const auto [at, is_new] = position_of_.try_emplace({devices.begin(), devices.end()}, next);
      if (is_new) lists_.emplace_back(devices);
      return {kListed | at->second};
    }
    set.bits |= std::uint32_t{1} << device;
  }
  return set;
}

DeviceList DeviceSets::list_of(DeviceSet set) const {
  if ((set.bits & kListed) != 0) return lists_[set.bits & ~kListed];
  std::array<std::int32_t, kBits> devices;
  std::size_t count = 0;
  for_each(set, [&](std::int32_t device) { devices[count++] = device; });
  return std::span<const std::int32_t>(devices.data(), count);
}

bool DeviceSets::is_equal(DeviceSet set, std::span<const std::int32_t> devices) const {
  std::size_t i = 0;
  bool is_equal = true;
  for_each(set, [&](std::int32_t device) {
    is_equal = is_equal && i < devices.size() && devices[i] == device;
    ++i;
  });
  return is_equal && i == devices.size();
}

}  // namespace muster
