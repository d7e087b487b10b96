// Who makes a pod: its controller, and whether the pod can be planned at all.
#pragma once

#include <string_view>

#include "io/kubernetes/pod/parts.h"

namespace muster::kubernetes {

struct ObjectName {
  std::string_view kind, name;  // in the pod's namespace; empty: none
};

struct PodOwner {
  std::string_view kind, name;     // of its controller; empty: none
  ObjectName top;                  // of the outermost owner that the list tells of; see KubernetesOwners::join
  std::string_view template_hash;  // the label that a ReplicaSet gives
  bool is_fixed = false;           // of a DaemonSet, static, or a reservation
  bool is_reservation = false;     // KAI's pod that holds a device for the pods that share it
};

// Errors: WrongType, DuplicateKey.
[[nodiscard]] bool read_owner(KubernetesReading& reading, const KubernetesObject& object, const PodParts& parts,
                              PodOwner& out);

}  // namespace muster::kubernetes
