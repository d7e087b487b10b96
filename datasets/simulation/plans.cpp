// Carrying out a plan, and the records about it.
#include <algorithm>
#include <span>
#include <utility>

#include "datasets/simulation/simulation.h"
#include "model/base/require.h"
#include "model/objective/evaluation.h"
#include "model/problem/next_snapshot.h"
#include "model/referee/referee.h"

namespace muster {
namespace {

enum class Change : std::uint8_t { kNone, kPlaced, kMoved, kEvicted };

// Those of the job, whose pods are adjacent.
template <class Item>
std::span<const Item> of_job(const std::vector<Item>& items, const SimulatedJob& job) {
  const auto position = [](const Item& item) { return std::size_t{item.pod.value()}; };
  const auto first = std::ranges::lower_bound(items, job.first_pod, {}, position);
  const auto last = std::ranges::lower_bound(items, job.first_pod + job.pods, {}, position);
  return {first, last};
}

}  // namespace

struct Simulation::Changes {
  std::vector<Change> of_pod;
  std::vector<JobIndex> jobs;  // that are touched, ascending

  Changes(const Plan& plan, const std::vector<JobIndex>& pod_job) : of_pod(pod_job.size(), Change::kNone) {
    for (const Eviction& eviction : plan.evictions) of_pod[eviction.pod.value()] = Change::kEvicted;
    for (const Placement& placement : plan.placements) {
      Change& change = of_pod[placement.pod.value()];
      change = change == Change::kEvicted ? Change::kMoved : Change::kPlaced;
    }
    for (std::size_t pod = 0; pod < of_pod.size(); ++pod) {
      if (of_pod[pod] != Change::kNone && (jobs.empty() || jobs.back() != pod_job[pod])) jobs.push_back(pod_job[pod]);
    }
    std::ranges::sort(jobs);
  }
};

void Simulation::carry_out(Problem problem, const FairShares& shares, const Plan& plan) {
  MUSTER_REQUIRE(problem.snapshot == &snapshot_ && problem.pods.size() == snapshot_.pods.size());
  MUSTER_REQUIRE_SLOW(check_plan(snapshot_, problem, shares, plan).empty());
  problem_ = std::move(problem);
  std::optional<std::int64_t> fragmentation;
  if (snapshot_.policy.placement == PlacementPolicy::kBinpack) {
    fragmentation = evaluate(*problem_, shares, plan).values.back();
  }
  const Changes changes(plan, pod_job_);
  for (const JobIndex job : changes.jobs) leave(job, changes, plan);
  snapshot_ = next_snapshot(std::move(snapshot_), *problem_, plan, 0);
  for (const JobIndex job : changes.jobs) arrive(job, changes, plan);
  const bool is_empty = plan.placements.empty() && plan.evictions.empty();
  has_changed_ = options_.cycle == CycleRule::kPeriod && !is_empty;
  arrived_pods_ = 0;
  tell_cycle(shares, plan, fragmentation);
  if (options_.drops) drop_unplaced();
}

Work Simulation::running_work(const SimulatedJob& job) const {
  Work work = 0;
  for (std::size_t pod = job.first_pod; pod < job.first_pod + job.pods; ++pod) work += runs(pod) ? work_of(pod) : 0;
  return work;
}

void Simulation::interrupt(SimulatedJob& job, Work running) {
  const Nanoseconds ran = now_ - *job.running_since;
  GpuTime lost = 0;
  if (options_.resumes_work) {
    job.progress += ran;
  } else {
    lost = GpuTime{running} * ran;
  }
  job.running_since.reset();
  job.lost += lost;
  ++job.interruptions;
  ++job.epoch;
  if (job.duration) --running_with_end_;
  tell(JobRecord{JobEvent::kInterrupt, now_, job, {}, {}, {}, lost});
}

void Simulation::start_job(JobIndex index) {
  SimulatedJob& job = jobs_[index];
  job.running_since = now_;
  ++job.epoch;
  if (!job.first_start) job.first_start = now_;
  if (job.duration) {
    ends_.push({now_ + *job.duration - job.progress, index, job.epoch});
    ++running_with_end_;
  }
  tell(JobRecord{JobEvent::kStart, now_, job, {}, {}, {}, 0});
}

PodRecord Simulation::record_of(PodIndex pod, NodeIndex node, const std::vector<std::int32_t>& devices) const {
  PodRecord record{snapshot_.pods[pod.value()].name, {}, snapshot_.nodes[node.value()].name, devices, 0};
  if (devices.empty()) return record;
  const DeviceUnits units = share_units(problem_->class_of(pod), problem_->class_of(node));
  record.share = static_cast<std::int64_t>(static_cast<GpuTime>(units) * 1'000'000 / problem_->device_capacity(node));
  return record;
}

// The leaving pods, and the effect on the job's clock. The snapshot is still unchanged.
void Simulation::leave(JobIndex index, const Changes& changes, const Plan& plan) {
  SimulatedJob& job = jobs_[index];
  const auto evictions = of_job(plan.evictions, job);
  const auto placements = of_job(plan.placements, job);
  for (auto first = evictions.begin(); first != evictions.end();) {
    const auto is_alike = [&](const Eviction& e) { return e.reason == first->reason && e.for_gang == first->for_gang; };
    const auto last = std::find_if_not(first, evictions.end(), is_alike);
    JobRecord record{JobEvent::kEvict, now_, job, {}, eviction_reason_name(first->reason), {}, 0};
    if (!first->for_gang.is_none()) record.for_gang = problem_->gangs[first->for_gang].name;
    const bool moves = changes.of_pod[first->pod.value()] == Change::kMoved;
    if (moves) record.event = JobEvent::kMove;
    for (const Eviction& eviction : std::span(first, last)) {
      PodRecord pod{snapshot_.pods[eviction.pod.value()].name, {}, {}, {}, 0};
      if (moves) {
        const auto to = std::ranges::lower_bound(placements, eviction.pod, {}, &Placement::pod);
        pod = record_of(to->pod, to->node, to->devices);
      }
      pod.from = snapshot_.pods[eviction.pod.value()].node;
      record.pods.push_back(std::move(pod));
    }
    const auto count = static_cast<std::int64_t>(record.pods.size());
    (moves ? job.moved_pods : job.evicted_pods) += count;
    switch (first->reason) {
      case EvictionReason::kPreempt:
        totals_.preempted += count;
        break;
      case EvictionReason::kReclaim:
        totals_.reclaimed += count;
        break;
      case EvictionReason::kStale:
        totals_.stale += count;
        break;
      case EvictionReason::kConsolidate:
        totals_.moved += count;
        break;
    }
    tell(record);
    first = last;
  }
  const Work before = running_work(job);
  allocated_ -= before;
  const auto stays = [&](std::size_t pod) {
    const Change change = changes.of_pod[pod];
    if (change == Change::kEvicted || (change == Change::kMoved && !options_.moves_live)) return false;
    return runs(pod) || has_succeeded(snapshot_.pods[pod]);
  };
  if (job.running_since && !meets(job, stays)) interrupt(job, before);
}

void Simulation::arrive(JobIndex index, const Changes& changes, const Plan& plan) {
  SimulatedJob& job = jobs_[index];
  allocated_ += running_work(job);
  const auto pods_placed = of_job(plan.placements, job);
  std::vector<PodRecord> pods;
  for (const Placement& placement : pods_placed) {
    if (changes.of_pod[placement.pod.value()] == Change::kMoved) continue;
    pods.push_back(record_of(placement.pod, placement.node, placement.devices));
  }
  pending_pods_ -= static_cast<std::int64_t>(pods.size());
  for (const Eviction& eviction : of_job(plan.evictions, job)) {
    pending_pods_ += changes.of_pod[eviction.pod.value()] == Change::kEvicted ? 1 : 0;
  }
  if (!pods.empty()) tell(JobRecord{JobEvent::kPlace, now_, job, std::move(pods), {}, {}, 0});
  const auto counts = [&](std::size_t pod) { return runs(pod) || has_succeeded(snapshot_.pods[pod]); };
  if (!job.running_since && !pods_placed.empty() && meets(job, counts)) start_job(index);
}

// The state of the cluster, recorded once a cycle and kept until the next one.
void Simulation::tell_cycle(const FairShares& shares, const Plan& plan, std::optional<std::int64_t> fragmentation) {
  CycleRecord record;
  record.time = now_;
  record.number = totals_.cycles++;
  for (const Placement& placement : plan.placements) {
    record.placed += problem_->pods[placement.pod].status == PodStatus::kPending ? 1 : 0;
  }
  record.moved = static_cast<std::int64_t>(plan.placements.size()) - record.placed;
  record.evicted = static_cast<std::int64_t>(plan.evictions.size()) - record.moved;
  record.capacity = capacity_;
  record.allocated = allocated_;
  record.pending = pending_pods_;
  record.fragmentation = fragmentation;
  Indexed<QueueIndex, Work> used(problem_->queues.size());
  for (std::size_t pod = 0; pod < snapshot_.pods.size(); ++pod) {
    const SimulatedJob& job = jobs_[pod_job_[pod]];
    if (pod == job.first_pod && !job.running_since) ++record.waiting_gangs;
    if (snapshot_.pods[pod].status == PodStatus::kPending) record.waiting_work += work_of(pod);
    if (!runs(pod)) continue;
    ++record.running;
    const QueueIndex queue = problem_->gangs[problem_->pods[PodIndex(pod)].gang].queue;
    if (!queue.is_none()) used[queue] += work_of(pod);
  }
  for (const QueueIndex queue : problem_->queues.indices()) {
    if (!problem_->queues[queue].is_leaf()) continue;
    record.queues.push_back({problem_->queues[queue].name, shares.share[queue][kQueueGpu] / 1000, used[queue]});
  }
  tell(record);
  add_sample_until(now_, totals_);
  totals_.last = std::move(record);
  totals_.sampled_since_last = 0;
}

void Simulation::drop_unplaced() {
  for (; new_jobs_ < jobs_.size(); ++new_jobs_) {
    SimulatedJob& job = jobs_[new_jobs_];
    if (job.has_left()) continue;
    std::int64_t waiting = 0;
    bool any_runs = false;
    for (std::size_t pod = job.first_pod; pod < job.first_pod + job.pods; ++pod) {
      waiting += snapshot_.pods[pod].status == PodStatus::kPending ? 1 : 0;
      any_runs = any_runs || runs(pod);
    }
    if (any_runs || waiting == 0) continue;
    pending_pods_ -= waiting;
    job.is_dropped = any_finished_ = true;
    tell(JobRecord{JobEvent::kDrop, now_, job, {}, {}, {}, 0});
  }
}

void add_sample_until(Nanoseconds time, SimulationTotals& totals) {
  if (!totals.last) return;
  const CycleRecord& sample = *totals.last;
  MUSTER_REQUIRE(time >= sample.time);
  const Nanoseconds from = sample.time + totals.sampled_since_last;
  const Nanoseconds span = time - from;
  if (span <= 0) return;
  totals.sampled_since_last += span;
  totals.sampled += span;
  totals.sampled_capacity += GpuTime{sample.capacity} * span;
  const double seconds = static_cast<double>(span) / 1e9;
  if (sample.fragmentation) totals.fragmentation_seconds += static_cast<double>(*sample.fragmentation) / 1e6 * seconds;
  double sum = 0, squares = 0;
  std::int64_t entitled = 0;
  for (const QueueSample& queue : sample.queues) {
    const Work shortfall = std::max<Work>(0, queue.fair_share - queue.allocated);
    QueueTotals& total = totals.queues[queue.name];
    total.fair_share += GpuTime{queue.fair_share} * span;
    total.allocated += GpuTime{queue.allocated} * span;
    total.shortfall += GpuTime{shortfall} * span;
    total.time += span;
    totals.shortfall += GpuTime{shortfall} * span;
    if (queue.fair_share <= 0) continue;
    const double ratio = static_cast<double>(queue.allocated) / static_cast<double>(queue.fair_share);
    ++entitled;
    sum += ratio;
    squares += ratio * ratio;
  }
  // No queue is entitled to anything, or none has any: all are equal.
  totals.jain_seconds += squares > 0 ? sum * sum / (static_cast<double>(entitled) * squares) * seconds : seconds;
}

}  // namespace muster
