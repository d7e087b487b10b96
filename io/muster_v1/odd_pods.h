// What becomes of pods once their keys are read: the terms of those that are gangs by themselves, and of those that are
// understood in part only, what they may do.
#pragma once

#include <string>

#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

// Gives a pod without a gang its terms; `created` is the pod's. Pods in turn with equal terms share them.
void keep_own_terms(SnapshotInput& in, GangTerms terms, SnapshotPod& pod);

// Whether it takes up room on a node.
inline bool holds_room(const SnapshotPod& pod) {
  return pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
}

// The part of a pod that is not understood may restrict where it may go: its gang is held. The writer of the line may
// have held it already, and said why in general. `wrong`: what is not understood.
void hold_pod(SnapshotInput& in, SnapshotPod& pod, const std::string& wrong);

// Of a pod whose usage is unknown: no new pod is placed on its node.
void close_node_of(SnapshotInput& in, const SnapshotPod& pod);

}  // namespace muster::muster_v1
