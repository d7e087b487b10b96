// A pod, its gang and its devices known -> an entry of pods[]
#pragma once

#include "io/kubernetes/gangs.h"
#include "io/kubernetes/pod/pod.h"
#include "io/kubernetes/queues.h"

namespace muster::kubernetes {

// Writes the pod's name first.
[[nodiscard]] bool write_pod(KubernetesReading& reading, json::JsonWriter& writer, const KubernetesPod& pod,
                             const KubernetesGangs& gangs, KubernetesQueues& queues);

// A pod of which something cannot be written as the format has it: its name, gang and place, and `why` as `unclear`.
void write_unclear_pod(json::JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs,
                       std::string_view why);

}  // namespace muster::kubernetes
