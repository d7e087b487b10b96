// A workload that is about to be submitted joins a cluster.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error_code.h"
#include "model/change/change.h"
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

// The single kinds of changes; see change.h.
using Failure = std::optional<InputError>;

Failure unknown(const char* kind, std::string_view name);

// The resource of this name, which the snapshot has from then on.
ResourceIndex resource_named(Snapshot& snapshot, std::string_view name);

// The level that the text names becomes the required one: "rack", in the topology of the request if that has it;
// "pool-a:rack", of the topology pool-a; empty: none. A preferred level that the topology does not have is dropped.
Failure require_level(const std::string& text, Snapshot& snapshot, TopologyRequest& request);

// The shape as in `muster what-if --add-nodes`: "gpu=8:H100,cpu=64,memory=512Gi".
std::string text_of(const NodeShape& shape);

// These gangs are gone. Cost: O(names + gangs + pods).
Failure remove_gangs(const std::vector<std::string_view>& names, Snapshot& snapshot);

Failure apply_one(const AddNodes& change, Snapshot& snapshot);
Failure apply_one(const AddShapedNodes& change, Snapshot& snapshot);
Failure apply_one(const RemoveNode& change, Snapshot& snapshot);
Failure apply_one(const Cordon& change, Snapshot& snapshot);
Failure apply_one(const Uncordon& change, Snapshot& snapshot);
Failure apply_one(const Drain& change, Snapshot& snapshot);
Failure apply_one(const SetQueue& change, Snapshot& snapshot);
Failure apply_one(const SetPriority& change, Snapshot& snapshot);
Failure apply_one(const RemoveGang& change, Snapshot& snapshot);
Failure apply_one(const Evict& change, Snapshot& snapshot);
Failure apply_one(const Tolerate& change, Snapshot& snapshot);
Failure apply_one(const SetMinimum& change, Snapshot& snapshot);
Failure apply_one(const SetRequiredLevel& change, Snapshot& snapshot);
Failure apply_one(const AddGang& change, Snapshot& snapshot);

}  // namespace muster::change
