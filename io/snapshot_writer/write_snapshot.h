// Snapshot -> its line in `muster/v1` (docs/format.md): what SnapshotReader reads back.
#pragma once

#include <string>

#include "model/snapshot/snapshot.h"

namespace muster::snapshot_writer {

// Appends one line, without the line feed: each spec of `pod_specs` becomes the template `t` + its position, and what
// equals the format's default is left out. Equal snapshots give equal bytes.
//
// Not written: warnings and held gangs (`anomalies`), which are about the line that was read, and no part of it.
// Requires at most one selector in `policy.protect`, as a line has one, and `created` in the terms of a pod's own gang
// to be the pod's. Cost: linear; some hundreds of MB/s.
void write_snapshot(const Snapshot& snapshot, std::string& out);

}  // namespace muster::snapshot_writer
