// The devices of one node that a pod holds, in 32 bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/base/index.h"

namespace muster {

// The devices that one pod takes: a short list that needs no allocation for up to eight of them.
//
// Positions on the node. Converts from and to the representation in plans and problems. Cost of a copy: O(devices).
class DeviceList {
 public:
  using value_type = std::int32_t;

  DeviceList() = default;
  DeviceList(std::span<const std::int32_t> devices) { assign(devices); }
  DeviceList(const std::vector<std::int32_t>& devices) { assign(devices); }
  DeviceList(std::initializer_list<std::int32_t> devices) { assign({devices.begin(), devices.size()}); }
  DeviceList(const DeviceList& other) { assign(other); }
  DeviceList(DeviceList&& other) noexcept { take(other); }
  DeviceList& operator=(const DeviceList& other) {
    if (this != &other) assign(other);
    return *this;
  }
  DeviceList& operator=(DeviceList&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~DeviceList() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::int32_t* data() const { return many_ ? many_.get() : few_.data(); }
  const std::int32_t* begin() const { return data(); }
  const std::int32_t* end() const { return data() + size_; }
  std::int32_t operator[](std::size_t position) const { return data()[position]; }
  operator std::vector<std::int32_t>() const { return {begin(), end()}; }

  friend bool operator==(const DeviceList& a, const DeviceList& b) { return std::ranges::equal(a, b); }

 private:
  void assign(std::span<const std::int32_t> devices) {
    many_ = devices.size() > few_.size() ? std::make_unique<std::int32_t[]>(devices.size()) : nullptr;
    size_ = static_cast<std::uint32_t>(devices.size());
    std::ranges::copy(devices, many_ ? many_.get() : few_.data());
  }

  void take(DeviceList& other) noexcept {
    many_ = std::move(other.many_);
    size_ = std::exchange(other.size_, 0);
    if (!many_) std::copy_n(other.few_.data(), size_, few_.data());
  }

  std::uint32_t size_ = 0;
  std::array<std::int32_t, 8> few_;
  std::unique_ptr<std::int32_t[]> many_;  // if there are more than fit into few_
};

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
