// One change of the cluster: a request to the API server that starts a pod, evicts one, or takes a failed start back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/agent/planning/options.h"
#include "io/api_server/api_client.h"
#include "io/api_server/object_store.h"
#include "io/export/plan.h"

namespace muster::cli {

// kTakeBack: deletes a BindRequest that has failed, so that another one can be made. kNominate: says which node is
// meant for a pod (nominations.h).
enum class ActKind : std::uint8_t { kStart, kEvict, kTakeBack, kNominate };

struct Act {
  ActKind kind = ActKind::kStart;
  exporting::ExportedObject object;

  std::string pod() const { return object.namespace_name + "/" + object.name; }
};

// Acts that belong together: the pods of a gang that start; or those that leave for it, with all others that leave of
// their gangs, so that no gang is taken apart, with what these leave for, and so on.
struct ActGroup {
  ActKind kind = ActKind::kStart;
  std::string gang;  // of evictions: the first that they make room for; empty: none
  std::vector<Act> acts;
};

// What may be done at once, in the order of the plan: evictions first, since pods need time to leave.
std::vector<ActGroup> groups_of(const exporting::ExportedPlan& plan);

// Of a group of pods that start by BindRequests: those of them whose last request has failed are to be taken back
// first. Nothing if there are none.
ActGroup failed_requests(const ActGroup& group, const api_server::ObjectStore& objects);

// `dry_run`: the API server checks it, and changes nothing.
api_server::ApiRequest request_of(const Act& act, ApplyMode mode, bool dry_run);

}  // namespace muster::cli
