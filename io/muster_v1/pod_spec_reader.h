// The requests of a pod: its keys from `resources` on.
#pragma once

#include "io/muster_v1/snapshot_input.h"

namespace muster {

// Reads the values that are present; `pods` is 1 if it is not named. Errors: as SnapshotReader's.
[[nodiscard]] bool read_pod_spec(SnapshotInput& input, const SpecValues& values, PodSpec& out);

// The parts of it that Kubernetes defines.
[[nodiscard]] bool read_node_affinity(SnapshotInput& input, JsonValue object, NodeAffinity& out);
[[nodiscard]] bool read_volume_node_affinity(SnapshotInput& input, JsonValue object, PodSpec& out);
[[nodiscard]] bool read_tolerations(SnapshotInput& input, JsonValue list, std::vector<Toleration>& out);
[[nodiscard]] bool read_pod_affinity(SnapshotInput& input, JsonValue value, PodSpec& out);
[[nodiscard]] bool read_pod_anti_affinity(SnapshotInput& input, JsonValue value, PodSpec& out);
[[nodiscard]] bool read_topology_spread(SnapshotInput& input, JsonValue list, PodSpec& out);
[[nodiscard]] bool read_taints(SnapshotInput& input, JsonValue list, std::vector<Taint>& out);

}  // namespace muster
