// How long a thread that only wants to wake up has to wait for a processor: what the machine, and other work on it,
// take from a measurement.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

namespace muster::bench {

// Wakes up every two milliseconds and notes by how much it is late. Costs about a thousandth of a core.
class Stalls {
 public:
  Stalls()
      : thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            const auto due = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
            std::this_thread::sleep_until(due);
            const std::chrono::duration<double, std::milli> late = std::chrono::steady_clock::now() - due;
            worst_ms_ = std::max<double>(worst_ms_, late.count());
          }
        }) {}

  // The longest since the last call. Milliseconds.
  double take_worst() { return worst_ms_.exchange(0); }

 private:
  std::atomic<double> worst_ms_ = 0;
  std::jthread thread_;  // ends before the rest
};

}  // namespace muster::bench
