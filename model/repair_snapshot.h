// Makes a snapshot that does not add up into one that does, so that all the rest of it can be planned.
#pragma once

#include "model/snapshot.h"

namespace muster {

// Leaves out, or settles in the way that can do no harm, each object that keeps the snapshot from being a problem, and
// tells of it in `anomalies.warnings`: what is there twice counts once; what hangs on a name that is not there is held;
// what runs nobody knows where is room nowhere. docs/semantics.md, "What does not add up", says which is which.
// Cost: O(n log n) in all objects. Requires that the snapshot is not read strictly.
void repair_snapshot(Snapshot& snapshot);

// Gangs that are held: their pending pods are gated, and what runs of them is left alone.
void hold_gangs(Snapshot& snapshot);

}  // namespace muster
