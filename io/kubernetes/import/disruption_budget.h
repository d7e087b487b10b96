// PodDisruptionBudget (policy/v1) -> disruptionBudgets[].
#pragma once

#include "io/kubernetes/object/object.h"
#include "io/muster_v1/snapshot_input.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// Fills one entry. As in the eviction API, a budget whose status is absent or older than its specification allows
// nothing, and a pod that several budgets select cannot be evicted. Errors are those of `reading` or `out`.
[[nodiscard]] bool import_disruption_budget(KubernetesReading& reading, const KubernetesObject& object,
                                            muster_v1::SnapshotInput& out, SnapshotDisruptionBudget& entry);
// Fills an empty entry for a budget that cannot be read, which allows no eviction of the pods that it may select.
void set_unclear_budget(KubernetesReading& reading, const KubernetesObject& object, muster_v1::SnapshotInput& out,
                        SnapshotDisruptionBudget& entry);

}  // namespace muster::kubernetes
