// A pod, its gang and its devices known -> an entry of pods[]
#pragma once

#include "io/kubernetes/gangs.h"
#include "io/kubernetes/pod/pod.h"
#include "io/kubernetes/queues.h"

namespace muster {

// Writes the pod's name first.
[[nodiscard]] bool write_pod(KubernetesReading& reading, JsonWriter& writer, const KubernetesPod& pod,
                             const KubernetesGangs& gangs, KubernetesQueues& queues);

}  // namespace muster
