// How many changes may be made now: a bucket of tokens that fills at a constant rate (J. Turner, "New directions in
// communications", 1986).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "model/base/require.h"

namespace muster::cli {

class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `tokens` for each `period`, which is also how many there are at first, and at most.
  Pace(double tokens, std::chrono::duration<double> period, Time now)
      : rate_(tokens / period.count()), most_(tokens), tokens_(tokens), filled_(now) {}

  // Whether `count` changes that belong together may be made at `now`; then they count. More than there ever are may be
  // made once it is full, and cost time afterwards.
  bool take(std::size_t count, Time now) {
    fill(now);
    const auto wanted = static_cast<double>(count);
    if (most_ <= 0 || tokens_ < std::min(wanted, most_)) return false;
    tokens_ -= wanted;
    return true;
  }

  // When as many will be there, at the earliest. Requires a rate above 0.
  Time when(std::size_t count, Time now) {
    MUSTER_REQUIRE(rate_ > 0);
    fill(now);
    const double missing = std::min(static_cast<double>(count), most_) - tokens_;
    if (missing <= 0) return now;
    return now + std::chrono::ceil<Time::duration>(std::chrono::duration<double>(missing / rate_));
  }

 private:
  void fill(Time now) {
    const std::chrono::duration<double> passed = now - filled_;
    if (passed.count() <= 0) return;
    tokens_ = std::min(most_, tokens_ + passed.count() * rate_);
    filled_ = now;
  }

  double rate_, most_, tokens_;
  Time filled_;
};

}  // namespace muster::cli
