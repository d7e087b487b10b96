// The requests of a pod: its keys from `resources` on.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

// Reads the values that are present; `pods` is 1 if it is not named. Errors: as SnapshotReader's.
[[nodiscard]] bool read_pod_spec(SnapshotInput& input, const SpecValues& values, PodSpec& out);

// The same over a spec that is there: each value that is present replaces what the key says in it.
[[nodiscard]] bool replace_in_pod_spec(SnapshotInput& input, const SpecValues& values, PodSpec& spec);

// The parts of it that Kubernetes defines.
[[nodiscard]] bool read_node_affinity(SnapshotInput& input, json::JsonValue object, NodeAffinity& out);
[[nodiscard]] bool read_volume_node_affinity(SnapshotInput& input, json::JsonValue object, PodSpec& out);
[[nodiscard]] bool read_tolerations(SnapshotInput& input, json::JsonValue list, std::vector<Toleration>& out);
[[nodiscard]] bool read_pod_affinity(SnapshotInput& input, json::JsonValue value, PodSpec& out);
[[nodiscard]] bool read_pod_anti_affinity(SnapshotInput& input, json::JsonValue value, PodSpec& out);
[[nodiscard]] bool read_topology_spread(SnapshotInput& input, json::JsonValue list, PodSpec& out);
[[nodiscard]] bool read_taints(SnapshotInput& input, json::JsonValue list, std::vector<Taint>& out);

// Single ones of lists of Kubernetes.
[[nodiscard]] bool read_pod_term(SnapshotInput& input, json::JsonValue object, PodTerm& out);
[[nodiscard]] bool read_spread(SnapshotInput& input, json::JsonValue object, SpreadConstraint& out);
[[nodiscard]] bool read_taint(SnapshotInput& input, json::JsonValue object, Taint& out);

// A toleration in the words of Kubernetes.
struct WrittenToleration {
  std::string_view key, value;
  bool exists = false;
  json::JsonValue effect;  // absent: any
};
[[nodiscard]] bool add_toleration(SnapshotInput& input, json::JsonValue culprit, const WrittenToleration& written,
                                  std::vector<Toleration>& out);

// A requirement on the labels of a node, or on a field, in the words of Kubernetes.
struct WrittenRequirement {
  std::string_view key, op;
  std::span<const std::string_view> values;
  bool is_field = false;
};
[[nodiscard]] bool add_requirement(SnapshotInput& input, json::JsonValue culprit, const WrittenRequirement& written,
                                   NodeSelectorTerm& out);

}  // namespace muster::muster_v1
