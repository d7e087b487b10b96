// A time after which something happens, once; internal to this folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace muster::api_server {

// Set again or cancelled, it does not ring for the earlier time, even if that has passed and its handler waits to run.
// The end of the timer cancels it, so that `ring` may refer to its owner.
class Timer {
 public:
  explicit Timer(boost::asio::io_context& io) : state_(std::make_shared<State>(io)) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void after(std::chrono::milliseconds time, std::function<void()> ring) {
    state_->timer.expires_after(time);
    state_->timer.async_wait([state = std::weak_ptr(state_), generation = ++state_->generation,
                              ring = std::move(ring)](const auto& cancelled) {
      const auto now = state.lock();
      if (cancelled || !now || now->generation != generation) return;
      ring();
    });
  }
  void cancel() {
    ++state_->generation;
    state_->timer.cancel();
  }

 private:
  struct State {
    explicit State(boost::asio::io_context& io) : timer(io) {}
    boost::asio::steady_timer timer;
    std::uint64_t generation = 0;
  };
  std::shared_ptr<State> state_;
};

// The time, as the owner of these classes gives it: nothing in io/ reads a clock itself.
//
// Steady; `std::chrono::steady_clock::now` in the program, anything in tests.
using Clock = std::function<std::chrono::steady_clock::time_point()>;

}  // namespace muster::api_server
