#include "io/api_server/backoff.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "io/api_server/timer.h"

namespace muster::api_server {

namespace {

using std::chrono::milliseconds;

// Until one of its handlers is the last.
struct Attempts : std::enable_shared_from_this<Attempts> {
  Attempts(ApiClient& of, ApiRequest what, const BackoffLimits& with, std::uint64_t seed, ApiClient::Handler handler,
           std::function<bool()> goes_on)
      : client(of),
        is_alive(of.lifetime()),
        request(std::move(what)),
        limits(with),
        backoff(with, seed),
        timer(of.io()),
        done(std::move(handler)),
        may_go_on(std::move(goes_on)) {}

  void send() {
    client.send(request, [self = shared_from_this()](ApiResponse response) { self->answered(std::move(response)); });
  }
  void answered(ApiResponse response) {
    if (!is_overload(response) || ++failures >= limits.attempts) return done(std::move(response));
    const auto wait = backoff.next(response.retry_after);
    timer.after(wait, [self = shared_from_this(), last = std::move(response)]() mutable {
      if (self->is_alive.expired()) return;
      if (self->may_go_on && !self->may_go_on()) return self->done(std::move(last));
      self->send();
    });
  }

  ApiClient& client;
  std::weak_ptr<const void> is_alive;
  ApiRequest request;
  BackoffLimits limits;
  Backoff backoff;
  Timer timer;
  ApiClient::Handler done;
  std::function<bool()> may_go_on;
  int failures = 0;
};

}  // namespace

Backoff::Backoff(BackoffLimits limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

milliseconds Backoff::between(milliseconds least, milliseconds most) {
  if (most <= least) return least;
  // The bias of a remainder of 64 bits is beyond notice here, and it is the same with every library.
  return least +
         milliseconds(static_cast<milliseconds::rep>(random_() % static_cast<std::uint64_t>((most - least).count())));
}

milliseconds Backoff::next(std::optional<std::chrono::seconds> retry_after) {
  milliseconds limit = limits_.first;
  for (int i = 0; i < failures_ && limit < limits_.most; ++i) limit *= 2;
  ++failures_;
  const milliseconds jitter = between(milliseconds(0), std::min(limit, limits_.most));
  if (!retry_after) return jitter;
  return std::min<milliseconds>(*retry_after, limits_.most_retry_after) + jitter;
}

bool is_overload(const ApiResponse& response) { return response.status == 429 || response.status == 503; }

bool is_transient(const ApiResponse& response) {
  return response.status == 0 || response.status == 429 || response.status == 500 || response.status == 502 ||
         response.status == 503 || response.status == 504;
}

void send_with_retries(ApiClient& client, ApiRequest request, const BackoffLimits& limits, std::uint64_t seed,
                       ApiClient::Handler handler, std::function<bool()> may_go_on) {
  std::make_shared<Attempts>(client, std::move(request), limits, seed, std::move(handler), std::move(may_go_on))
      ->send();
}

}  // namespace muster::api_server
