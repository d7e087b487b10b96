// status.nominatedNodeName of pods: which node is meant for a pod before it is bound.
//
//   - A pod that starts once others have left holds its room that way (cli/agent/planning/planner.h), after a crash of
//   the agent, too.
//   - In the mode extender, so does one that starts now: the change makes kube-scheduler try the pod again, first on
//     that node.
#pragma once

#include <string>
#include <vector>

#include "cli/agent/act.h"
#include "cli/agent/planning/planner.h"
#include "io/api_server/object_store.h"

namespace muster::cli {

// Of a pod as the store has it; empty: none.
std::string nominated_node(const api_server::StoredObject& pod);

// What is to be written: nodes of pods that do not have them yet, and those that are given up, of pods that wait and
// have another or no place in the plan. Empty in the other modes.
ActGroup nominations(const exporting::ExportedPlan& plan, const std::vector<PendingPod>& pending, ApplyMode mode,
                     const api_server::ObjectStore& objects);

}  // namespace muster::cli
