#include "datasets/simulation/job_runs.h"

#include <utility>

#include "model/base/require.h"

namespace muster::simulation {

void JobRuns::start(SimulatedJobIndex index, Nanoseconds now) {
  SimulatedJob& job = jobs_[index];
  job.state.running_since = now;
  ++job.state.epoch;
  if (!job.first_start) job.first_start = now;
  if (job.duration) {
    ends_.push({now + *job.duration - job.state.progress, index, job.state.epoch});
    ++running_with_end_;
  }
  log_.tell(JobRecord{JobEvent::kStart, now, job, {}, {}, {}, 0});
}

void JobRuns::interrupt(SimulatedJobIndex index, Work running, Nanoseconds now) {
  SimulatedJob& job = jobs_[index];
  MUSTER_REQUIRE(job.state.running_since);
  const Nanoseconds ran = now - *job.state.running_since;
  GpuTime lost = 0;
  if (resumes_work_) {
    job.state.progress += ran;
  } else {
    lost = GpuTime{running} * ran;
  }
  job.state.running_since.reset();
  ++job.state.epoch;
  job.disruptions.lost += lost;
  ++job.disruptions.interruptions;
  if (job.duration) --running_with_end_;
  log_.tell(JobRecord{JobEvent::kInterrupt, now, job, {}, {}, {}, lost});
}

std::optional<Nanoseconds> JobRuns::next_end() const {
  if (ends_.empty()) return std::nullopt;
  return ends_.top().time;
}

std::optional<SimulatedJobIndex> JobRuns::finish_next(Nanoseconds now) {
  MUSTER_REQUIRE(!ends_.empty());
  const End end = ends_.top();
  ends_.pop();
  SimulatedJob& job = jobs_[end.job];
  if (end.epoch != job.state.epoch || !job.state.running_since) return std::nullopt;
  jobs_.finish(end.job, now);
  --running_with_end_;
  log_.tell(JobRecord{JobEvent::kFinish, now, job, {}, {}, {}, 0});
  return end.job;
}

void JobRuns::lose_pods_on(std::string_view node, const Problem& problem, Nanoseconds now) {
  MUSTER_REQUIRE(problem.pods.size() <= jobs_.job_of_pods().size());
  for (std::size_t first = 0; first < jobs_.job_of_pods().size();) {
    const SimulatedJobIndex index = jobs_.job_of_pods()[first];
    SimulatedJob& job = jobs_[index];
    first += job.pods;
    const Work before = job.state.running;
    std::vector<PodRecord> lost = jobs_.lose_pods_on(index, node, now);
    if (lost.empty()) continue;
    const auto count = static_cast<std::int64_t>(lost.size());
    job.disruptions.evicted_pods += count;
    log_.count_failed(count);
    log_.tell(JobRecord{JobEvent::kEvict, now, job, std::move(lost), "failure", {}, 0});
    const auto counts = [&](std::size_t pod) { return jobs_.counts(pod); };
    if (job.state.running_since && !meets_minimum(problem, job, counts)) interrupt(index, before, now);
  }
}

void JobRuns::drop_unplaced(Nanoseconds now) {
  for (; first_new_ < jobs_.jobs().size(); ++first_new_) {
    SimulatedJob& job = jobs_[first_new_];
    if (job.has_left() || job.state.pending == 0 || jobs_.any_runs(first_new_)) continue;
    job.is_dropped = true;
    jobs_.recount(first_new_);
    log_.tell(JobRecord{JobEvent::kDrop, now, job, {}, {}, {}, 0});
  }
}

}  // namespace muster::simulation
