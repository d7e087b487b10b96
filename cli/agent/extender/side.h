// The extender as the agent has it: a server with a thread of its own, so that a long answer to a monitoring client
// keeps no pod waiting, and the binder on the agent's thread.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "cli/agent/extender/extender.h"
#include "cli/agent/extender/gang_binder.h"
#include "io/http/server.h"

namespace muster::cli {

class ExtenderSide {
 public:
  // Takes over the listening socket. The options and the client outlive it. On the agent's thread, as all calls.
  ExtenderSide(int listener, const AgentOptions& options, api_server::ApiClient& client, GangBinder::Told told);
  // Waits until everything that was asked is answered.
  ~ExtenderSide();
  ExtenderSide(const ExtenderSide&) = delete;
  ExtenderSide& operator=(const ExtenderSide&) = delete;

  // The plan has passed the referee.
  void publish(const PlannedPods& pods, const exporting::ExportedPlan& exported);
  // See Extender::block.
  void block(const std::string& why);

 private:
  Extender extender_;
  http::HttpServer server_;
  GangBinder binder_;
  std::jthread thread_;
};

}  // namespace muster::cli
