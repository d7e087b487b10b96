// How long a waking thread has to wait for a processor: the influence of the machine, and of other work on it, on a
// measurement.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include <sched.h>

namespace muster::bench {

// Wakes up every two milliseconds, on each core that the process may use, and notes by how much it is late: a core that
// stands still is seen, although the others run on. Costs about a thousandth of each.
class Stalls {
 public:
  Stalls() {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) CPU_ZERO(&usable);
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &usable))
        threads_.emplace_back([this, core](const std::stop_token& stop) { watch(core, stop); });
    }
  }

  // The longest since the last call. Milliseconds.
  double take_worst() { return worst_ms_.exchange(0); }

 private:
  void watch(int core, const std::stop_token& stop) {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(core, &here);
    sched_setaffinity(0, sizeof here, &here);  // of this thread
    while (!stop.stop_requested()) {
      const auto due = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
      std::this_thread::sleep_until(due);
      const std::chrono::duration<double, std::milli> late = std::chrono::steady_clock::now() - due;
      double worst = worst_ms_;
      while (late.count() > worst && !worst_ms_.compare_exchange_weak(worst, late.count())) {
      }
    }
  }

  std::atomic<double> worst_ms_ = 0;
  std::vector<std::jthread> threads_;  // end before the rest
};

}  // namespace muster::bench
