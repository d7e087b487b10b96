#include "datasets/simulation/simulation.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "datasets/simulation/job_table.h"
#include "datasets/simulation/plan_execution.h"
#include "datasets/simulation/told_starts.h"
#include "model/base/require.h"
#include "model/build/build_problem.h"
#include "model/problem/next_snapshot.h"
#include "model/referee/referee.h"

namespace muster::simulation {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, const PositionRange& range) {
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(range.begin),
            from.begin() + static_cast<std::ptrdiff_t>(range.end));
}

// All but nodes, queues, gangs and pods.
void copy_frame(const Snapshot& from, Snapshot& to) {
  to.id = from.id;
  to.time = from.time;
  to.policy = from.policy;
  to.definitions.topologies = from.definitions.topologies;
  to.definitions.priority_classes = from.definitions.priority_classes;
  to.own_gang_terms = from.own_gang_terms;
  to.pod_specs = from.pod_specs;
  to.resource_names = from.resource_names;
}

// Whether all that is ever submitted is consistent, as one snapshot of the first nodes.
std::optional<InputError> check_all(const Workload& workload) {
  const Snapshot& all = workload.all;
  Snapshot everything;
  copy_frame(all, everything);
  append(everything.nodes, all.nodes, workload.start_nodes);
  std::unordered_set<std::string_view> names;
  for (const SnapshotQueue& queue : all.queues) {
    if (names.insert(queue.name).second) everything.queues.push_back(queue);
  }
  everything.gangs = all.gangs;
  everything.pods = all.pods;
  const Result<Problem> problem = build_problem(everything);
  if (!problem) return problem.error();
  return std::nullopt;
}

Nanoseconds last_arrival(const Workload& workload) {
  Nanoseconds last = workload.all.time;
  for (const WorkloadEvent& event : workload.events) {
    if (event.kind == WorkloadEventKind::kSubmit) last = event.time;
  }
  return last;
}

}  // namespace

Simulation::Simulation(const Workload& workload, const SimulationOptions& options, Sink sink)
    : workload_(workload),
      options_(options),
      log_(std::move(sink), last_arrival(workload)),
      jobs_(workload.all, snapshot_),
      runs_(jobs_, log_, options.resumes_work),
      nodes_(snapshot_, options.failures),
      trigger_(options, workload.all.time),
      now_(workload.all.time) {
  copy_frame(workload.all, snapshot_);
  prepare_policy(snapshot_.policy.over_time);
  append(snapshot_.queues, workload.all.queues, workload.start_queues);
  if (options_.usage_half_life > 0) usage_.emplace(options_.usage_half_life, snapshot_.queues);
}

// A policy that needs durations has them whatever the workload orders gangs by.
void Simulation::prepare_policy(OverTime& over_time) {
  KnownDurations& known = options_.durations;
  if (known == KnownDurations::kByRules && over_time.order == SeniorityRule::kWaited) known = KnownDurations::kNone;
  const bool reserves_itself = known == KnownDurations::kExpected || known == KnownDurations::kExact;
  if (reserves_itself) over_time.reserve_after = kNever;
  over_time.order = known == KnownDurations::kNone ? SeniorityRule::kWaited : SeniorityRule::kExpectedDuration;
  if (known != KnownDurations::kNone) over_time.expected_durations = durations_.list();
}

Result<std::unique_ptr<Simulation>> Simulation::begin(const Workload& workload, const SimulationOptions& options,
                                                      Sink sink) {
  std::unique_ptr<Simulation> simulation(new Simulation(workload, options, std::move(sink)));
  if (auto error = check_all(workload)) return *std::move(error);
  if (auto error = simulation->start()) return *std::move(error);
  return simulation;
}

