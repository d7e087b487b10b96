#include "solver/cbc/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace muster::cbc {

namespace {

constexpr std::uint32_t kMagic = 0x4d535452;  // marks a message: other data may be written to the descriptor

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t type = 0;
  std::uint64_t length = 0;
};
static_assert(sizeof(Header) == 16);

}  // namespace

Channel::Channel(int file_descriptor) : file_descriptor_(file_descriptor) {
  const int flags = ::fcntl(file_descriptor_, F_GETFL);
  if (flags >= 0) ::fcntl(file_descriptor_, F_SETFL, flags | O_NONBLOCK);
}

Channel::~Channel() {
  if (file_descriptor_ >= 0) ::close(file_descriptor_);
}

Channel::Channel(Channel&& other) noexcept : file_descriptor_(std::exchange(other.file_descriptor_, -1)) {}

Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(file_descriptor_, other.file_descriptor_);
  return *this;
}

bool Channel::is_hung_up() const {
  pollfd descriptor{file_descriptor_, 0, 0};
  return ::poll(&descriptor, 1, 0) != 0;  // without events except those that are always reported: error and hang-up
}

bool Channel::is_idle() const {
  pollfd descriptor{file_descriptor_, POLLIN, 0};
  return ::poll(&descriptor, 1, 0) == 0;
}

ChannelStatus Channel::send(std::uint32_t type, std::span<const std::byte> content, ChannelClock::time_point deadline) {
  Header header;
  header.type = type;
  header.length = content.size();
  std::array<std::byte, sizeof(Header)> prefix;
  std::memcpy(prefix.data(), &header, sizeof header);
  const ChannelStatus status = write_all(prefix, deadline);
  return status == ChannelStatus::kDone ? write_all(content, deadline) : status;
}

ChannelStatus Channel::receive(Message& message, ChannelClock::time_point deadline) {
  std::array<std::byte, sizeof(Header)> prefix;
  const ChannelStatus status = read_all(prefix, deadline);
  if (status != ChannelStatus::kDone) return status;
  Header header;
  std::memcpy(&header, prefix.data(), sizeof header);
  if (header.magic != kMagic || header.length > kLongest) return ChannelStatus::kGarbage;
  message.type = header.type;
  message.content.clear();
  // Grown as the bytes arrive: a wrong length must not cost its memory.
  constexpr std::uint64_t kPiece = 16 << 20;
  while (message.content.size() < header.length) {
    const std::size_t begin = message.content.size();
    message.content.resize(begin + static_cast<std::size_t>(std::min(kPiece, header.length - begin)));
    const ChannelStatus piece = read_all(std::span(message.content).subspan(begin), deadline);
    if (piece != ChannelStatus::kDone) return piece;
  }
  return ChannelStatus::kDone;
}

bool Channel::wait_for_any(std::span<const Channel* const> channels, ChannelClock::time_point deadline) {
  std::vector<pollfd> descriptors;
  for (const Channel* channel : channels) descriptors.push_back({channel->file_descriptor_, POLLIN, 0});
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - ChannelClock::now()).count();
    const int ready = ::poll(descriptors.data(), descriptors.size(), static_cast<int>(std::max<std::int64_t>(0, left)));
    if (ready > 0) return true;
    if (ready == 0 && ChannelClock::now() >= deadline) return false;
    if (ready < 0 && errno != EINTR) return true;  // receive() reports it
  }
}

ChannelStatus Channel::write_all(std::span<const std::byte> bytes, ChannelClock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(file_descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      const ChannelStatus status = wait_for(POLLOUT, deadline);
      if (status != ChannelStatus::kDone) return status;
    } else if (errno != EINTR) {
      return ChannelStatus::kClosed;
    }
  }
  return ChannelStatus::kDone;
}

ChannelStatus Channel::read_all(std::span<std::byte> bytes, ChannelClock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t count = ::recv(file_descriptor_, bytes.data(), bytes.size(), 0);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count == 0) {
      return ChannelStatus::kClosed;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      const ChannelStatus status = wait_for(POLLIN, deadline);
      if (status != ChannelStatus::kDone) return status;
    } else if (errno != EINTR) {
      return ChannelStatus::kClosed;
    }
  }
  return ChannelStatus::kDone;
}

// kDone also when the other side has hung up: the next read or write reports it.
ChannelStatus Channel::wait_for(short events, ChannelClock::time_point deadline) {
  for (;;) {
    timespec timeout{};
    if (deadline != ChannelClock::time_point::max()) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - ChannelClock::now()).count();
      if (left <= 0) return ChannelStatus::kLate;
      timeout.tv_sec = static_cast<std::time_t>(left / 1'000'000'000);
      timeout.tv_nsec = static_cast<long>(left % 1'000'000'000);
    }
    pollfd descriptor{file_descriptor_, events, 0};
    const int ready =
        ::ppoll(&descriptor, 1, deadline == ChannelClock::time_point::max() ? nullptr : &timeout, nullptr);
    if (ready > 0) return ChannelStatus::kDone;
    if (ready < 0 && errno != EINTR) return ChannelStatus::kClosed;
  }
}

}  // namespace muster::cbc
