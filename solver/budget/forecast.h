// The time that the end of a cycle will take, learnt from the previous cycles. All times in milliseconds.
#pragma once

#include <algorithm>
#include <cstdint>

namespace muster {

// The time per item for a varying number of items: rises immediately, falls by halves.
class LearntRate {
 public:
  explicit LearntRate(double nanoseconds_each = 0) : nanoseconds_each_(nanoseconds_each) {}
  double of(std::int64_t things) const { return nanoseconds_each_ * static_cast<double>(things) / 1e6; }
  void learn(std::int64_t things, double milliseconds) {
    if (things < kFew) return;  // with so few, the rate does not carry over
    const double measured = 1e6 * milliseconds / static_cast<double>(things);
    nanoseconds_each_ = std::max(measured, (nanoseconds_each_ + measured) / 2);
  }

 private:
  static constexpr std::int64_t kFew = 1'000;
  double nanoseconds_each_;
};

// The time for the end of a line, from when the last engine has finished or its time is up: the return from that engine
// and its cleanup, then the referee, the report and everything else that reads the plan, in proportion to pods and
// nodes. The times of previous lines are the best estimate; for the first line, it is twice the time measured for the
// slowest kind (clusters of 10,000 nodes, half occupied).
//
// Reasons are written as long as there is time, and a search with too little time leaves more pending gangs to write
// reasons for. So reasons are counted separately, and get only a small part of the time: else each line would leave the
// search less than the one before.
class EndForecast {
 public:
  // For a line with this many pods and nodes, and this total time.
  double of(std::int64_t looks, double whole_ms) const {
    return coming_back_ms_ + kMargin * all_but_reasons_.of(looks) +
           std::min(kMargin * reasons_.of(looks), kMostForReasons * whole_ms);
  }

  // From when greedy is asked to stop until it has finished.
  double stopping(std::int64_t looks) const { return kMargin * stopping_.of(looks); }
  void learn_stopping(std::int64_t looks, double milliseconds) { stopping_.learn(looks, milliseconds); }

  void learn_coming_back(double milliseconds) {
    coming_back_ms_ = std::clamp(std::max(milliseconds, (coming_back_ms_ + milliseconds) / 2), kLeast, kMost);
  }
  void learn(std::int64_t looks, double all_but_reasons_ms, double reasons_ms) {
    all_but_reasons_.learn(looks, all_but_reasons_ms);
    reasons_.learn(looks, reasons_ms);
  }

 private:
  static constexpr double kMargin = 1.75, kFirst = 300, kFirstStopping = 100, kMostForReasons = 0.1;
  static constexpr double kLeast = 2, kMost = 10;  // milliseconds; more is the machine's doing, not the engine's
  LearntRate all_but_reasons_{kFirst}, reasons_, stopping_{kFirstStopping};
  double coming_back_ms_ = kLeast;
};

// To write the reason why a gang stays pending: 300 bytes at 500 MB/s (one thread was measured at 550 to 800).
inline constexpr double kToWriteAReason = 0.0006;

// The time to write the report on a plan, in proportion to gangs and queues, without reasons: the writer of reasons
// keeps time for this. For the first line, twice what was measured. A fixed part is for waking the writing thread.
class WritingForecast {
 public:
  double of(std::int64_t things) const { return kWaking + kMargin * rate_.of(things); }
  void learn(std::int64_t things, std::int64_t reasons, double milliseconds) {
    rate_.learn(things, std::max(0.0, milliseconds - kToWriteAReason * static_cast<double>(reasons)));
  }

 private:
  static constexpr double kWaking = 0.2, kMargin = 2, kFirst = 250;
  LearntRate rate_{kFirst};
};

}  // namespace muster
