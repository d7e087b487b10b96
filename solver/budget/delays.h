// How late lines have ended, measured against the time that was planned for their end: what a scarce processor, a slow
// disk or a forecast that is too short has cost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "model/base/tuning.h"

namespace muster {

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

}  // namespace muster
