// Binds pods for kube-scheduler, gangs whole: the call for one pod of a gang is answered once the calls for all pods
// that the plan starts with it have come. Until then, kube-scheduler keeps the room of each (it has reserved it).
//
// Then the API server checks all Bindings (dry run); only if it would take each of them are they made. If a call is
// missing for too long, or the plan has changed, those that wait fail; kube-scheduler gives their room back and tries
// again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "cli/agent/extender/messages.h"
#include "cli/agent/extender/plan_view.h"
#include "io/api_server/api_client.h"
#include "model/base/tuning.h"

namespace muster::cli {

class GangBinder {
 public:
  using Reply = std::function<void(const std::string& error)>;  // empty: it is bound
  using Told = std::function<void(const std::string& sentence, bool is_failure)>;

  // Less than httpTimeout of the shipped configuration of kube-scheduler.
  static constexpr std::chrono::seconds kMostWait{kTuning.online.agent.binding_s};

  // On the thread of the client, which outlives it. `dry_run`: nothing is bound.
  GangBinder(api_server::ApiClient& client, bool dry_run, Told told, std::chrono::milliseconds most_wait = kMostWait);
  ~GangBinder();
  GangBinder(const GangBinder&) = delete;
  GangBinder& operator=(const GangBinder&) = delete;

  // The plan that holds from now on. Calls that it contradicts fail.
  void publish(std::shared_ptr<const PlanView> view);
  // A pod that the plan does not know is bound by itself.
  void bind(const ExtenderBinding& binding, Reply reply);
  // All that wait fail.
  void give_up(const std::string& why);

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace muster::cli
