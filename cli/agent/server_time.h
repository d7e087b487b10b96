// Asks the API server for its time, once a minute.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "io/api_server/api_client.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

// The API server's time, from the field Date of its answers: what a node's own clock says does not matter.
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

class ServerTime {
 public:
  using Failed = std::function<void(const std::string& sentence)>;

  // On the thread of the client, which outlives it.
  ServerTime(api_server::ApiClient& client, Failed failed)
      : client_(client), failed_(std::move(failed)), timer_(client.io()) {}

  // Calls `known` once the time is known; asks each second until then.
  void start(std::function<void()> known);
  void stop() { timer_.cancel(); }

  // Nanoseconds since the epoch; 0 before it is known.
  Nanoseconds now() const { return clock_.now(std::chrono::steady_clock::now()).value_or(0); }
  std::string text() const { return rfc3339(now()); }

 private:
  void ask(std::function<void()> known);

  api_server::ApiClient& client_;
  const Failed failed_;
  boost::asio::steady_timer timer_;
  ServerClock clock_;
};

}  // namespace muster::cli
