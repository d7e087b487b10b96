// Events about gangs that wait (events.k8s.io/v1), on a pod of each: why it waits, and what would start it.
//
// An Event is written when a gang begins to wait or its reason changes, and not again while it stays the same.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/agent/planning/planner.h"
#include "cli/agent/planning/staleness.h"
#include "io/api_server/api_client.h"
#include "io/api_server/object_store.h"

namespace muster::cli {

// Why a gang waits, on the object of its group (--conditions).
//
//   - PodGroups of scheduling.k8s.io, whose conditions are kept apart by type: the condition `muster/Placed`. It is
//     False with the reason of the plan, True once the gang no longer waits. Written by server-side apply.
//   - PodGroups of Coscheduling, Volcano and KAI: the annotation `muster/waits`, removed once the gang no longer waits.
//     Coscheduling has no conditions, and the lists of the others belong to their schedulers, which replace them whole.
//
// Nothing is written while the reason stays the same. What an agent that was killed has written is removed once its
// gang waits and starts again.
class GroupMarks {
 public:
  using Failed = std::function<void(const std::string& sentence)>;
  static constexpr std::string_view kCondition = "muster/Placed", kAnnotation = "muster/waits";

  // `now`: RFC 3339. The client outlives it.
  GroupMarks(api_server::ApiClient& client, std::function<std::string()> now, Failed failed)
      : client_(client), now_(std::move(now)), failed_(std::move(failed)) {}

  // Writes what is new, at most kMostWrites at once: the others follow with the next plan.
  void mark(const std::vector<WaitingGangNote>& waiting, const api_server::ObjectStore& objects);

 private:
  static constexpr std::size_t kMostWrites = 20;

  // `note`: none: the gang does not wait. False if the gang has no object.
  bool write(const std::string& gang, const WaitingGangNote* note, const api_server::ObjectStore& objects);

  api_server::ApiClient& client_;
  const std::function<std::string()> now_;
  const Failed failed_;
  std::map<std::string, std::string> marked_;  // by gang: its reason
};

class Adviser {
 public:
  using Failed = std::function<void(const std::string& sentence)>;

  struct Agent {
    std::string instance;
    bool dry_run = false;
  };

  // `now`: RFC 3339 with microseconds. The client outlives it.
  Adviser(api_server::ApiClient& client, const Agent& agent, std::function<std::string()> now, Failed failed)
      : client_(client),
        instance_(agent.instance),
        now_(std::move(now)),
        failed_(std::move(failed)),
        marks_(client, now_, failed_),
        staleness_(client, agent.dry_run, failed_) {}

  // Writes what is new, at most kMostEvents at once: the others follow with the next plan.
  void tell(const std::vector<WaitingGangNote>& waiting, const api_server::ObjectStore& objects);
  // The same on the objects of groups (GroupMarks).
  void mark(const std::vector<WaitingGangNote>& waiting, const api_server::ObjectStore& objects) {
    marks_.mark(waiting, objects);
  }
  // Since when gangs of KAI are in part.
  void note(const std::vector<StalenessNote>& notes, const api_server::ObjectStore& objects) {
    staleness_.write(notes, now_(), objects);
  }

 private:
  static constexpr std::size_t kMostEvents = 20;

  void write(const WaitingGangNote& gang, const std::string& uid);

  api_server::ApiClient& client_;
  const std::string instance_;
  const std::function<std::string()> now_;
  const Failed failed_;
  GroupMarks marks_;
  StalenessWriter staleness_;
  std::map<std::string, std::string> told_;  // by gang: its reason
};

}  // namespace muster::cli
