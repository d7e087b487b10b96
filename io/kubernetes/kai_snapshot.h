// The archive of KAI's endpoint get-snapshot: a zip with snapshot.json, the objects that KAI's scheduler sees.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/kubernetes/object/object.h"
#include "model/base/error_code.h"

namespace muster::kubernetes {

// The configuration of KAI's scheduler in its archive: the part of it that is supported here.
struct KaiConfiguration {
  std::string policy;                       // `policy` of muster/v1, an object in JSON; empty: not set
  std::optional<Nanoseconds> grace_period;  // stalenessGracePeriod of groups that do not set theirs; kNever
  std::string scheduler, queue_label;  // the scheduler's name, and the label of its pods' queue; empty: KAI's defaults
  std::vector<std::string> remarks;
};

// `config` and `params` as SchedulerConfiguration and SchedulerParams of pkg/scheduler/conf; each may be absent.
// Errors: WrongType.
[[nodiscard]] bool read_kai_configuration(KubernetesReading& reading, json::JsonValue config, json::JsonValue params,
                                          KaiConfiguration& out);

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
