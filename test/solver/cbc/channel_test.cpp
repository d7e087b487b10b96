#include "solver/cbc/channel.h"

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace muster::cbc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ChannelClock::time_point in(ChannelClock::duration time) { return ChannelClock::now() + time; }

// Both ends; the second as a bare descriptor, to be misused.
struct Ends {
  Ends() {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    here = Channel(pair[0]);
    there = pair[1];
  }
  Channel here{-1};
  int there = -1;
};

TEST(Channel, DeliversMessagesInTheirOrder) {
  Ends ends;
  Channel there(ends.there);
  const std::vector<std::byte> content{std::byte{1}, std::byte{2}};
  ASSERT_EQ(there.send(7, content, in(seconds(5))), ChannelStatus::kDone);
  ASSERT_EQ(there.send(8, {}, in(seconds(5))), ChannelStatus::kDone);
  Message message;
  ASSERT_EQ(ends.here.receive(message, in(seconds(5))), ChannelStatus::kDone);
  EXPECT_EQ(message.type, 7U);
  EXPECT_EQ(message.content, content);
  ASSERT_EQ(ends.here.receive(message, in(seconds(5))), ChannelStatus::kDone);
  EXPECT_EQ(message.type, 8U);
  EXPECT_TRUE(message.content.empty());
}

TEST(Channel, DeliversWhatIsLargerThanAnyBuffer) {
  Ends ends;
  Channel there(ends.there);
  std::vector<std::byte> content(std::size_t{40} << 20);
  for (std::size_t position = 0; position < content.size(); ++position) {
    content[position] = static_cast<std::byte>(position * 7);
  }
  std::thread sender([&] { EXPECT_EQ(there.send(1, content, in(seconds(60))), ChannelStatus::kDone); });
  Message message;
  EXPECT_EQ(ends.here.receive(message, in(seconds(60))), ChannelStatus::kDone);
  sender.join();
  EXPECT_TRUE(message.content == content);
}

TEST(Channel, IsLateWhenNothingComes) {
  Ends ends;
  Message message;
  EXPECT_EQ(ends.here.receive(message, in(milliseconds(10))), ChannelStatus::kLate);
  ::close(ends.there);
}

TEST(Channel, IsLateWhenAMessageStopsHalfway) {
  Ends ends;
  ASSERT_EQ(::write(ends.there, "RTSM\1\0", 6), 6);
  Message message;
  EXPECT_EQ(ends.here.receive(message, in(milliseconds(10))), ChannelStatus::kLate);
  ::close(ends.there);
}

TEST(Channel, TimesOutWithoutAReader) {
  Ends ends;
  const std::vector<std::byte> content(std::size_t{40} << 20);
  EXPECT_EQ(ends.here.send(1, content, in(milliseconds(20))), ChannelStatus::kLate);
  ::close(ends.there);
}

TEST(Channel, IsClosedWhenTheOtherSideIs) {
  Ends ends;
  EXPECT_TRUE(ends.here.is_idle());
  EXPECT_FALSE(ends.here.is_hung_up());
  ::close(ends.there);
  EXPECT_TRUE(ends.here.is_hung_up());
  EXPECT_FALSE(ends.here.is_idle());
  Message message;
  EXPECT_EQ(ends.here.receive(message, in(seconds(5))), ChannelStatus::kClosed);
  EXPECT_EQ(ends.here.send(1, {}, in(seconds(5))), ChannelStatus::kClosed);  // and no signal
}

TEST(Channel, TakesBytesWithoutTheMarkForGarbage) {
  Ends ends;
  ASSERT_EQ(::write(ends.there, "0123456789abcdef", 16), 16);
  Message message;
  EXPECT_EQ(ends.here.receive(message, in(seconds(5))), ChannelStatus::kGarbage);
  ::close(ends.there);
}

TEST(Channel, TakesAnImpossibleLengthForGarbage) {
  Ends ends;
  std::array<char, 16> header{'R', 'T', 'S', 'M', 1};
  const std::uint64_t length = Channel::kLongest + 1;
  std::memcpy(header.data() + 8, &length, sizeof length);
  ASSERT_EQ(::write(ends.there, header.data(), header.size()), 16);
  Message message;
  EXPECT_EQ(ends.here.receive(message, in(seconds(5))), ChannelStatus::kGarbage);
  ::close(ends.there);
}

}  // namespace
}  // namespace muster::cbc
