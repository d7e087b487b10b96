// The archive of KAI's endpoint get-snapshot: a zip with snapshot.json, the objects that KAI's scheduler sees.
#pragma once

#include <cstddef>
#include <string>

#include "io/kubernetes/kai_configuration.h"
#include "model/base/error.h"

namespace muster::kubernetes {

// The limit of an archive's unpacked size; more is refused, whatever size the archive itself states.
inline constexpr std::size_t kMostSnapshotBytes = std::size_t{4} << 30;

struct KaiSnapshot {
  std::string objects;             // one List of typed lists, in JSON; kinds that the import does not read are left out
  KaiConfiguration configuration;  // its remarks list what else of the archive is ignored
};

// Errors: NoInput (no such file), InvalidArchive (no zip, no snapshot.json, damaged), TooLarge, those of JsonDocument,
// and UnsupportedFormat if there are no rawObjects. Source: pkg/scheduler/plugins/snapshot of NVIDIA/KAI-Scheduler.
Result<KaiSnapshot> kai_snapshot_objects(const std::string& file, std::size_t most_bytes = kMostSnapshotBytes);

}  // namespace muster::kubernetes
