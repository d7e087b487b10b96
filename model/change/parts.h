// The single kinds of changes; see change.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error.h"
#include "model/change/change.h"

namespace muster::change {

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
