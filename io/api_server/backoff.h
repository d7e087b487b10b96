// How long to wait before a request is sent again.
//
// Exponential with full jitter: a random time between 0 and a limit that doubles with each failure. Source: M. Brooker,
// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. First and last limit as in client-go's reflector
// (tools/cache/reflector.go: 800 ms, 30 s, factor 2).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>

#include "io/api_server/api_client.h"

namespace muster::api_server {

struct BackoffLimits {
  std::chrono::milliseconds first{800}, most{30'000};
  std::chrono::milliseconds most_retry_after{120'000};  // of a server's Retry-After, more counts as this
  int attempts = 6;                                     // of send_with_retries, the first included
};

class Backoff {
 public:
  Backoff(BackoffLimits limits, std::uint64_t seed);

  // One more failure: a random time up to its limit, after `retry_after` if the server asks for that.
  std::chrono::milliseconds next(std::optional<std::chrono::seconds> retry_after = {});
  // It has succeeded.
  void reset() { failures_ = 0; }
  // A random time in [least, most).
  std::chrono::milliseconds between(std::chrono::milliseconds least, std::chrono::milliseconds most);

 private:
  BackoffLimits limits_;
  std::mt19937_64 random_;
  int failures_ = 0;
};

// Whether the server has not acted on the request and may do so later: 429 and 503. Such requests may be repeated
// whatever their method. (429 to an Eviction means that a disruption budget forbids it: that is the caller's to tell.)
bool is_overload(const ApiResponse& response);
// Whether a GET may succeed later: no answer, 429, 500, 502, 503, 504.
bool is_transient(const ApiResponse& response);

// Sends until the answer is no is_overload(), or the attempts are used up, or `may_go_on`, asked before each repetition
// if it is given, forbids it; `handler` gets the last answer. The client's end ends the attempts.
void send_with_retries(ApiClient& client, ApiRequest request, const BackoffLimits& limits, std::uint64_t seed,
                       ApiClient::Handler handler, std::function<bool()> may_go_on = {});

}  // namespace muster::api_server
