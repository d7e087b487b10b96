// What the two halves of the simulation share.
#pragma once

#include "datasets/simulation.h"
#include "model/gang_tree.h"

namespace muster {

inline bool has_succeeded(const SnapshotPod& pod) { return pod.status == PodStatus::kSucceeded; }

// Whether the pods of a job that count meet its minimum. Requires that positions are those of the last problem.
template <class Counts>
bool Simulation::meets(const SimulatedJob& job, const Counts& counts) const {
  if (job.pods == 0) return true;
  const Gang& gang = problem_->gangs[problem_->pods[PodIndex(job.first_pod)].gang];
  return meets_minimum(*problem_, gang, [&](PodIndex pod) { return counts(pod.value()); });
}

}  // namespace muster
