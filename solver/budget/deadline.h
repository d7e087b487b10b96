// The available time: a point in time or, in deterministic mode, a limit of counted work and no clock at all.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "solver/budget/work_limit.h"

namespace muster {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  // `deterministic`: never passed.
  Deadline(Clock::time_point at, bool deterministic) : at_(at), deterministic_(deterministic) {}
  // Deterministic: passed once so much work is done.
  Deadline(Clock::time_point at, WorkLimit work) : at_(at), deterministic_(true), work_(std::move(work)) {}

  bool is_deterministic() const { return deterministic_; }
  bool passed() const { return deterministic_ ? work_.is_reached() : Clock::now() >= at_; }
  const WorkLimit& work() const { return work_; }  // none, unless deterministic
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

  Clock::time_point end() const { return after(1); }  // at most an hour from now

  // The end of that share; and one that is so much earlier.
  Deadline part(double share) const {
    return deterministic_ ? Deadline(after(share), work_.part(share)) : Deadline(after(share), false);
  }
  Deadline earlier_by(Clock::duration time) const {
    return deterministic_ ? Deadline(at_ - time, work_) : Deadline(at_ - time, false);
  }
  // Never passes if this is deterministic.
  Deadline without_work() const { return {at_, deterministic_}; }

 private:
  Clock::time_point at_;
  bool deterministic_;
  WorkLimit work_;
};

}  // namespace muster
