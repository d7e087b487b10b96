// A plan is carried out on the jobs of a simulation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/simulation/job_runs.h"
#include "datasets/simulation/job_table.h"
#include "datasets/simulation/simulation_log.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

// One plan, at one instant: the effect of its departures on the jobs, then that of its arrivals, and the records about
// both. Between the two, the caller puts the next snapshot in the place of the old one. Cost: O(pods), O(log jobs) for
// each job that the plan touches.
class PlanExecution {
 public:
  // All outlive the object.
  struct Cluster {
    const Snapshot& snapshot;
    const Problem& problem;
    JobTable& jobs;
    JobRuns& runs;
    SimulationLog& log;
  };
  // `moves_live`: a move is no interruption. Requires a problem that was built of the snapshot, and a plan that the
  // referee passes.
  PlanExecution(const Cluster& cluster, const Plan& plan, Nanoseconds now, bool moves_live);

  // Requires that the snapshot is unchanged.
  void depart();
  // Requires that the snapshot is what next_snapshot() makes of the plan.
  void arrive();

 private:
  enum class Change : std::uint8_t { kNone, kPlaced, kMoved, kEvicted };

  void depart(SimulatedJobIndex job);
  void arrive(SimulatedJobIndex job);
  void tell_departures(SimulatedJob& job, std::span<const Eviction> alike);
  bool stays(std::size_t pod) const;

  Cluster at_;
  const Plan& plan_;
  Nanoseconds now_;
  bool moves_live_;
  std::vector<Change> change_;              // by pod
  std::vector<SimulatedJobIndex> touched_;  // ascending
};

// The pod on its node; `devices` of that node.
PodRecord pod_record(const Snapshot& snapshot, const Problem& problem, PodIndex pod, NodeIndex node,
                     const std::vector<std::int32_t>& devices);

}  // namespace muster::simulation
