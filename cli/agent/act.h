// One change of the cluster: a request to the API server that starts or evicts a pod.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/agent/options.h"
#include "io/api_server/api_client.h"
#include "io/export/plan.h"

namespace muster::cli {

enum class ActKind : std::uint8_t { kStart, kEvict };

struct Act {
  ActKind kind = ActKind::kStart;
  exporting::ExportedObject object;

  std::string pod() const { return object.namespace_name + "/" + object.name; }
};

// Acts that belong together: the pods of a gang that start, or those that leave for it.
struct ActGroup {
  ActKind kind = ActKind::kStart;
  std::string gang;  // empty: pods that leave for no gang
  std::vector<Act> acts;
};

// What may be done at once, in the order of the plan: evictions first, since pods need time to leave.
std::vector<ActGroup> groups_of(const exporting::ExportedPlan& plan);

// `dry_run`: the API server checks it, and changes nothing.
api_server::ApiRequest request_of(const Act& act, ApplyMode mode, bool dry_run);

}  // namespace muster::cli
