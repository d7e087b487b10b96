// Asks the API server for its time, once a minute.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "cli/agent/server_clock.h"
#include "io/api_server/api_client.h"

namespace muster::cli {

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
