// When searches that run one after another stop: each earlier by the time that it took to begin, which is about what it
// takes to end.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "heuristics/state/candidate.h"
#include "model/base/tuning.h"

namespace muster::portfolio {

class SearchClock {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SearchClock(Clock::time_point until) : until_(until) {}

  // Of a search that begins now. It may outlive the clock.
  StopRequest next() {
    last_ = std::make_shared<Search>();
    return [search = last_, until = until_, begun = Clock::now()] {
      const Clock::time_point now = Clock::now();
      if (!search->end) search->end = until - (now - begun);  // by one thread: the search has not begun its parts
      if (now < *search->end) return false;
      search->is_stopped = true;
      return true;
    };
  }

  // The last search was stopped.
  bool has_stopped() const { return last_ && last_->is_stopped; }
  // Another one would have time to begin and to end.
  bool has_time() const {
    if (has_stopped()) return false;
    const Clock::time_point end = last_ && last_->end ? *last_->end : until_;
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(kTuning.forecast.margin * (until_ - end)) < end;
  }

 private:
  struct Search {
    std::optional<Clock::time_point> end;
    std::atomic<bool> is_stopped{false};
  };
  Clock::time_point until_;
  std::shared_ptr<Search> last_;
};

}  // namespace muster::portfolio
