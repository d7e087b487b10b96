// The snapshot that a scheduler sees one cycle later, once a plan has been carried out.
//
// Every departure has happened and every placement has started, including those that had to wait for others:
// - placed and moved pods run on their node and devices, since the new time;
// - evicted pods, stale ones included, are pending again, as if created at the new time; a pod that is a gang by
//   itself keeps its age, as gangs do;
// - releasing pods are gone from the snapshot;
// - gangs without `created` keep their age; a gang below its minimum with running pods has been so since the old time
//   if the snapshot gave no time; a gang that is not below its minimum (or has no running pods) loses that mark;
// - a disruption budget allows one more for each pod of it that starts, and one less for each that is gone.
// All else is unchanged, as is the order of all lists.
#pragma once

#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// Makes a running pod that is evicted, or whose node fails, pending again, as if newly created.
void make_pending_again(SnapshotPod& pod, Nanoseconds now);

// Requires that `problem` was built of this very snapshot (which has been moved here from the place that the problem
// refers to: only groups and gangs are read from the problem), a plan that the referee passes, and later >= 0. Ensures
// a snapshot of which a problem can be built again. Cost: O(nodes + pods + groups).
Snapshot next_snapshot(Snapshot snapshot, const Problem& problem, const Plan& plan, Nanoseconds later);

// Where every pod is once a plan is carried out: all evicted and releasing pods are gone, all waiting pods have
// started.
struct EndState {
  // None: the pod has no node. Pods that run and stay, and pods that are placed, are present.
  Indexed<PodIndex, NodeIndex> node_of;
  bool is_present(PodIndex pod) const { return !node_of[pod].is_none(); }
};

// Cost: O(pods).
EndState end_state_of(const Problem& problem, const Plan& plan);

// Whether the plan puts the pod somewhere. Requires a plan in order. Cost: O(log placements).
bool is_placed(const Plan& plan, PodIndex pod);
// Whether the plan evicts the pod, moves included. The same.
bool is_evicted(const Plan& plan, PodIndex pod);

}  // namespace muster
