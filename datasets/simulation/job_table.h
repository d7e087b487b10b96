// The jobs of a simulation, and their gangs and pods in the snapshot that a scheduler sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "datasets/simulation/records.h"
#include "model/base/index.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

using SimulatedJobIndex = std::uint32_t;  // in the order of submission

// Jobs in order of submission, each with adjacent pods. Knows what their pods are worth and what they do: which run,
// which are pending.
class JobTable {
 public:
  // Gangs and pods are copied from `all`, which outlives the table, and added to `snapshot`: only the table adds
  // or removes any there. Cost: O(nodes + pod specs) of `all`.
  JobTable(const Snapshot& all, Snapshot& snapshot);
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  struct Submission {
    Nanoseconds time = 0;
    std::optional<Nanoseconds> duration;
  };
  // A gang with these of its pods; `gang` and `pods` are positions in `all`.
  const SimulatedJob& add_gang(std::size_t gang, const std::vector<std::size_t>& pods, const Submission& submission);
  // A pod that is a gang by itself.
  const SimulatedJob& add_single(std::size_t pod, const Submission& submission);

  const std::vector<SimulatedJob>& jobs() const { return jobs_; }
  SimulatedJob& operator[](SimulatedJobIndex job) { return jobs_[job]; }
  const std::vector<SimulatedJobIndex>& job_of_pods() const { return pod_job_; }  // by position in the snapshot

  bool runs(std::size_t pod) const { return snapshot_.pods[pod].status == PodStatus::kRunning; }
  bool is_pending(std::size_t pod) const { return snapshot_.pods[pod].status == PodStatus::kPending; }
  // Towards the minimum of its gang.
  bool counts(std::size_t pod) const { return runs(pod) || has_succeeded(snapshot_.pods[pod]); }
  Work work_of(std::size_t pod) const { return spec_work_[snapshot_.pods[pod].spec]; }
  std::int64_t pending_pods() const { return pending_; }
  Work allocated() const { return allocated_; }  // of all running pods, thousandths of a GPU

  bool any_runs(SimulatedJobIndex job) const;

  // All pods of the job succeed.
  void finish(SimulatedJobIndex job, Nanoseconds now);
  // The job's running pods on the node, which are pending again.
  std::vector<PodRecord> lose_pods_on(SimulatedJobIndex job, std::string_view node, Nanoseconds now);
  // Counts a job's pods again; needed once their status has changed, or the job has left. Cost: O(pods) of it.
  void recount(SimulatedJobIndex job);
  // Each job tells in the snapshot how long it still has to run, from its last start on. Jobs that run for ever tell
  // nothing. Cost: O(pods + gangs).
  void tell_durations();
  // Removes the gangs and pods of jobs that have left from the snapshot: positions change. Cost: O(pods + gangs) if a
  // job has left since the last call.
  void compact();

 private:
  const SimulatedJob& add(std::string_view name, const GangTerms& terms, const std::vector<std::size_t>& pods,
                          const Submission& submission);
  std::int32_t priority_of(const GangTerms& terms) const;
  GangTerms& own_terms_of(SnapshotPod& pod);

  const Snapshot& all_;
  Snapshot& snapshot_;
  Indexed<PodSpecIndex, Work> spec_work_;  // thousandths of a GPU
  std::vector<SimulatedJob> jobs_;
  std::vector<SimulatedJobIndex> pod_job_, gang_job_;  // by pod and gang of the snapshot
  std::int64_t pending_ = 0;
  Work allocated_ = 0;
  bool any_has_left_ = false;
};

// Whether the job's pods that count, by position in the snapshot, meet its minimum. Requires a problem with the
// positions of the snapshot now. Cost: O(pods + groups) of the job.
bool meets_minimum(const Problem& problem, const SimulatedJob& job, const std::function<bool(std::size_t)>& counts);

// The cluster as a plan leaves it, as a record.
//
// The value of the fragmentation level that the plan reaches; none: the policy is to spread. Cost: that of `evaluate`.
std::optional<std::int64_t> fragmentation_of(const Problem& problem, const FairShares& shares, const Plan& plan);

// Without the number, the capacity and the fragmentation. Requires that the plan has been carried out on the jobs, and
// that the problem is the one that it was made for. Cost: O(pods + queues).
CycleRecord cycle_record(const JobTable& jobs, const Problem& problem, const FairShares& shares, const Plan& plan);

}  // namespace muster::simulation
