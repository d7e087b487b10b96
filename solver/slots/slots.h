// Finds places for a choice: which running pods remain and which waiting pods are placed is given; where they are, and
// which of the running ones are moved for that, is found with the least moved work.
//
// Pods are distinguished by what they take of devices alone, nodes by what runs on them (solver/slots/slot_model.h):
// CBC finds which pods have to be moved so that there is a slot for every pod. The exact fit tests then deal pods to
// slots (solver/slots/dealing.h). Without CBC, pods are dealt largest first, and each one that finds no room moves the
// cheapest smaller ones; this is also what repairs a dealing that fails.
#pragma once

#include <optional>

#include "solver/cbc/backend.h"
#include "solver/slots/slot_task.h"

namespace muster::slots {

// Deterministic for a deterministic deadline. Without a backend, or if its worker fails, the result is that of the
// heuristic, without a bound. None: `time.last` has passed before the heuristic had dealt all pods, which takes
// O(nodes) for each.
std::optional<SlotResult> find_places(const SlotTask& task, const PlaceTime& time, cbc::Backend* backend);

}  // namespace muster::slots
