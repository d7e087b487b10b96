// The API server's time, from the field Date of its answers: what a node's own clock says does not matter.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "model/snapshot/snapshot.h"

namespace muster::cli {

class ServerClock {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  // `date`: as HTTP has it, "Sun, 06 Nov 1994 08:49:37 GMT"; whatever is no date is passed over. The field is cut to
  // whole seconds, so the latest instant that any answer proves holds.
  void learn(const std::string& date, Steady now);
  // None: no date has come yet. Nanoseconds since the epoch; never less than before.
  std::optional<Nanoseconds> now(Steady now) const;

 private:
  std::optional<Nanoseconds> start_;  // of the steady clock's epoch
};

// "2026-11-26T19:31:05.000001Z"
std::string rfc3339(Nanoseconds instant);

}  // namespace muster::cli
