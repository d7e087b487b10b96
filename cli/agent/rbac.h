// The roles that `muster agent` needs, and no more.
#pragma once

#include <string>

#include "cli/agent/planning/options.h"

namespace muster::cli {

// YAML: a ServiceAccount `muster-agent` in the namespace `muster`, a ClusterRole with its binding, and a Role for the
// Lease.
std::string rbac_yaml(ApplyMode mode, GroupMarking marks = GroupMarking::kUnmarked);

}  // namespace muster::cli
