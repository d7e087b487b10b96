#include "cli/agent/planning/planner.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <set>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cli/line/export_line.h"
#include "model/problem/problem.h"

namespace muster::cli {

namespace {

std::string_view gang_of(const SnapshotPod& pod) { return pod.gang.empty() ? pod.name : pod.gang; }

using Claims = std::map<std::string_view, std::set<std::string_view>>;  // nodes by gang

Claims claims_of(const Snapshot& snapshot, const std::vector<std::string>& schedulers) {
  Claims claims;
  for (const SnapshotPod& pod : snapshot.pods) {
    if (pod.status != PodStatus::kPending || pod.nominated_node.empty()) continue;
    if (!schedulers.empty() && std::ranges::find(schedulers, scheduler_of(pod)) == schedulers.end()) continue;
    claims[gang_of(pod)].insert(pod.nominated_node);
  }
  return claims;
}

std::unordered_set<std::string_view> nodes_that_are_left(const Snapshot& snapshot) {
  std::unordered_set<std::string_view> nodes;
  for (const SnapshotPod& pod : snapshot.pods) {
    if (pod.status == PodStatus::kReleasing) nodes.insert(pod.node);
  }
  return nodes;
}

}  // namespace

void NodeReservations::hold(Snapshot& snapshot, const std::vector<std::string>& schedulers, Nanoseconds now) {
  Claims claims = claims_of(snapshot, schedulers);
  std::erase_if(since_, [&](const auto& entry) { return !claims.contains(entry.first); });
  if (claims.empty()) return;
  const auto left = nodes_that_are_left(snapshot);
  std::erase_if(claims, [&](const auto& claim) {
    const auto since = since_.emplace(claim.first, mode_ == ApplyMode::kExtender ? now - kMostWait - 1 : now).first;
    if (std::ranges::any_of(claim.second, [&](std::string_view node) { return left.contains(node); }))
      since->second = now;
    return now - since->second > kMostWait;
  });
  std::unordered_set<std::string_view> held;
  for (const auto& [gang, nodes] : claims) held.insert(nodes.begin(), nodes.end());
  for (SnapshotNode& node : snapshot.nodes) {
    if (held.contains(node.name)) node.taints.push_back({kTaint, node.name, TaintEffect::kNoSchedule});
  }
  std::map<std::pair<std::string_view, PodSpecIndex>, PodSpecIndex> specs;
  for (SnapshotPod& pod : snapshot.pods) {
    const auto claim = claims.find(gang_of(pod));
    if (claim == claims.end()) continue;
    const auto [at, is_new] = specs.emplace(std::pair(claim->first, pod.spec), pod.spec);
    if (is_new) {
      PodSpec spec = snapshot.pod_specs[pod.spec];
      for (const std::string_view node : claim->second)
        spec.tolerations.push_back({kTaint, node, false, TaintEffect::kNoSchedule});
      at->second = snapshot.pod_specs.push_back(std::move(spec));
    }
    pod.spec = at->second;
  }
}

namespace {

exporting::ExportOptions export_options_of(const AgentOptions& options) {
  exporting::ExportOptions wanted;
  wanted.phase = exporting::ExportPhase::kAll;
  switch (options.mode) {
    case ApplyMode::kGates:
      wanted.format = exporting::ExportFormat::kPatches;
      wanted.gates = {options.reader.kubernetes.planned_gate};
      break;
    case ApplyMode::kKai:
      wanted.format = exporting::ExportFormat::kKai;
      break;
    case ApplyMode::kBindings:
    case ApplyMode::kNone:
      wanted.format = exporting::ExportFormat::kBindings;
      wanted.own_nodes_only = true;
      break;
    case ApplyMode::kExtender:
      wanted.format = exporting::ExportFormat::kBindings;
      break;
  }
  return wanted;
}

struct SeenPods {
  std::vector<PendingPod> pending;
  std::unordered_map<std::string, std::string> waiting;  // by gang: a pod of it that the plan does not place
};

SeenPods seen_pods(const SolvedLine& line) {
  SeenPods pods;
  std::vector<bool> is_placed(line.problem.pods.size());
  for (const Placement& placement : line.solution.plan.placements) is_placed[placement.pod.value()] = true;
  for (const PodIndex pod : line.problem.pods.indices()) {
    const bool is_held = !line.problem.snapshot->pods[pod.value()].notes.held.empty();
    if (line.problem.pods[pod].status != PodStatus::kPending && !is_held) continue;
    PendingPod& seen =
        pods.pending.emplace_back(PendingPod{std::string(line.problem.snapshot->pods[pod.value()].name),
                                             std::string(line.problem.gangs[line.problem.pods[pod].gang].name)});
    if (!is_placed[pod.value()]) pods.waiting.emplace(seen.gang, seen.name);
  }
  return pods;
}

// In the order of the gangs' names.
std::vector<WaitingGangNote> notes_of(const SolvedLine& line,
                                      const std::unordered_map<std::string, std::string>& pods) {
  std::unordered_map<GangIndex, const muster_v1::RemedyRecord*> remedies;
  for (const muster_v1::RemedyRecord& remedy : line.remedies) {
    if (remedy.kind != "never") remedies.emplace(remedy.gang, &remedy);
  }
  std::vector<WaitingGangNote> notes;
  for (const explain::GangReport& gang : line.solution.report.gangs) {
    const auto pod = pods.find(std::string(line.problem.gangs[gang.gang].name));
    if (pod == pods.end()) continue;
    WaitingGangNote note{pod->first, pod->second, std::string(explain::reason_text(gang.reason)), gang.message};
    if (const auto remedy = remedies.find(gang.gang); remedy != remedies.end())
      note.note += ". It would start: " + remedy->second->text;
    notes.push_back(std::move(note));
  }
  std::ranges::sort(notes, {}, &WaitingGangNote::gang);
  return notes;
}

// A gang in part is reported as one, whatever it waits for, and also if no pod of it is `pending`; not if the plan
// places all that are.
void add_partial(const std::vector<PartialGang>& partial, const std::vector<PendingPod>& pending,
                 std::vector<WaitingGangNote>& notes) {
  std::unordered_set<std::string_view> completed;
  for (const PendingPod& pod : pending) completed.insert(pod.gang);
  for (const PartialGang& gang : partial) {
    const auto at = std::ranges::lower_bound(notes, gang.gang, {}, &WaitingGangNote::gang);
    const bool is_there = at != notes.end() && at->gang == gang.gang;
    if (is_there)
      at->reason = "GangInPart";
    else if (!completed.contains(gang.gang))
      notes.insert(at, {gang.gang, gang.pod, "GangInPart", gang.sentence + ", and no other pod of it waits."});
  }
}

constexpr std::chrono::milliseconds kRetryEvery{100};  // what there was no memory for

template <class Task>
bool survives(const Task& task) {
  try {
    task();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

AgentPlanner::AgentPlanner(const AgentOptions& options, const std::string& worker_program, SolvedLineObserver observe,
                           Post post)
    : options_(options),
      observe_(std::move(observe)),
      post_(std::move(post)),
      reader_(options.reader),
      solver_(worker_program),
      thread_([this] { run(); }) {}

AgentPlanner::~AgentPlanner() {
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
  }
  changed_.notify_all();
}

void AgentPlanner::plan(std::shared_ptr<const ClusterObjects> cluster, std::function<void(AgentPlan)> done) {
  push([this, cluster = std::move(cluster), done = std::move(done)] {
    auto plan = std::make_shared<AgentPlan>(planned(cluster));
    post_([plan, done] { done(std::move(*plan)); });
  });
}

void AgentPlanner::check(std::shared_ptr<const ClusterObjects> cluster, std::shared_ptr<const PlannedSteps> steps,
                         Exported done) {
  push([this, cluster = std::move(cluster), steps = std::move(steps), done = std::move(done)] {
    auto exported = std::make_shared<const Result<exporting::ExportedPlan>>(checked(*cluster, steps->plan));
    post_([exported, done] { done(*exported); });
  });
}

void AgentPlanner::push(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void AgentPlanner::run() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || !tasks_.empty(); });
    if (is_closed_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    while (!survives(task)) {  // what it answers is still awaited
      std::this_thread::sleep_for(kRetryEvery);
      const std::scoped_lock again(mutex_);
      if (is_closed_) return;
    }
    survives([this] { solver_.portfolio.tidy(); });
  }
}

kubernetes::KubernetesOptions AgentPlanner::options_for(const ClusterObjects& cluster) const {
  kubernetes::KubernetesOptions options = options_.reader.kubernetes;
  options.time = cluster.time;
  options.unreadable = cluster.unreadable;
  return options;
}

AgentPlan AgentPlanner::planned(const std::shared_ptr<const ClusterObjects>& cluster) {
  try {
    return planned_whole(cluster);
  } catch (const std::exception& defect) {
    return {cluster, defect_answer(1, {}, defect), std::make_shared<const PlannedPods>(), {}, {}, {}};
  }
}

AgentPlan AgentPlanner::planned_whole(const std::shared_ptr<const ClusterObjects>& cluster) {
  const auto begun = std::chrono::steady_clock::now();
  ParsedLine line = parse_objects(reader_, cluster->objects, options_for(*cluster));
  const bool nominates = options_.mode == ApplyMode::kBindings || options_.mode == ApplyMode::kExtender;
  if (nominates && line.snapshot) held_.hold(*line.snapshot, options_.reader.policy.schedulers, cluster->time);
  if (line.snapshot) partial_.fill(*line.snapshot);
  PlannedPods pods;
  AgentPlan plan{cluster, {}, {}, {}, {}, {}};
  const auto observe = [&](const SolvedLine& solved) {
    SeenPods seen = seen_pods(solved);
    pods.waiting = notes_of(solved, seen.waiting);
    pods.pending = std::move(seen.pending);
    if (options_.mode == ApplyMode::kExtender)
      pods.room = std::make_shared<SpareCapacity>(solved.problem, solved.solution.plan);
    plan.staleness = partial_.note(solved);
    add_partial(plan.staleness.partial, pods.pending, pods.waiting);
    if (options_.mode != ApplyMode::kNone) plan.steps = steps_of(solved, *cluster);
    observe_(solved);
  };
  plan.answer = answer_line(line, line.begun, solver_, options_.line, observe);
  if (plan.answer.is_error) plan.steps.reset();
  plan.pods = std::make_shared<const PlannedPods>(std::move(pods));
  plan.elapsed = std::chrono::steady_clock::now() - begun;
  return plan;
}

// The referee has passed the plan.
std::shared_ptr<const PlannedSteps> AgentPlanner::steps_of(const SolvedLine& line,
                                                           const ClusterObjects& cluster) const {
  muster_v1::NamedPlan plan = muster_v1::named_plan(line.problem, line.solution.plan);
  auto exported =
      export_passed(line.problem, plan, exporting::identities_of(cluster.objects, plan), export_options_of(options_));
  return std::make_shared<const PlannedSteps>(PlannedSteps{std::move(plan), std::move(exported)});
}

Result<exporting::ExportedPlan> AgentPlanner::checked(const ClusterObjects& cluster, const muster_v1::NamedPlan& plan) {
  try {
    return export_objects(reader_, plan, cluster.objects, options_for(cluster), export_options_of(options_));
  } catch (const std::exception& defect) {
    return InputError{ErrorCode::kInternalError, "$", defect.what()};
  }
}

}  // namespace muster::cli
