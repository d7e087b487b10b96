// Nodes as an operator, or a new machine, would have them.
#pragma once

#include "model/snapshot/snapshot.h"

namespace muster::change {

// Whether Kubernetes gives this taint to nodes that are cordoned, not ready or short of something.
bool is_of_trouble(const Taint& taint);

// Without its cordon, as a flag and as a taint.
void uncordon(SnapshotNode& node);

// As a node in good order: not cordoned and without taints of trouble.
void make_ready(SnapshotNode& node);

}  // namespace muster::change
