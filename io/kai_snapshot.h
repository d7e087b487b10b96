// The archive of KAI's endpoint get-snapshot: a zip with snapshot.json, the objects that its scheduler sees.
#pragma once

#include <cstddef>
#include <string>

#include "model/error.h"

namespace muster {

// Of an archive, unpacked; more is refused, whatever the archive itself says of its size.
inline constexpr std::size_t kMostSnapshotBytes = std::size_t{4} << 30;

// Its objects as one List of typed lists, in JSON. Kinds that the import does not read are left out.
// Errors: NoInput (no such file), InvalidArchive (no zip, no snapshot.json, damaged), TooLarge, those of JsonDocument,
// and UnsupportedFormat where there are no rawObjects. Source: pkg/scheduler/plugins/snapshot of NVIDIA/KAI-Scheduler.
Result<std::string> kai_snapshot_objects(const std::string& file, std::size_t most_bytes = kMostSnapshotBytes);

}  // namespace muster
