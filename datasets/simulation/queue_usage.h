// What the queues of a simulation use, over time.
#pragma once

#include <cstddef>
#include <vector>

#include "datasets/simulation/job_table.h"
#include "model/problem/histories.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

// Keeps the decayed average usage of each queue, exactly: usage is constant between two events.
class QueueUsage {
 public:
  // Averages begin with the `usage` that the queues tell. Requires half_life > 0.
  QueueUsage(Nanoseconds half_life, const std::vector<SnapshotQueue>& queues);

  // From now on, pods run where the problem has them, or where the plan places them. Cost: O(pods).
  void note_plan(const Problem& problem, const Plan& plan);
  // The jobs have been as they are since the last call, until now. Requires the positions of the last plan; pods that
  // were submitted later run on no node. Cost: O(pods).
  void pass_time(const Problem& problem, const JobTable& jobs, Nanoseconds now);

  void write(std::vector<SnapshotQueue>& queues) const { history_.write(queues); }

 private:
  UsageHistory history_;
  std::vector<QueueAmounts> of_pod_;  // while it runs, by position at the last plan
};

}  // namespace muster::simulation
