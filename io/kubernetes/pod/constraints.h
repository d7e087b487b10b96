// What the spec of a pod says about the nodes where it may run, other than its requests and volumes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "io/kubernetes/object/node_terms.h"
#include "io/kubernetes/pod/parts.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// podAffinity or podAntiAffinity: as it stands, and its required terms.
struct PodTermValues {
  std::string_view name, held_over_labels;  // for people
  json::JsonValue object, required;
  std::vector<json::JsonValue> preferred = {};  // those that can be judged
};

// Shape: views into the document; what is absent or empty is a value without a tape.
struct PodConstraints {
  json::JsonValue node_selector, tolerations, node_affinity, topology_spread;
  PodTermValues affinity, anti_affinity;
  std::optional<NodeTerms> node_terms;            // in place of the required ones of node_affinity
  std::vector<json::JsonValue> more_tolerations;  // lists, next to `tolerations`
  std::vector<HostPort> host_ports;               // sorted, distinct
  std::string_view scheduler;                     // empty: the default one
};

// All but the host ports and the scheduler. `held`: see keep_first_reason.
// Errors: WrongType, DuplicateKey.
[[nodiscard]] bool read_constraints(KubernetesReading& reading, const KubernetesObject& object, const PodParts& parts,
                                    PodConstraints& out, std::string_view& held);

}  // namespace muster::kubernetes
