// Makes an inconsistent snapshot consistent, so that all the rest of it can be planned.
#pragma once

#include "model/snapshot/snapshot.h"

namespace muster {

// Removes, or settles in the way that can do no harm, each object that keeps the snapshot from being a problem, and
// reports it in `anomalies.warnings`: duplicates count once; objects that refer to an unknown name are held; a running
// pod without a known node takes resources nowhere. docs/semantics.md, "What does not add up", gives the full list.
// Cost: O(n log n) in all objects. Requires that the snapshot is not read strictly.
void repair_snapshot(Snapshot& snapshot);

// Held gangs: their pending pods are gated, and their running pods are left alone.
void hold_gangs(Snapshot& snapshot);

}  // namespace muster
