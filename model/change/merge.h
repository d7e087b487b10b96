// A workload that is about to be submitted joins a cluster.
#pragma once

#include <optional>

#include "model/base/error.h"
#include "model/snapshot/snapshot.h"

namespace muster::change {

// Appends the gangs and pods of `more`, as a manifest has them, to the snapshot. Gangs and pods that do not say when
// they were created are created now (Snapshot::time).
//
// Its pods may also name gangs that only the snapshot has. Of queues, priority classes, namespaces, topologies and
// disruption budgets, those whose name the snapshot has stay as they are; the others are added, unless the snapshot has
// a topology of the same levels by another name. If both have a topology without a name, the levels that are new are
// added, each before the first one of which the nodes have more values. A snapshot without queues has the queue
// `default`. Nodes and policy of `more` are left alone. Error DuplicateName: the message names the gang or the pod that
// the cluster has already; then nothing was changed.
//
// Ensures: the snapshot shares the text of `more`. Cost: O(gangs + pods) of both, and O(nodes) for each new level.
std::optional<InputError> merge(const Snapshot& more, Snapshot& snapshot);

}  // namespace muster::change
