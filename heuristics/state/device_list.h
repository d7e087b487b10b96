// The devices that one pod takes: a short list that needs no allocation for up to eight of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace muster {

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

}  // namespace muster
