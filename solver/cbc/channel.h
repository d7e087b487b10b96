// Length-prefixed messages over one end of a socket pair, with a deadline on every call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::cbc {

using ChannelClock = std::chrono::steady_clock;  // CLOCK_MONOTONIC: the same in every process of the machine

enum class ChannelStatus : std::uint8_t {
  kDone,
  kLate,    // the deadline passed first
  kClosed,  // the other side is gone
  kGarbage  // what came is not a message
};

struct Message {
  std::uint32_t type = 0;
  std::vector<std::byte> content;
};

// Owns its file descriptor, which it makes non-blocking. After any result but kDone the position in the stream is
// unknown and the channel must not be used again. Never raises SIGPIPE. Cost: two system calls a message and one for
// each 200 kB or so.
class Channel {
 public:
  static constexpr std::uint64_t kLongest = std::uint64_t{4} << 30;  // bytes; more is taken for garbage

  explicit Channel(int file_descriptor);
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool is_hung_up() const;  // whether the other side is known to be gone; costs one system call, like the next
  bool is_idle() const;     // whether there is nothing to receive, not even the end
  ChannelStatus send(std::uint32_t type, std::span<const std::byte> content, ChannelClock::time_point deadline);
  ChannelStatus receive(Message& message, ChannelClock::time_point deadline);
  // Waits until one of them has something to receive, its end included. False: the deadline passed first.
  static bool wait_for_any(std::span<const Channel* const> channels, ChannelClock::time_point deadline);

 private:
  ChannelStatus write_all(std::span<const std::byte> bytes, ChannelClock::time_point deadline);
  ChannelStatus read_all(std::span<std::byte> bytes, ChannelClock::time_point deadline);
  ChannelStatus wait_for(short events, ChannelClock::time_point deadline);

  int file_descriptor_;
};

}  // namespace muster::cbc
