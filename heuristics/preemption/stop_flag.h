// Remembers that work was stopped.
#pragma once

#include <cstddef>

#include "heuristics/state/stop_request.h"

namespace muster::preemption {

// Raised once the request has been answered with yes, until it is lowered. All calls cost O(1), or that of the request.
class StopFlag {
 public:
  // The request may be empty; it must outlive the flag.
  explicit StopFlag(const StopRequest& request) : request_(request) {}

  bool is_raised() const { return is_raised_; }
  void lower() { is_raised_ = false; }
  // Asks the request, and raises the flag if it says stop.
  void ask() {
    if (request_ && request_()) is_raised_ = true;
  }
  // Whether the flag is raised or would be by the next question.
  bool is_due() const { return is_raised_ || (request_ && request_()); }
  // For loops over many elements: asks at every 64th.
  void ask_at(std::size_t position) {
    if (position % 64 == 63) ask();
  }

 private:
  const StopRequest& request_;
  bool is_raised_ = false;
};

}  // namespace muster::preemption
