// Whether the client of a connection still waits for its answer; internal to io/http/server.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace muster::http {

// The socket of a connection, TCP or Unix; internal to io/http/server.h.
using StreamSocket = boost::asio::generic::stream_protocol::socket;
using SocketError = boost::system::error_code;

class ClientWatch {
 public:
  // `is_unix`: a Unix socket, on which a client that has only ended sending differs from one that has closed.
  ClientWatch(StreamSocket& socket, bool is_unix) : socket_(socket), is_unix_(is_unix) {}

  // Calls `stirs` once, when the client closes its side or sends more; not if the socket is closed before. Does nothing
  // while an earlier call still waits. Requires that `stirs` keeps the watch and the socket alive.
  void begin(std::function<void()> stirs);
  // Whether the client has closed its side. What it sends instead is left for later.
  bool has_left();

 private:
  StreamSocket& socket_;
  const bool is_unix_;
  bool is_watching_ = false;
};

// The one timeout that a connection waits for; internal to io/http/server.h.
//
// An alarm that is set again or cancelled does not ring for the earlier time, even if that has passed already and its
// handler waits to run. Requires that `ring` keeps the alarm alive.
class Alarm {
 public:
  explicit Alarm(boost::asio::io_context& io) : timer_(io) {}

  void set(std::chrono::milliseconds after, std::function<void()> ring) {
    timer_.expires_after(after);
    timer_.async_wait([this, generation = ++generation_, ring = std::move(ring)](const auto& cancelled) {
      if (!cancelled && generation == generation_) ring();
    });
  }
  void cancel() {
    ++generation_;
    timer_.cancel();
  }

 private:
  boost::asio::steady_timer timer_;
  std::uint64_t generation_ = 0;
};

}  // namespace muster::http
