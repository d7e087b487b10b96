#include "datasets/simulation/job_table.h"

#include <algorithm>
#include <utility>

#include "datasets/generator/instance.h"
#include "model/base/require.h"
#include "model/objective/evaluation.h"
#include "model/problem/gang_tree.h"
#include "model/problem/next_snapshot.h"

namespace muster::simulation {

namespace {

constexpr std::int64_t kUnknownMemoryMib = 1;

// Thousandths of a GPU of one pod; a memory request counts on the smallest known device.
Indexed<PodSpecIndex, Work> work_of_specs(const Snapshot& all) {
  std::int64_t smallest = 0;
  for (const SnapshotNode& node : all.nodes) {
    if (node.gpu_memory_mib > 0)
      smallest = smallest == 0 ? node.gpu_memory_mib : std::min(smallest, node.gpu_memory_mib);
  }
  Indexed<PodSpecIndex, Work> works(all.pod_specs.size());
  for (const PodSpecIndex spec : all.pod_specs.indices()) {
    works[spec] = generator::gpu_thousandths(all.pod_specs[spec].gpu, smallest == 0 ? kUnknownMemoryMib : smallest);
    for (const ResourceAmount& amount : all.pod_specs[spec].resources) {
      works[spec] += amount.amount * mig_slice_work(all.resource_names[amount.resource]);
    }
  }
  return works;
}

}  // namespace

JobTable::JobTable(const Snapshot& all, Snapshot& snapshot)
    : all_(all), snapshot_(snapshot), spec_work_(work_of_specs(all)) {}

const SimulatedJob& JobTable::add_gang(std::size_t gang, const std::vector<std::size_t>& pods,
                                       const Submission& submission) {
  SnapshotGang& added = snapshot_.gangs.emplace_back(all_.gangs[gang]);
  if (!added.terms.created) added.terms.created = submission.time;
  gang_job_.push_back(static_cast<SimulatedJobIndex>(jobs_.size()));
  return add(added.name, added.terms, pods, submission);
}

const SimulatedJob& JobTable::add_single(std::size_t pod, const Submission& submission) {
  static const GangTerms defaults;
  const std::int32_t terms = all_.pods[pod].own_gang;
  const GangTerms& own = terms < 0 ? defaults : all_.own_gang_terms[static_cast<std::size_t>(terms)];
  return add(all_.pods[pod].name, own, {pod}, submission);
}

const SimulatedJob& JobTable::add(std::string_view name, const GangTerms& terms, const std::vector<std::size_t>& pods,
                                  const Submission& submission) {
  SimulatedJob& job = jobs_.emplace_back();
  job.name = name;
  job.queue = terms.queue;
  job.priority = priority_of(terms);
  job.pods = pods.size();
  job.submitted = submission.time;
  job.duration = submission.duration;
  job.state.first_pod = snapshot_.pods.size();
  const auto index = static_cast<SimulatedJobIndex>(jobs_.size() - 1);
  for (const std::size_t position : pods) {
    SnapshotPod& pod = snapshot_.pods.push_back(all_.pods[position]);
    if (!pod.created) pod.created = submission.time;
    pod_job_.push_back(index);
    job.gpu_work += spec_work_[pod.spec];
  }
  recount(index);
  return job;
}

std::int32_t JobTable::priority_of(const GangTerms& terms) const {
  if (terms.priority) return *terms.priority;
  const auto& classes = snapshot_.definitions.priority_classes;
  const auto found = std::ranges::find(classes, terms.priority_class.value_or(""), &SnapshotPriorityClass::name);
  return found == classes.end() ? 0 : found->value;
}

bool JobTable::any_runs(SimulatedJobIndex index) const {
  const SimulatedJob& job = jobs_[index];
  bool any = false;
  for (std::size_t pod = job.state.first_pod; pod < job.state.first_pod + job.pods; ++pod) any = any || runs(pod);
  return any;
}

void JobTable::finish(SimulatedJobIndex index, Nanoseconds now) {
  SimulatedJob& job = jobs_[index];
  for (std::size_t pod = job.state.first_pod; pod < job.state.first_pod + job.pods; ++pod) {
    snapshot_.pods[pod].status = PodStatus::kSucceeded;  // until the lists are compacted
  }
  job.state.running_since.reset();
  job.finished = now;
  recount(index);
}

std::vector<PodRecord> JobTable::lose_pods_on(SimulatedJobIndex index, std::string_view node, Nanoseconds now) {
  const SimulatedJob& job = jobs_[index];
  std::vector<PodRecord> lost;
  for (std::size_t pod = job.state.first_pod; pod < job.state.first_pod + job.pods; ++pod) {
    if (!runs(pod) || snapshot_.pods[pod].node != node) continue;
    lost.push_back({snapshot_.pods[pod].name, node, {}, {}, 0});
    make_pending_again(snapshot_.pods[pod], now);
  }
  if (!lost.empty()) recount(index);
  return lost;
}

void JobTable::recount(SimulatedJobIndex index) {
  SimulatedJob& job = jobs_[index];
  pending_ -= job.state.pending;
  allocated_ -= job.state.running;
  job.state.pending = 0;
  job.state.running = 0;
  any_has_left_ = any_has_left_ || job.has_left();
  if (job.has_left()) return;
  for (std::size_t pod = job.state.first_pod; pod < job.state.first_pod + job.pods; ++pod) {
    if (snapshot_.pods[pod].status == PodStatus::kPending) ++job.state.pending;
    if (runs(pod)) job.state.running += work_of(pod);
  }
  pending_ += job.state.pending;
  allocated_ += job.state.running;
}

void JobTable::tell_durations() {
  const auto tell = [](GangTerms& terms, const SimulatedJob& job) {
    if (job.duration) terms.expected_duration = std::max<Nanoseconds>(1, *job.duration - job.state.progress);
  };
  for (std::size_t gang = 0; gang < snapshot_.gangs.size(); ++gang)
    tell(snapshot_.gangs[gang].terms, jobs_[gang_job_[gang]]);
  for (std::size_t pod = 0; pod < snapshot_.pods.size(); ++pod) {
    if (snapshot_.pods[pod].gang.empty()) tell(own_terms_of(snapshot_.pods[pod]), jobs_[pod_job_[pod]]);
  }
}

// Those of the workload may be of several pods, or of none.
GangTerms& JobTable::own_terms_of(SnapshotPod& pod) {
  std::vector<GangTerms>& all = snapshot_.own_gang_terms;
  const auto given = static_cast<std::int32_t>(all_.own_gang_terms.size());
  if (pod.own_gang < given) {
    all.push_back(pod.own_gang < 0 ? GangTerms{} : GangTerms{all[static_cast<std::size_t>(pod.own_gang)]});
    pod.own_gang = static_cast<std::int32_t>(all.size() - 1);
  }
  return all[static_cast<std::size_t>(pod.own_gang)];
}

void JobTable::compact() {
  if (!std::exchange(any_has_left_, false)) return;
  std::size_t to = 0;
  for (std::size_t gang = 0; gang < snapshot_.gangs.size(); ++gang) {
    if (jobs_[gang_job_[gang]].has_left()) continue;
    if (to != gang) snapshot_.gangs[to] = std::move(snapshot_.gangs[gang]);
    gang_job_[to++] = gang_job_[gang];
  }
  snapshot_.gangs.resize(to);
  gang_job_.resize(to);
  to = 0;
  for (std::size_t pod = 0; pod < snapshot_.pods.size(); ++pod) {
    SimulatedJob& job = jobs_[pod_job_[pod]];
    if (job.has_left()) continue;
    if (pod == job.state.first_pod) job.state.first_pod = to;
    if (to != pod) snapshot_.pods[to] = std::move(snapshot_.pods[pod]);
    pod_job_[to++] = pod_job_[pod];
  }
  snapshot_.pods.truncate(to);
  pod_job_.resize(to);
}

bool meets_minimum(const Problem& problem, const SimulatedJob& job, const std::function<bool(std::size_t)>& counts) {
  if (job.pods == 0) return true;
  MUSTER_REQUIRE(job.state.first_pod + job.pods <= problem.pods.size());
  const Gang& gang = problem.gangs[problem.pods[PodIndex(job.state.first_pod)].gang];
  return meets_minimum(problem, gang, [&](PodIndex pod) { return counts(pod.value()); });
}

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
