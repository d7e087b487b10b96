// The parts of a connection that do input and output, on a pair of sockets.
#include <array>
#include <chrono>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/http/client_watch.h"
#include "io/http/output_queue.h"

namespace muster::http {
namespace {

class SocketPair : public testing::Test {
 protected:
  SocketPair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    server.assign(boost::asio::generic::stream_protocol(AF_UNIX, 0), ends[0]);
    server.non_blocking(true);
    client = ends[1];
  }
  ~SocketPair() override {
    if (client >= 0) ::close(client);
  }
  std::string received() const {
    std::array<char, 256> bytes{};
    const ssize_t got = ::recv(client, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
  }
  void close_client() { ::close(std::exchange(client, -1)); }

  boost::asio::io_context io;
  StreamSocket server{io};
  int client = -1;
};

using OutputQueueTest = SocketPair;
TEST_F(OutputQueueTest, WritesPiecesInOrderAndConfirmsThem) {
  OutputQueue queue(server);
  int confirmed = 0, written = 0;
  queue.add("a");
  queue.add("bc", [&] { ++confirmed; });
  queue.write([&](const SocketError& error) {
    EXPECT_FALSE(error);
    ++written;
    EXPECT_EQ(confirmed, 0);
    queue.confirm();
  });
  queue.add("later");
  EXPECT_TRUE(queue.is_writing());
  io.run();
  EXPECT_EQ(received(), "abc");
  EXPECT_EQ(written, 1);
  EXPECT_EQ(confirmed, 1);
  EXPECT_FALSE(queue.is_writing());
  EXPECT_TRUE(queue.has_waiting()) << "what came during the write waits for the next";
  queue.drop_waiting();
  EXPECT_FALSE(queue.has_waiting());
}

TEST_F(OutputQueueTest, ReportsAClientThatHasGone) {
  close_client();
  OutputQueue queue(server);
  queue.add("a");
  bool has_failed = false;
  queue.write([&](const SocketError& error) { has_failed = static_cast<bool>(error); });
  io.run();
  EXPECT_TRUE(has_failed);
}

using ClientWatchTest = SocketPair;
TEST_F(ClientWatchTest, NoticesThatTheClientCloses) {
  ClientWatch watch(server, true);
  int stirred = 0;
  watch.begin([&] { ++stirred; });
  watch.begin([&] { ++stirred; });
  EXPECT_FALSE(watch.has_left());
  close_client();
  io.run();
  EXPECT_EQ(stirred, 1) << "a second watch next to the first does nothing";
  EXPECT_TRUE(watch.has_left());
}

TEST_F(ClientWatchTest, TakesFurtherInputForNoEndAndLeavesItThere) {
  ClientWatch watch(server, true);
  watch.begin([] {});
  ASSERT_EQ(::send(client, "x", 1, 0), 1);
  io.run();
  EXPECT_FALSE(watch.has_left());
  char byte = 0;
  EXPECT_EQ(::recv(server.native_handle(), &byte, 1, MSG_DONTWAIT), 1);
}

TEST_F(ClientWatchTest, TellsTheEndOfSendingFromClosingOnAUnixSocketOnly) {
  ::shutdown(client, SHUT_WR);
  EXPECT_FALSE(ClientWatch(server, true).has_left());
  EXPECT_TRUE(ClientWatch(server, false).has_left());
}

TEST(Alarm, RingsForTheLastTimeThatWasSetOnly) {
  boost::asio::io_context io;
  Alarm alarm(io);
  std::string rung;
  alarm.set(std::chrono::milliseconds(1), [&] { rung += 'a'; });
  alarm.set(std::chrono::milliseconds(2), [&] { rung += 'b'; });
  io.run();
  EXPECT_EQ(rung, "b");
}

TEST(Alarm, DoesNotRingOnceItIsCancelled) {
  boost::asio::io_context io;
  Alarm alarm(io);
  bool has_rung = false;
  alarm.set(std::chrono::milliseconds(0), [&] { has_rung = true; });
  alarm.cancel();
  io.run();
  EXPECT_FALSE(has_rung);
}

TEST(BodyShare, CountsAgainstAllAndGivesBackAtItsEnd) {
  const auto total = std::make_shared<std::atomic<std::size_t>>(0);
  BodyShare first(total);
  EXPECT_TRUE(first.grow_to(100, 50)) << "one alone may be larger than the limit";
  {
    BodyShare second(total);
    EXPECT_FALSE(second.grow_to(1, 50));
    first.release();
    EXPECT_TRUE(second.grow_to(30, 50));
    EXPECT_FALSE(first.grow_to(21, 50));
    EXPECT_TRUE(first.grow_to(20, 50));
    EXPECT_EQ(*total, 50U);
  }
  EXPECT_EQ(*total, 20U);
}

}  // namespace
}  // namespace muster::http
