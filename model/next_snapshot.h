// What a scheduler sees a cycle later, once a plan has been carried out: the snapshot after the plan.
//
// Every departure has happened and every placement has started, those that had to wait for others included:
// - placed and moved pods run on their node and devices, since the new time;
// - evicted pods, stale ones included, are pending again, as if made anew at the new time; a pod that is a gang of its
//   own keeps its age, as gangs do;
// - releasing pods are gone from the snapshot;
// - gangs that said no `created` keep the age that they have; a gang below its minimum with pods running is told to be
//   so since the old time where nothing was said, and one that is not below it (or has nothing running) no longer is.
// - a disruption budget allows one more for each pod of it that starts, and one less for each that is gone.
// All else stays, and so does the order of all lists.
#pragma once

#include "model/plan.h"
#include "model/problem.h"
#include "model/snapshot.h"

namespace muster {

// What becomes of a running pod that is evicted, or whose node fails: pending again, as if made anew.
void make_pending_again(SnapshotPod& pod, Nanoseconds now);

// Requires that `problem` was built of this very snapshot (moved here from where the problem refers to: what is read of
// the problem are groups and gangs), a plan that the referee passes, and later >= 0. Ensures a snapshot of which a
// problem can be built again. Cost: O(nodes + pods + groups).
Snapshot next_snapshot(Snapshot snapshot, const Problem& problem, const Plan& plan, Nanoseconds later);

}  // namespace muster
