// How long there is: a point in time, or, in deterministic mode, no clock at all.
#pragma once

#include <algorithm>
#include <chrono>

namespace muster {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  // `deterministic`: never passed; work limits take the clock's place.
  Deadline(Clock::time_point at, bool deterministic) : at_(at), deterministic_(deterministic) {}

  bool is_deterministic() const { return deterministic_; }
  bool passed() const { return !deterministic_ && Clock::now() >= at_; }
  // What is left, at most an hour, at least nothing.
  Clock::duration left() const {
    constexpr Clock::duration kHour = std::chrono::hours(1);
    if (deterministic_) return kHour;
    const Clock::time_point now = Clock::now();
    return at_ <= now ? Clock::duration::zero() : std::min<Clock::duration>(kHour, at_ - now);
  }
  // A point by which a share of what is left has gone by.
  Clock::time_point after(double share) const {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(left() * share);
  }

  // The end of that share; and one that is so much earlier.
  Deadline part(double share) const { return {after(share), deterministic_}; }
  Deadline earlier_by(Clock::duration time) const { return {at_ - time, deterministic_}; }

 private:
  Clock::time_point at_;
  bool deterministic_;
};

}  // namespace muster
