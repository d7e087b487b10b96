// The clock and its events; simulation_plans.cpp carries out plans.
#include "datasets/simulation/simulation.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "datasets/generator/instance.h"
#include "model/base/require.h"
#include "model/build/build_problem.h"
#include "model/problem/gang_tree.h"
#include "model/problem/next_snapshot.h"

namespace muster {
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
    works[spec] = gpu_thousandths(all.pod_specs[spec].gpu, smallest == 0 ? kUnknownMemoryMib : smallest);
    for (const ResourceAmount& amount : all.pod_specs[spec].resources) {
      works[spec] += amount.amount * mig_slice_work(all.resource_names[amount.resource]);
    }
  }
  return works;
}

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
  to.topology = from.topology;
  to.priority_classes = from.priority_classes;
  to.own_gang_terms = from.own_gang_terms;
  to.pod_specs = from.pod_specs;
  to.resource_names = from.resource_names;
}

}  // namespace

Simulation::Simulation(const Workload& workload, const SimulationOptions& options, Sink sink)
    : workload_(workload), options_(options), sink_(std::move(sink)), spec_work_(work_of_specs(workload.all)) {
  copy_frame(workload.all, snapshot_);
  append(snapshot_.queues, workload.all.queues, workload.start_queues);
  now_ = start_ = totals_.last_arrival = workload.all.time;
  for (const WorkloadEvent& event : workload.events) {
    if (event.kind == WorkloadEventKind::kSubmit) totals_.last_arrival = event.time;
  }
}

Result<std::unique_ptr<Simulation>> Simulation::begin(const Workload& workload, const SimulationOptions& options,
                                                      Sink sink) {
  std::unique_ptr<Simulation> simulation(new Simulation(workload, options, std::move(sink)));
  if (auto error = simulation->check_all()) return *std::move(error);
  if (auto error = simulation->start()) return *std::move(error);
  return simulation;
}

