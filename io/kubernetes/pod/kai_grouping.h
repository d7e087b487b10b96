// The PodGroup that KAI's pod grouper is going to make for a pod which has none yet. As pkg/podgrouper of KAI does it,
// as far as the pod and its owners tell; docs/kubernetes.md, "Pods without a PodGroup".
#pragma once

#include <string_view>

#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// The queue of pods whose labels name none.
inline constexpr std::string_view kKaiDefaultQueue = "default-queue";

// kKaiPod, a group of the pod alone, or kKaiOwner, of all pods of an owner: the outermost one that is known so far.
// Cost: O(labels of the pod).
GroupReference kai_group_of(const KubernetesPod& pod);

// Whether the pods of a group of this kind of owner start together; else each of them starts alone.
bool starts_together(std::string_view owner_kind);

// The priority class of a pod that names none.
std::string_view kai_priority_class(const PodOwner& owner);

}  // namespace muster::kubernetes
