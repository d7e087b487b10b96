// BindRequest of KAI: the decision to run a pod on a node, not yet carried out.
#pragma once

#include <string_view>
#include <vector>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

// A BindRequest of KAI that has not failed: the pod counts as running there.
struct KubernetesBinding {
  std::string_view namespace_name, pod, node;
  std::vector<std::string_view> gpu_groups;  // sorted
};

// `out.pod` is empty if the request has failed or names no node. Errors: WrongType, DuplicateKey.
[[nodiscard]] bool read_bind_request(KubernetesReading& reading, const KubernetesObject& object,
                                     KubernetesBinding& out);

}  // namespace muster::kubernetes
