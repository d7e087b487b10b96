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
#include "io/api_server/api_request.h"
#include "io/api_server/timer.h"

namespace muster::api_server {
class ApiClient;
}

namespace muster::cli {

// client-go has 15 s, 10 s and 2 s; shorter, so that another agent acts within 15 s after one has died.
struct LeaseTimes {
  std::chrono::milliseconds duration{10'000};  // after which a Lease that is not renewed may be taken
  std::chrono::milliseconds deadline{6'000};   // after which its holder, unable to renew it, gives up
  std::chrono::milliseconds retry{2'000};      // between two attempts
};

class Leadership {
 public:
  // Everything on one thread; nothing calls back from within the call that names it.
  struct Surroundings {
    std::function<void(api_server::ApiRequest, api_server::ApiHandler)> send;
    std::function<void(std::chrono::milliseconds delay, std::function<void()> task)> call_after;
    api_server::Clock clock;
    std::function<std::string()> now;  // RFC 3339 with microseconds, for renewTime
  };
  struct Handlers {
    std::function<void()> on_change;  // leads() has changed
    // For the log. A failure: the Lease could not be read, written or renewed in time.
    std::function<void(const std::string& sentence, bool is_failure)> on_message;
  };

  Leadership(Surroundings surroundings, LeaseName lease, std::string identity, Handlers handlers,
             LeaseTimes times = {});
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  void start();
  // Whether this agent may act now.
  bool leads() const;
  const std::string& holder() const;  // as last seen; empty: no agent
  std::string why_not() const;        // it does not lead: a clause for people; empty: it does
  // Gives the Lease up, so that another agent need not wait; then calls `done`. Nothing is renewed any more.
  void release(std::function<void()> done);

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

// By a client and timers of its io_context, which outlive what uses them.
Leadership::Surroundings leadership_surroundings(api_server::ApiClient& client, api_server::Clock clock,
                                                 std::function<std::string()> now);

}  // namespace muster::cli
