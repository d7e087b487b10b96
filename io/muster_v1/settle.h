// What becomes of a snapshot between its reader and its problem.
#pragma once

#include "io/muster_v1/policy_overrides.h"
#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {

// What SnapshotReader does to each snapshot that it has read: the policy's overrides, the remarks that depend on them,
// and gangs that are held. Cost: O(pods).
void settle(const PolicyOverrides& policy, Snapshot& snapshot);

}  // namespace muster::muster_v1
