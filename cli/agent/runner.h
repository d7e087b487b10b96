// Carries groups of acts out, one group after another, no faster than the limits allow.
//
// A gang is bound whole: first the API server checks all its acts (dry run); only if it would take each of them are
// they made. What does not fit into the pace is left for the next plan, which sees what the cluster is by then.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/agent/act.h"
#include "cli/agent/pace.h"
#include "cli/agent/written.h"
#include "io/api_server/api_client.h"
#include "io/api_server/clock.h"

namespace muster::cli {

struct ActsDone {
  std::int64_t refused = 0, held_back = 0;       // acts; the latter by the pace
  std::chrono::steady_clock::time_point next{};  // when the pace allows what was held back
};

class ActRunner {
 public:
  struct Handlers {
    // Each act that was made or refused; `error` is empty, or says why.
    std::function<void(const Act& act, const std::string& error)> on_act;
    std::function<bool()> may_go_on;  // asked before each group
  };

  // The client and the options outlive it.
  ActRunner(api_server::ApiClient& client, const AgentOptions& options, api_server::Clock clock, Handlers handlers);
  ~ActRunner();
  ActRunner(const ActRunner&) = delete;
  ActRunner& operator=(const ActRunner&) = delete;

  // Requires that nothing is being run. `done` is not called after the runner's end.
  void run(std::vector<ActGroup> groups, std::function<void(ActsDone)> done);
  // Whether the store shows all acts that were made, but those of more than WrittenActs::kMostWait ago.
  bool are_seen(const api_server::ObjectStore& objects);
  // When the oldest act that is not seen will be taken for seen; see WrittenActs::end.
  std::chrono::steady_clock::time_point seen_at_latest() const;

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace muster::cli