// Whether all that is ever submitted is consistent, as one snapshot of the first nodes.
std::optional<InputError> Simulation::check_all() const {
  const Snapshot& all = workload_.all;
  Snapshot everything;
  copy_frame(all, everything);
  append(everything.nodes, all.nodes, workload_.start_nodes);
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

std::optional<InputError> Simulation::start() {
  for (std::size_t i = workload_.start_nodes.begin; i < workload_.start_nodes.end; ++i) add_node(i);
  submit(workload_.start_gangs, workload_.start_pods, std::nullopt);
  Result<Problem> problem = build_problem(snapshot_);
  if (!problem) return problem.error();
  problem_ = *std::move(problem);
  for (JobIndex index = 0; index < jobs_.size(); ++index) {
    SimulatedJob& job = jobs_[index];
    std::vector<PodRecord> pods;
    for (std::size_t pod = job.first_pod; pod < job.first_pod + job.pods; ++pod) {
      if (!runs(pod)) continue;
      pods.push_back(record_of(PodIndex(pod), problem_->pods[PodIndex(pod)].node, snapshot_.pods[pod].devices));
      allocated_ += work_of(pod);
    }
    if (pods.empty()) continue;
    tell(JobRecord{JobEvent::kPlace, now_, job, std::move(pods), {}, {}, 0});
    if (meets(job, [&](std::size_t pod) { return runs(pod) || has_succeeded(snapshot_.pods[pod]); })) start_job(index);
  }
  return std::nullopt;
}

// --- Time

bool Simulation::advance() {
  for (;;) {
    happen_now();
    if (is_cycle_now()) {
      compact();
      snapshot_.time = now_;
      last_cycle_ = now_;
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
  add_sample_until(now_, totals_);
  return false;
}

bool Simulation::is_over() const {
  if (next_event_ < workload_.events.size() || running_with_end_ > 0) return false;
  return pending_pods_ == 0 || (!has_changed_ && nodes_down_ == 0);
}

// Rules that may later permit, with nothing else changed, what they do not permit now.
bool Simulation::clock_matters() const {
  if (snapshot_.policy.aging_interval > 0) return true;
  const auto protects = [](const SnapshotQueue& queue) {
    return queue.preempt_min_runtime.value_or(0) > 0 || queue.reclaim_min_runtime.value_or(0) > 0;
  };
  if (std::ranges::any_of(snapshot_.queues, protects)) return true;
  return std::ranges::any_of(snapshot_.gangs,
                             [](const SnapshotGang& gang) { return gang.stale_since || gang.terms.timeout; });
}

bool Simulation::wants_cycle() const { return pending_pods_ > 0 && (has_changed_ || clock_matters()); }

bool Simulation::is_cycle_now() const {
  switch (options_.cycle) {
    case CycleRule::kPeriod:
      return (now_ - start_) % options_.period == 0 && last_cycle_ != now_ && wants_cycle();
    case CycleRule::kBatch: {
      const bool has_arrived = next_event_ == workload_.events.size() && has_changed_;
      return pending_pods_ > 0 && (arrived_pods_ >= options_.batch || has_arrived);
    }
    case CycleRule::kEach:
      return pending_pods_ > 0 && has_changed_;
  }
  return false;
}

std::optional<Nanoseconds> Simulation::next_grid_time() const {
  if (options_.cycle != CycleRule::kPeriod || !wants_cycle()) return std::nullopt;
  const Nanoseconds passed = now_ - start_;
  const Nanoseconds ahead = (options_.period - passed % options_.period) % options_.period;
  return now_ + (ahead == 0 && last_cycle_ == now_ ? options_.period : ahead);
}

std::optional<Nanoseconds> Simulation::next_instant() const {
  std::optional<Nanoseconds> next = next_grid_time();
  const auto consider = [&](Nanoseconds time) { next = std::min(next.value_or(time), time); };
  if (next_event_ < workload_.events.size()) consider(workload_.events[next_event_].time);
  if (!ends_.empty()) consider(ends_.top().time);
  if (!node_changes_.empty()) consider(node_changes_.top().time);
  return next;
}

void Simulation::move_clock(Nanoseconds time) {
  const GpuTime capacity = GpuTime{capacity_} * (time - now_), allocated = GpuTime{allocated_} * (time - now_);
  totals_.capacity += capacity;
  totals_.allocated += allocated;
  if (time <= totals_.last_arrival) {
    totals_.capacity_arriving += capacity;
    totals_.allocated_arriving += allocated;
  }
  now_ = time;
}

void Simulation::happen_now() {
  while (!ends_.empty() && ends_.top().time <= now_) {
    const End end = ends_.top();
    ends_.pop();
    finish(end);
  }
  while (!node_changes_.empty() && node_changes_.top().time <= now_) {
    const NodeChange change = node_changes_.top();
    node_changes_.pop();
    toggle(change);
  }
  while (next_event_ < workload_.events.size() && workload_.events[next_event_].time <= now_) {
    if (options_.cycle != CycleRule::kPeriod && is_cycle_now()) return;
    happen(workload_.events[next_event_++]);
  }
}

// --- Events

void Simulation::happen(const WorkloadEvent& event) {
  has_changed_ = true;
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
      return change_nodes(event);
  }
}

void Simulation::submit(const PositionRange& gangs, const PositionRange& pods, std::optional<Nanoseconds> duration) {
  const Snapshot& all = workload_.all;
  std::unordered_map<std::string_view, std::vector<std::size_t>> of_gang;
  for (std::size_t pod = pods.begin; pod < pods.end; ++pod) {
    if (all.pods[pod].status != PodStatus::kReleasing) of_gang[all.pods[pod].gang].push_back(pod);
  }
  for (std::size_t i = gangs.begin; i < gangs.end; ++i) {
    SnapshotGang& gang = snapshot_.gangs.emplace_back(all.gangs[i]);
    if (!gang.terms.created) gang.terms.created = now_;
    gang_job_.push_back(static_cast<JobIndex>(jobs_.size()));
    add_job(gang.name, gang.terms, of_gang[gang.name], duration);
  }
  static const GangTerms kDefaults;
  for (const std::size_t pod : of_gang[{}]) {
    const std::int32_t terms = all.pods[pod].own_gang;
    const GangTerms& own = terms < 0 ? kDefaults : all.own_gang_terms[static_cast<std::size_t>(terms)];
    add_job(all.pods[pod].name, own, {pod}, duration);
  }
}

std::int32_t Simulation::priority_of(const GangTerms& terms) const {
  if (terms.priority) return *terms.priority;
  const auto found =
      std::ranges::find(snapshot_.priority_classes, terms.priority_class.value_or(""), &SnapshotPriorityClass::name);
  return found == snapshot_.priority_classes.end() ? 0 : found->value;
}

void Simulation::add_job(std::string_view name, const GangTerms& terms, const std::vector<std::size_t>& pods,
                         std::optional<Nanoseconds> duration) {
  SimulatedJob& job = jobs_.emplace_back();
  job.name = name;
  job.queue = terms.queue;
  job.priority = priority_of(terms);
  job.pods = pods.size();
  job.submitted = now_;
  job.duration = duration;
  job.first_pod = snapshot_.pods.size();
  for (const std::size_t position : pods) {
    SnapshotPod& pod = snapshot_.pods.push_back(workload_.all.pods[position]);
    if (!pod.created) pod.created = now_;
    pod_job_.push_back(static_cast<JobIndex>(jobs_.size() - 1));
    job.gpu_work += spec_work_[pod.spec];
    if (pod.status != PodStatus::kPending) continue;
    ++pending_pods_;
    ++arrived_pods_;
  }
  tell(JobRecord{JobEvent::kSubmit, now_, job, {}, {}, {}, 0});
}

void Simulation::add_node(std::size_t position) {
  const SnapshotNode& node = snapshot_.nodes.emplace_back(workload_.all.nodes[position]);
  const std::size_t identity = nodes_.size();
  node_identity_.push_back(identity);
  nodes_.push_back({NodeFailures(options_.failures, identity), false, node.unschedulable, false});
  if (options_.failures.mean_between > 0) {
    node_changes_.push({now_ + nodes_.back().failures.until_failure(), identity});
  }
  if (position >= workload_.start_nodes.end) tell(NodeRecord{NodeEvent::kAdded, now_, node});
  count_capacity();
}

void Simulation::change_nodes(const WorkloadEvent& event) {
  for (const std::string_view name : event.names) {
    const auto found = std::ranges::find(snapshot_.nodes, name, &SnapshotNode::name);
    if (found == snapshot_.nodes.end()) continue;  // removed before
    const auto position = found - snapshot_.nodes.begin();
    NodeState& state = nodes_[node_identity_[static_cast<std::size_t>(position)]];
    if (event.kind == WorkloadEventKind::kRemoveNodes) {
      lose_pods_on(name);
      tell(NodeRecord{NodeEvent::kRemoved, now_, *found});
      if (state.is_down) --nodes_down_;
      state.is_removed = true;
      snapshot_.nodes.erase(found);
      node_identity_.erase(node_identity_.begin() + position);
      continue;
    }
    state.is_cordoned = event.kind == WorkloadEventKind::kCordon;
    found->unschedulable = state.is_cordoned || state.is_down;
    tell(NodeRecord{state.is_cordoned ? NodeEvent::kCordoned : NodeEvent::kUncordoned, now_, *found});
  }
  count_capacity();
}

void Simulation::put_queue(const SnapshotQueue& queue) {
  const auto found = std::ranges::find(snapshot_.queues, queue.name, &SnapshotQueue::name);
  if (found == snapshot_.queues.end()) {
    snapshot_.queues.push_back(queue);
  } else {
    *found = queue;
  }
}

void Simulation::finish(const End& end) {
  SimulatedJob& job = jobs_[end.job];
  if (end.epoch != job.epoch || !job.running_since) return;  // it has been interrupted since
  allocated_ -= running_work(job);
  for (std::size_t pod = job.first_pod; pod < job.first_pod + job.pods; ++pod) {
    if (snapshot_.pods[pod].status == PodStatus::kPending) --pending_pods_;
    snapshot_.pods[pod].status = PodStatus::kSucceeded;  // until the lists are compacted
  }
  job.running_since.reset();
  job.finished = now_;
  --running_with_end_;
  any_finished_ = has_changed_ = true;
  tell(JobRecord{JobEvent::kFinish, now_, job, {}, {}, {}, 0});
}

void Simulation::toggle(const NodeChange& change) {
  NodeState& state = nodes_[change.node];
  if (state.is_removed) return;
  const auto found = std::ranges::find(node_identity_, change.node);
  SnapshotNode& node = snapshot_.nodes[static_cast<std::size_t>(found - node_identity_.begin())];
  state.is_down = !state.is_down;
  has_changed_ = true;
  node.unschedulable = state.is_down || state.is_cordoned;
  tell(NodeRecord{state.is_down ? NodeEvent::kFailed : NodeEvent::kRepaired, now_, node});
  if (state.is_down) lose_pods_on(node.name);
  nodes_down_ += state.is_down ? 1 : -1;
  const Nanoseconds span = state.is_down ? state.failures.until_repair() : state.failures.until_failure();
  node_changes_.push({now_ + span, change.node});
  count_capacity();
}

void Simulation::lose_pods_on(std::string_view node) {
  for (std::size_t pod = 0; pod < snapshot_.pods.size();) {
    SimulatedJob& job = jobs_[pod_job_[pod]];
    const std::size_t end = job.first_pod + job.pods;
    const Work before = running_work(job);
    std::vector<PodRecord> lost;
    for (; pod < end; ++pod) {
      if (!runs(pod) || snapshot_.pods[pod].node != node) continue;
      lost.push_back({snapshot_.pods[pod].name, node, {}, {}, 0});
      make_pending_again(snapshot_.pods[pod], now_);
    }
    if (lost.empty()) continue;
    const auto count = static_cast<std::int64_t>(lost.size());
    pending_pods_ += count;
    job.evicted_pods += count;
    totals_.failed += count;
    allocated_ += running_work(job) - before;
    tell(JobRecord{JobEvent::kEvict, now_, job, std::move(lost), "failure", {}, 0});
    const auto counts = [&](std::size_t i) { return runs(i) || has_succeeded(snapshot_.pods[i]); };
    if (job.running_since && !meets(job, counts)) interrupt(job, before);
  }
}

void Simulation::count_capacity() {
  capacity_ = 0;
  for (const SnapshotNode& node : snapshot_.nodes) {
    if (node.unschedulable) continue;
    capacity_ += Work{node.gpu_count} * 1000;
    for (const ResourceAmount& amount : node.resources) {
      capacity_ += amount.amount * mig_slice_work(snapshot_.resource_names[amount.resource]);
    }
  }
}

// Removes gangs that have left from the lists. Positions from the last problem become invalid.
void Simulation::compact() {
  if (!std::exchange(any_finished_, false)) return;
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
    if (pod == job.first_pod) job.first_pod = to;
    if (to != pod) snapshot_.pods[to] = std::move(snapshot_.pods[pod]);
    pod_job_[to++] = pod_job_[pod];
  }
  snapshot_.pods.truncate(to);
  pod_job_.resize(to);
}

bool Simulation::meets(const SimulatedJob& job, const std::function<bool(std::size_t)>& counts) const {
  if (job.pods == 0) return true;
  MUSTER_REQUIRE(problem_ && job.first_pod + job.pods <= problem_->pods.size());
  const Gang& gang = problem_->gangs[problem_->pods[PodIndex(job.first_pod)].gang];
  return meets_minimum(*problem_, gang, [&](PodIndex pod) { return counts(pod.value()); });
}

}  // namespace muster
