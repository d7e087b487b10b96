#include "cli/agent/server_time.h"

#include <algorithm>
#include <ctime>
#include <utility>

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

void ServerTime::start(std::function<void()> known) { ask(std::move(known)); }

void ServerTime::ask(std::function<void()> known) {
  api_server::ApiRequest request;
  request.target = "/version";
  client_.send(std::move(request), [this, known = std::move(known)](const api_server::ApiResponse& response) {
    clock_.learn(response.date, std::chrono::steady_clock::now());
    const bool is_known = now() != 0;
    if (!is_known) failed_(response.error.empty() ? "the API server's answers have no Date" : response.error);
    if (is_known && known) known();
    timer_.expires_after(is_known ? std::chrono::seconds(60) : std::chrono::seconds(1));
    timer_.async_wait([this, next = is_known ? nullptr : known](boost::system::error_code error) {
      if (!error) ask(next);
    });
  });
}

}  // namespace muster::cli
