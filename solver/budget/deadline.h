// The available time: a point in time or, in deterministic mode, a limit of counted work and no clock at all.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/tuning.h"
#include "model/objective/levels.h"
#include "model/objective/possibilities.h"

namespace muster {

// A limit on counted work instead of time, so that a plan is the same on any machine, busy or idle.
//
// Unit: one simplex iteration on one row or column of its model; each iteration counts some units more. Copies share
// one count; a part of a limit ends earlier on the same count. Spend only while no tasks run in parallel: the results
// of their queries in between are then the same for any number of threads.
class WorkLimit {
 public:
  WorkLimit() = default;  // none
  explicit WorkLimit(std::int64_t units) : spent_(std::make_shared<std::int64_t>(0)), until_(units) {}

  bool is_none() const { return spent_ == nullptr; }
  bool is_reached() const { return spent_ && *spent_ >= until_; }
  std::int64_t spent() const { return spent_ ? *spent_ : 0; }
  // At least nothing; without a limit, more than anything needs.
  std::int64_t left() const {
    if (!spent_) return std::numeric_limits<std::int64_t>::max();
    return *spent_ < until_ ? until_ - *spent_ : 0;
  }
  void spend(std::int64_t units) const {
    if (spent_) *spent_ += units;
  }
  // The end of a share of what is left.
  WorkLimit part(double share) const {
    WorkLimit part = *this;
    if (spent_) part.until_ = *spent_ + static_cast<std::int64_t>(share * static_cast<double>(left()));
    return part;
  }

 private:
  std::shared_ptr<std::int64_t> spent_;
  std::int64_t until_ = 0;
};

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

// How late lines have ended, measured against the time that was planned for their end: what a scarce processor, a slow
// disk or a forecast that is too short has cost.
class Delays {
 public:
  // To be kept at the end of the next line, in milliseconds: the longest delay of the last lines
  // (ForecastTuning::lines); more than it if such a delay comes again, since a process that has used up its processor
  // time waits the longer the earlier it stops. A delay of more than a tenth of the budget and than the start of a
  // process has to come twice.
  double kept_ms(double budget_ms) const {
    double longest = 0, second = 0;
    for (const double delay : delays_) {
      second = std::max(second, std::min(longest, delay));
      longest = std::max(longest, delay);
    }
    const double often = std::max(kTuning.forecast.start_ms, kTuning.parts.aside * budget_ms);
    return std::min(std::max(kTuning.forecast.margin * second, std::min(longest, often)),
                    kTuning.parts.most * budget_ms);
  }

  // Of one more line, after the end that was planned with what was kept; <= 0: on time. That of the first line of a
  // process, which pays for its memory, tells nothing of the others.
  void learn(double milliseconds) {
    if (std::exchange(is_first_, false)) return;
    const double delay = std::max(0.0, milliseconds);
    if (delays_.size() < kTuning.forecast.lines)
      delays_.push_back(delay);
    else
      delays_[next_] = delay;
    next_ = (next_ + 1) % kTuning.forecast.lines;
  }

 private:
  std::vector<double> delays_{kTuning.forecast.answer_ms};  // a ring; the first one is a guess
  std::size_t next_ = 1;                                    // the oldest one, or the end
  bool is_first_ = true;
};

// Lines of one size tell nothing of those of another: a cluster that is too large for its budget is always late.
class DelaysBySize {
 public:
  // Of lines with about so many pods and nodes: to the next power of two.
  Delays& of(std::size_t items) { return delays_[static_cast<std::size_t>(std::bit_width(items))]; }

 private:
  std::map<std::size_t, Delays> delays_;
};

// What is known while a plan is searched for: values of the best plan so far and proven bounds, reported as they
// change.
struct TraceEvent {
  Origin engine = Origin::kNone;  // its source
  LevelId level;
  std::int64_t value = 0;             // of the best plan so far, in level_scale
  std::optional<std::int64_t> bound;  // proven, given the best plan's values before this level; none: not proven
};
using TraceSink = std::function<void(const TraceEvent&)>;  // called by the thread that solves; may be empty

// Between the engines and the sink: passes on what is new. Cost: O(levels) a call, nothing without a sink.
class Tracer {
 public:
  using Bounds = std::vector<std::optional<std::int64_t>>;

  Tracer(std::vector<LevelId> ids, TraceSink sink) : ids_(std::move(ids)), sink_(std::move(sink)) {}

  // The best plan's levels, and what is proven now (may be empty). A bound that was reported before stays as long as
  // the values before its level do.
  void tell(Origin engine, const Levels& best, const Bounds& bounds) {
    if (!sink_) return;
    const bool is_first = values_.empty();
    values_.resize(ids_.size());
    bounds_.resize(ids_.size());
    bool holds = true;  // the reported bounds
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      std::optional<std::int64_t> bound = i < bounds.size() ? bounds[i] : std::nullopt;
      if (holds && bounds_[i] && (!bound || is_tighter(i, *bounds_[i], *bound))) bound = bounds_[i];
      const bool is_new = is_first || values_[i] != best.values[i] || bounds_[i] != bound;
      holds = holds && values_[i] == best.values[i];
      values_[i] = best.values[i];
      bounds_[i] = bound;
      if (is_new) sink_({engine, ids_[i], values_[i], bounds_[i]});
    }
  }

 private:
  bool is_tighter(std::size_t level, std::int64_t a, std::int64_t b) const {
    return is_maximised(ids_[level].kind) ? a < b : a > b;
  }

  std::vector<LevelId> ids_;
  TraceSink sink_;
  std::vector<std::int64_t> values_;
  Bounds bounds_;
};

}  // namespace muster
