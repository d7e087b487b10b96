// Events about gangs that wait (events.k8s.io/v1), on a pod of each: why it waits, and what would start it.
//
// An Event is written when a gang begins to wait or its reason changes, and not again while it stays the same.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/agent/group_marks.h"
#include "cli/agent/planner.h"
#include "io/api_server/api_client.h"
#include "io/api_server/object_store.h"

namespace muster::cli {

class Adviser {
 public:
  using Failed = std::function<void(const std::string& sentence)>;

  // `instance`: of the agent. `now`: RFC 3339 with microseconds. The client outlives it.
  Adviser(api_server::ApiClient& client, std::string instance, std::function<std::string()> now, Failed failed)
      : client_(client),
        instance_(std::move(instance)),
        now_(std::move(now)),
        failed_(std::move(failed)),
        marks_(client, now_, failed_) {}

  // Writes what is new, at most kMostEvents at once: the others follow with the next plan.
  void tell(const std::vector<WaitingGangNote>& waiting, const api_server::ObjectStore& objects);
  // The same on the objects of groups (group_marks.h).
  void mark(const std::vector<WaitingGangNote>& waiting, const api_server::ObjectStore& objects) {
    marks_.mark(waiting, objects);
  }

 private:
  static constexpr std::size_t kMostEvents = 20;

  void write(const WaitingGangNote& gang, const std::string& uid);

  api_server::ApiClient& client_;
  const std::string instance_;
  const std::function<std::string()> now_;
  const Failed failed_;
  GroupMarks marks_;
  std::map<std::string, std::string> told_;  // by gang: its reason
};

}  // namespace muster::cli