std::optional<InputError> Simulation::start() {
  for (std::size_t i = workload_.start_nodes.begin; i < workload_.start_nodes.end; ++i) add_node(i);
  submit(workload_.start_gangs, workload_.start_pods, std::nullopt);
  Result<Problem> problem = build_problem(snapshot_);
  if (!problem) return problem.error();
  problem_ = *std::move(problem);
  if (usage_) {
    usage_->note_plan(*problem_, {});
    usage_->pass_time(*problem_, jobs_, now_);
  }
  for (SimulatedJobIndex index = 0; index < jobs_.jobs().size(); ++index) {
    const SimulatedJob& job = jobs_.jobs()[index];
    std::vector<PodRecord> pods;
    for (std::size_t pod = job.state.first_pod; pod < job.state.first_pod + job.pods; ++pod) {
      if (!jobs_.runs(pod)) continue;
      const NodeIndex node = problem_->pods[PodIndex(pod)].node;
      pods.push_back(pod_record(snapshot_, *problem_, PodIndex(pod), node, snapshot_.pods[pod].devices));
    }
    if (pods.empty()) continue;
    log_.tell(JobRecord{JobEvent::kPlace, now_, job, std::move(pods), {}, {}, 0});
    if (meets_minimum(*problem_, job, [&](std::size_t pod) { return jobs_.counts(pod); })) runs_.start(index, now_);
  }
  return std::nullopt;
}

// --- Time

bool Simulation::advance() {
  for (;;) {
    happen_now();
    if (trigger_.is_cycle_at(instant())) {
      jobs_.compact();
      snapshot_.time = now_;
      tell_durations();
      if (usage_) usage_->write(snapshot_.queues);
      trigger_.note_cycle(now_);
      return true;
    }
    if (is_over()) break;
    const std::optional<Nanoseconds> next = next_instant();
    if (!next) break;
    if (options_.until && *next > *options_.until) {
      move_clock(std::max(now_, *options_.until));
      break;
    }
    move_clock(*next);
  }
  log_.end_sample(now_);
  return false;
}

void Simulation::tell_durations() {
  if (options_.durations == KnownDurations::kNone) return;
  snapshot_.policy.over_time.expected_durations = durations_.list();
  if (options_.durations == KnownDurations::kExact) jobs_.tell_durations();
}

CycleTrigger::Instant Simulation::instant() const {
  return {now_, jobs_.pending_pods() > 0, next_event_ == workload_.events.size(), snapshot_};
}

bool Simulation::is_over() const {
  if (next_event_ < workload_.events.size() || runs_.any_will_end()) return false;
  return jobs_.pending_pods() == 0 || (!trigger_.has_changed() && !nodes_.any_down());
}

std::optional<Nanoseconds> Simulation::next_instant() const {
  std::optional<Nanoseconds> next = trigger_.next_in_grid(instant());
  const auto consider = [&](std::optional<Nanoseconds> time) {
    if (time) next = std::min(next.value_or(*time), *time);
  };
  if (next_event_ < workload_.events.size()) consider(workload_.events[next_event_].time);
  consider(runs_.next_end());
  consider(nodes_.next_change());
  return next;
}

void Simulation::move_clock(Nanoseconds time) {
  log_.pass_time(now_, time, nodes_.capacity(), jobs_.allocated());
  if (usage_) usage_->pass_time(*problem_, jobs_, time);
  now_ = time;
}

void Simulation::happen_now() {
  const auto is_due = [&](std::optional<Nanoseconds> time) { return time && *time <= now_; };
  while (is_due(runs_.next_end())) {
    const std::optional<SimulatedJobIndex> job = runs_.finish_next(now_);
    if (!job) continue;
    trigger_.note_change();
    note_finished(jobs_[*job]);
  }
  while (is_due(nodes_.next_change())) change_next_node();
  while (next_event_ < workload_.events.size() && workload_.events[next_event_].time <= now_) {
    if (!trigger_.is_periodic() && trigger_.is_cycle_at(instant())) return;
    happen(workload_.events[next_event_++]);
  }
}

// The positions of its pods are still those of the last plan.
void Simulation::note_finished(const SimulatedJob& job) {
  if (options_.durations == KnownDurations::kNone || !job.duration || job.pods == 0) return;
  const Gang& gang = problem_->gangs[problem_->pods[PodIndex(job.state.first_pod)].gang];
  if (gang.times.gpus > 0) durations_.add(job.queue, gang.times.gpus, *job.duration);
}

// --- Events

void Simulation::happen(const WorkloadEvent& event) {
  trigger_.note_change();
  switch (event.kind) {
    case WorkloadEventKind::kSubmit:
      return submit(event.gangs, event.pods, event.duration);
    case WorkloadEventKind::kAddNodes:
      for (std::size_t i = event.nodes.begin; i < event.nodes.end; ++i) add_node(i);
      return;
    case WorkloadEventKind::kQueues:
      for (std::size_t i = event.queues.begin; i < event.queues.end; ++i) put_queue(workload_.all.queues[i]);
      return;
    default:
      for (const std::string_view name : event.names) change_node(event.kind, name);
  }
}

