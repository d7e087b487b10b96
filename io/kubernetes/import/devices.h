// Shared devices of KAI: pods that name one group share one device -> gpus of pods
#pragma once

#include <vector>

#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// On each node on which a pod names a group, gives the whole-GPU pods the first devices, in the order of their names,
// and the groups the next ones, in the order of theirs. Errors: InvalidValue, if a pod names another number of groups
// than it asks for devices; `culprit` is that pod's position.
[[nodiscard]] bool assign_devices(KubernetesReading& reading, std::vector<KubernetesPod>& pods, std::size_t& culprit);

}  // namespace muster::kubernetes
