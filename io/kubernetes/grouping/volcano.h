// The PodGroup that Volcano's controller is going to make for pods which have none yet (pkg/controllers/podgroup of
// Volcano): one for the pods of one controller, as its annotations have it.
#pragma once

#include <vector>

#include "io/kubernetes/groups.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

inline constexpr std::string_view kVolcanoScheduler = "volcano";
// Of pods, of objects that make them, and of their namespace.
inline constexpr std::string_view kVolcanoQueueAnnotation = "scheduling.volcano.sh/queue-name";

// Sets the reference of the pod; `group` is the one that it names. `above`: the objects above the pod that the list
// has, the nearest first. Cost: O(labels and annotations).
void make_volcano_group(const std::vector<const KubernetesObject*>& above, KubernetesPod& pod, KubernetesGroup& group);

}  // namespace muster::kubernetes
