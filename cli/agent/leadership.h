// Which of several agents acts: the one that holds a Lease (coordination.k8s.io/v1).
//
// The algorithm is that of client-go's leader election (tools/leaderelection): the holder renews the Lease; another one
// takes it once it has not been renewed for its duration, by the clock of the one that waits. Two agents never hold it
// at once as long as their clocks run at nearly the same speed: the holder gives up well before the others may take it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "cli/agent/planning/options.h"
#include "io/api_server/api_client.h"
#include "io/api_server/timer.h"

namespace muster::cli {

// client-go has 15 s, 10 s and 2 s; shorter, so that another agent acts within 15 s after one has died.
struct LeaseTimes {
  std::chrono::milliseconds duration{10'000};  // after which a Lease that is not renewed may be taken
  std::chrono::milliseconds deadline{6'000};   // after which its holder, unable to renew it, gives up
  std::chrono::milliseconds retry{2'000};      // between two attempts
};

class Leadership {
 public:
  struct Handlers {
    std::function<void()> on_change;                              // leads() has changed
    std::function<void(const std::string& sentence)> on_message;  // for the log
    std::function<std::string()> now;                             // RFC 3339 with microseconds, for renewTime
  };

  // On the thread of the client, which outlives it.
  Leadership(api_server::ApiClient& client, LeaseName lease, std::string identity, api_server::Clock clock,
             Handlers handlers, LeaseTimes times = {});
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  void start();
  // Whether this agent may act now.
  bool leads() const;
  const std::string& holder() const;  // as last seen; empty: no agent
  // Gives the Lease up, so that another agent need not wait; then calls `done`. Nothing is renewed any more.
  void release(std::function<void()> done);

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace muster::cli
