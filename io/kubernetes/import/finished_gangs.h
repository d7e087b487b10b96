// How long the gangs took that have finished in a list -> policy.expectedDurations
#pragma once

#include <vector>

#include "io/kubernetes/pod/pod.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// Of the gangs, and of the pods without one, of which all pods have succeeded until `now`, and tell when they started
// and ended: the time from the earliest start to the latest end, by the GPUs of all pods, rounded up; at least one, and
// a share by memory counts as one. Pods that are left out of the snapshot do not count. Empty if there are none.
// Every pod counts for the gang that it has joined. Cost: O(pods log pods).
std::vector<DurationHistory> durations_of_finished(const std::vector<KubernetesPod>& pods, Nanoseconds now,
                                                   KubernetesRemarks& remarks);

}  // namespace muster::kubernetes
