// The one timeout that a connection waits for; internal to io/http/server.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace muster::http {

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
