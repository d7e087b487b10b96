// Snapshot -> its line in `muster/v1` (docs/format.md): what SnapshotReader reads back.
#pragma once

#include <cstdint>
#include <string>

#include "model/snapshot/snapshot.h"

namespace muster::snapshot_writer {

// Appends one line, without the line feed: each spec of `pod_specs` becomes the template `t` + its position, and what
// equals the format's default is left out. Equal snapshots give equal bytes.
//
// With `notes`, the warnings of the snapshot's anomalies are the remarks and the unread keys of the line; without, they
// are about the line that was read, and no part of this one. Held gangs are not written: hold_gangs comes first.
// Requires at most one selector in `policy.protect`, as a line has one, and `created` in the terms of a pod's own gang
// to be the pod's. Cost: linear; some hundreds of MB/s.
enum class Notes : std::uint8_t { kLeftOut, kWritten };
void write_snapshot(const Snapshot& snapshot, std::string& out, Notes notes = Notes::kLeftOut);

}  // namespace muster::snapshot_writer
