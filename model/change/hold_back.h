// Takes what waits out of the planning, for questions that are not about it.
#pragma once

#include "model/snapshot/snapshot.h"

namespace muster::change {

// Pending pods are gated, which no plan places. Those that are nominated for a node stay pending: one of another
// scheduler holds its room there. Cost: O(pods).
void hold_back_waiting(Snapshot& snapshot);

}  // namespace muster::change
