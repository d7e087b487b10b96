// The loop of `muster agent`: watch, plan, look again, act, and plan anew.
//
//   - It plans when something that matters has changed, at most once a period, and never while a kind of objects has
//     not been listed yet, or while its own last writes have not come back by the watch.
//   - It acts only while it holds the Lease. What it acts on is a plan that the referee passes on the cluster as it is
//     at that moment; the API server checks the uid of each pod.
//   - It keeps nothing: after a crash, what was begun is seen in the cluster.
#pragma once

#include <memory>
#include <string>

#include "cli/agent/planning/options.h"
#include "cli/terminal/console.h"

namespace muster::cli {

class Agent {
 public:
  // The options and the console outlive it.
  Agent(const AgentOptions& options, Console& console, const std::string& worker_program);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Until SIGTERM or SIGINT; `listener` is a listening socket for AgentStatus, which is taken over. Returns the exit
  // code.
  int run(int listener);
  // Ends run() as a signal does. From any thread.
  void stop();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::cli
