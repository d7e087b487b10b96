#include "cli/agent/server_clock.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace muster::cli {

void ServerClock::learn(const std::string& date, Steady now) {
  std::tm parts{};
  const char* end = ::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return;
  const Nanoseconds instant = ::timegm(&parts) * kNanosecondsPerSecond;
  const Nanoseconds start =
      instant - std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  start_ = std::max(start_.value_or(start), start);
}

std::optional<Nanoseconds> ServerClock::now(Steady now) const {
  if (!start_) return std::nullopt;
  return *start_ + std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
}

std::string rfc3339(Nanoseconds instant) {
  const std::time_t seconds = instant / kNanosecondsPerSecond;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(seconds), instant % kNanosecondsPerSecond / 1000);
}

}  // namespace muster::cli
