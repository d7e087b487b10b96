#include "datasets/simulation/plan_execution.h"

#include <algorithm>
#include <utility>

#include "model/base/require.h"

namespace muster::simulation {
namespace {

// Those of the job, whose pods are adjacent.
template <class Item>
std::span<const Item> of_job(const std::vector<Item>& items, const SimulatedJob& job) {
  const auto position = [](const Item& item) { return std::size_t{item.pod.value()}; };
  const auto first = std::ranges::lower_bound(items, job.state.first_pod, {}, position);
  const auto last = std::ranges::lower_bound(items, job.state.first_pod + job.pods, {}, position);
  return {first, last};
}

}  // namespace

PlanExecution::PlanExecution(const Cluster& cluster, const Plan& plan, Nanoseconds now, bool moves_live)
    : at_(cluster),
      plan_(plan),
      now_(now),
      moves_live_(moves_live),
      change_(cluster.jobs.job_of_pods().size(), Change::kNone) {
  MUSTER_REQUIRE(cluster.problem.snapshot == &cluster.snapshot && cluster.problem.pods.size() == change_.size());
  for (const Eviction& eviction : plan.evictions) change_[eviction.pod.value()] = Change::kEvicted;
  for (const Placement& placement : plan.placements) {
    Change& change = change_[placement.pod.value()];
    change = change == Change::kEvicted ? Change::kMoved : Change::kPlaced;
  }
  const std::vector<SimulatedJobIndex>& job_of = cluster.jobs.job_of_pods();
  for (std::size_t pod = 0; pod < change_.size(); ++pod) {
    if (change_[pod] != Change::kNone && (touched_.empty() || touched_.back() != job_of[pod])) {
      touched_.push_back(job_of[pod]);
    }
  }
  std::ranges::sort(touched_);
}

void PlanExecution::depart() {
  MUSTER_REQUIRE(at_.snapshot.pods.size() == change_.size());
  for (const SimulatedJobIndex job : touched_) depart(job);
}

void PlanExecution::arrive() {
  MUSTER_REQUIRE(at_.snapshot.pods.size() == change_.size());
  for (const SimulatedJobIndex job : touched_) arrive(job);
}

void PlanExecution::depart(SimulatedJobIndex index) {
  SimulatedJob& job = at_.jobs[index];
  const auto evictions = of_job(plan_.evictions, job);
  for (auto first = evictions.begin(); first != evictions.end();) {
    const auto is_alike = [&](const Eviction& e) { return e.reason == first->reason && e.for_gang == first->for_gang; };
    const auto last = std::find_if_not(first, evictions.end(), is_alike);
    tell_departures(job, {first, last});
    first = last;
  }
  if (!job.state.running_since) return;
  if (!meets_minimum(at_.problem, job, [&](std::size_t pod) { return stays(pod); })) {
    at_.runs.interrupt(index, job.state.running, now_);
  }
}

// Evictions of the job for one reason and one gang: one record.
void PlanExecution::tell_departures(SimulatedJob& job, std::span<const Eviction> alike) {
  const Eviction& one = alike.front();
  JobRecord record{JobEvent::kEvict, now_, job, {}, eviction_reason_name(one.reason), {}, 0};
  if (!one.for_gang.is_none()) record.for_gang = at_.problem.gangs[one.for_gang].name;
  const bool moves = change_[one.pod.value()] == Change::kMoved;
  if (moves) record.event = JobEvent::kMove;
  const auto placements = of_job(plan_.placements, job);
  for (const Eviction& eviction : alike) {
    PodRecord pod{at_.snapshot.pods[eviction.pod.value()].name, {}, {}, {}, 0};
    if (moves) {
      const auto to = std::ranges::lower_bound(placements, eviction.pod, {}, &Placement::pod);
      pod = pod_record(at_.snapshot, at_.problem, to->pod, to->node, to->devices);
    }
    pod.from = at_.snapshot.pods[eviction.pod.value()].node;
    record.pods.push_back(std::move(pod));
  }
  const auto count = static_cast<std::int64_t>(alike.size());
  (moves ? job.disruptions.moved_pods : job.disruptions.evicted_pods) += count;
  at_.log.count_departures(one.reason, count);
  at_.log.tell(record);
}

// Whether the pod counts while the plan is carried out.
bool PlanExecution::stays(std::size_t pod) const {
  const Change change = change_[pod];
  if (change == Change::kEvicted || (change == Change::kMoved && !moves_live_)) return false;
  return at_.jobs.counts(pod);
}

void PlanExecution::arrive(SimulatedJobIndex index) {
  at_.jobs.recount(index);
  SimulatedJob& job = at_.jobs[index];
  const auto placements = of_job(plan_.placements, job);
  std::vector<PodRecord> pods;
  for (const Placement& placement : placements) {
    if (change_[placement.pod.value()] == Change::kMoved) continue;
    pods.push_back(pod_record(at_.snapshot, at_.problem, placement.pod, placement.node, placement.devices));
  }
  if (!pods.empty()) at_.log.tell(JobRecord{JobEvent::kPlace, now_, job, std::move(pods), {}, {}, 0});
  if (job.state.running_since || placements.empty()) return;
  if (meets_minimum(at_.problem, job, [&](std::size_t pod) { return at_.jobs.counts(pod); })) {
    at_.runs.start(index, now_);
  }
}

PodRecord pod_record(const Snapshot& snapshot, const Problem& problem, PodIndex pod, NodeIndex node,
                     const std::vector<std::int32_t>& devices) {
  PodRecord record{snapshot.pods[pod.value()].name, {}, snapshot.nodes[node.value()].name, devices, 0};
  if (devices.empty()) return record;
  const DeviceUnits units = share_units(problem.class_of(pod), problem.class_of(node));
  record.share = static_cast<std::int64_t>(static_cast<GpuTime>(units) * 1'000'000 / problem.device_capacity(node));
  return record;
}

}  // namespace muster::simulation
