#include "datasets/simulation/cycle_record.h"

#include "model/base/require.h"
#include "model/objective/evaluation.h"

namespace muster::simulation {

std::optional<std::int64_t> fragmentation_of(const Problem& problem, const FairShares& shares, const Plan& plan) {
  if (problem.snapshot->policy.placement != PlacementPolicy::kBinpack) return std::nullopt;
  return evaluate(problem, shares, plan).values.back();
}

CycleRecord cycle_record(const JobTable& jobs, const Problem& problem, const FairShares& shares, const Plan& plan) {
  MUSTER_REQUIRE(jobs.job_of_pods().size() == problem.pods.size());
  CycleRecord record;
  for (const Placement& placement : plan.placements) {
    record.placed += problem.pods[placement.pod].status == PodStatus::kPending ? 1 : 0;
  }
  record.moved = static_cast<std::int64_t>(plan.placements.size()) - record.placed;
  record.evicted = static_cast<std::int64_t>(plan.evictions.size()) - record.moved;
  record.allocated = jobs.allocated();
  record.pending = jobs.pending_pods();
  Indexed<QueueIndex, Work> used(problem.queues.size());
  for (std::size_t pod = 0; pod < problem.pods.size(); ++pod) {
    const SimulatedJob& job = jobs.jobs()[jobs.job_of_pods()[pod]];
    if (pod == job.state.first_pod && !job.state.running_since) ++record.waiting_gangs;
    if (jobs.is_pending(pod)) record.waiting_work += jobs.work_of(pod);
    if (!jobs.runs(pod)) continue;
    ++record.running;
    const QueueIndex queue = problem.gangs[problem.pods[PodIndex(pod)].gang].queue;
    if (!queue.is_none()) used[queue] += jobs.work_of(pod);
  }
  for (const QueueIndex queue : problem.queues.indices()) {
    if (!problem.queues[queue].is_leaf()) continue;
    record.queues.push_back({problem.queues[queue].name, shares.share[queue][kQueueGpu] / 1000, used[queue]});
  }
  return record;
}

}  // namespace muster::simulation