void Simulation::submit(const PositionRange& gangs, const PositionRange& pods, std::optional<Nanoseconds> duration) {
  const Snapshot& all = workload_.all;
  std::unordered_map<std::string_view, std::vector<std::size_t>> of_gang;
  for (std::size_t pod = pods.begin; pod < pods.end; ++pod) {
    if (all.pods[pod].status != PodStatus::kReleasing) of_gang[all.pods[pod].gang].push_back(pod);
  }
  const JobTable::Submission submission{now_, duration};
  for (std::size_t i = gangs.begin; i < gangs.end; ++i) {
    tell_submitted(jobs_.add_gang(i, of_gang[all.gangs[i].name], submission));
  }
  for (const std::size_t pod : of_gang[{}]) tell_submitted(jobs_.add_single(pod, submission));
}

void Simulation::tell_submitted(const SimulatedJob& job) {
  trigger_.note_arrivals(job.state.pending);
  log_.tell(JobRecord{JobEvent::kSubmit, now_, job, {}, {}, {}, 0});
}

void Simulation::add_node(std::size_t position) {
  const SnapshotNode& node = nodes_.add(workload_.all.nodes[position], now_);
  if (position >= workload_.start_nodes.end) log_.tell(NodeRecord{NodeEvent::kAdded, now_, node});
}

void Simulation::change_node(WorkloadEventKind kind, std::string_view name) {
  const std::optional<std::size_t> position = nodes_.find(name);
  if (!position) return;  // removed before
  if (kind == WorkloadEventKind::kRemoveNodes) {
    runs_.lose_pods_on(name, *problem_, now_);
    log_.tell(NodeRecord{NodeEvent::kRemoved, now_, nodes_[*position]});
    return nodes_.remove(*position);
  }
  const bool is_cordoned = kind == WorkloadEventKind::kCordon;
  nodes_.set_cordoned(*position, is_cordoned);
  log_.tell(NodeRecord{is_cordoned ? NodeEvent::kCordoned : NodeEvent::kUncordoned, now_, nodes_[*position]});
}

void Simulation::put_queue(const SnapshotQueue& queue) {
  const auto found = std::ranges::find(snapshot_.queues, queue.name, &SnapshotQueue::name);
  if (found == snapshot_.queues.end()) {
    snapshot_.queues.push_back(queue);
  } else {
    *found = queue;
  }
}

void Simulation::change_next_node() {
  const std::optional<SimulatedNodes::Change> change = nodes_.change_next(now_);
  if (!change) return;
  trigger_.note_change();
  log_.tell(NodeRecord{change->event, now_, change->node});
  if (change->event == NodeEvent::kFailed) runs_.lose_pods_on(change->node.name, *problem_, now_);
}

// --- Plans

void Simulation::carry_out(Problem problem, const FairShares& shares, const Plan& plan) {
  MUSTER_REQUIRE(problem.snapshot == &snapshot_ && problem.pods.size() == snapshot_.pods.size());
  MUSTER_REQUIRE_SLOW(referee::check_plan(snapshot_, problem, shares, plan).empty());
  problem_ = std::move(problem);
  if (usage_) usage_->note_plan(*problem_, plan);
  const std::optional<std::int64_t> fragmentation = fragmentation_of(*problem_, shares, plan);
  if (options_.calibrates) keep_told_starts(*problem_, plan, jobs_);
  PlanExecution execution({snapshot_, *problem_, jobs_, runs_, log_}, plan, now_, options_.moves_live);
  execution.depart();
  snapshot_ = next_snapshot(std::move(snapshot_), *problem_, plan, 0);
  execution.arrive();
  trigger_.note_plan(plan.placements.empty() && plan.evictions.empty());
  CycleRecord record = cycle_record(jobs_, *problem_, shares, plan);
  record.time = now_;
  record.capacity = nodes_.capacity();
  record.fragmentation = fragmentation;
  log_.tell_cycle(std::move(record));
  if (options_.drops) runs_.drop_unplaced(now_);
}

}  // namespace muster::simulation
