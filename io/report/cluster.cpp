#include "io/report/cluster.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_writer.h"
#include "io/muster_v1/named_plan.h"
#include "io/report/block.h"
#include "model/base/saturating.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "model/objective/wholeness.h"

namespace muster::reporting {

namespace {

constexpr std::size_t kMostViolations = 20, kMostWarnings = 20;

class PlanWriter {
 public:
  PlanWriter(const ClusterPlan& plan, json::JsonWriter& json)
      : problem_(plan.problem), positions_(plan.positions), json_(json) {}
  void write(const ReportedPlan& reported);

 private:
  void write_decisions(const Plan& plan);
  void write_gang_claims(const std::vector<muster_v1::GangClaim>& claims);
  void write_remedies(const std::vector<muster_v1::GangClaim>& claims);
  void write_queue_claims(const std::vector<muster_v1::ReadPlan::QueueClaim>& claims);
  void write_objective(const muster_v1::ReadPlan& plan);
  void write_violations(const std::vector<referee::Violation>& violations);
  void write_warnings(const muster_v1::ReadPlan& plan);

  const Problem& problem_;
  const PodPositions& positions_;
  json::JsonWriter& json_;
};

void PlanWriter::write(const ReportedPlan& reported) {
  const muster_v1::ReadPlan& plan = reported.plan;
  json_.object().member("label", reported.label).member("origin", origin_name(plan.solver.origin));
  json_.member("proof", proof_name(plan.solver.proof));
  if (plan.solver.of_what_was_read) json_.member("proofOf", "whatWasRead");
  json_.member("gap", plan.solver.gap);
  if (plan.solver.budget_ms) json_.member("budgetMs", *plan.solver.budget_ms);
  if (plan.solver.elapsed_ms) json_.member("elapsedMs", *plan.solver.elapsed_ms);
  json_.member("deadlineMissed", plan.solver.deadline_missed);
  json_.member("wholeNodes", whole_nodes_after(problem_, plan.plan).whole);
  write_decisions(plan.plan);
  write_gang_claims(plan.gangs);
  write_remedies(plan.gangs);
  write_queue_claims(plan.queues);
  write_objective(plan);
  write_violations(reported.violations);
  write_warnings(plan);
  json_.end();
}

void PlanWriter::write_decisions(const Plan& plan) {
  const auto position = [&](const auto& decision) { return positions_.at(decision.pod); };
  std::vector<std::int32_t> devices;
  for (const Placement& p : plan.placements) devices.insert(devices.end(), p.devices.begin(), p.devices.end());
  json_.key("placements").object();
  write_column(json_, "pod", plan.placements, position);
  write_column(json_, "node", plan.placements, [](const Placement& p) { return p.node.value(); });
  write_column(json_, "devices", devices, [](std::int32_t device) { return device; });
  write_column(json_, "waits", plan.placements, [](const Placement& p) { return p.after.empty() ? 0 : 1; });
  json_.end().key("evictions").object();
  write_column(json_, "pod", plan.evictions, position);
  write_column(json_, "reason", plan.evictions, [](const Eviction& e) { return static_cast<int>(e.reason); });
  write_column(json_, "for", plan.evictions, [](const Eviction& e) { return number_of(e.for_gang); });
  json_.end();
}

// A line for each: "2 InsufficientGpu".
std::string blockers_text(const std::vector<muster_v1::GangClaim::Blocker>& blockers) {
  std::string text;
  for (const muster_v1::GangClaim::Blocker& blocker : blockers) {
    std::string code = muster_v1::claimed_text(blocker.filter, explain::filter_text);
    std::ranges::replace(code, '\n', ' ');  // a resource may have any name
    text += text.empty() ? "" : "\n";
    text += std::to_string(blocker.nodes) + ' ' + code;
  }
  return text;
}

void PlanWriter::write_gang_claims(const std::vector<muster_v1::GangClaim>& claims) {
  using Claim = muster_v1::GangClaim;
  std::unordered_map<std::string_view, std::int64_t> index;
  for (const GangIndex gang : problem_.gangs.indices()) index.emplace(problem_.gangs[gang].name, gang.value());
  TextTable texts;
  const auto column = [&](std::string_view key, const auto& value) { write_column(json_, key, claims, value); };
  json_.key("gangs").object();
  write_column(json_, "gang", claims, [&](const Claim& claim) { return index.at(claim.name); });
  column("phase", [&](const Claim& claim) { return texts.number(explain::phase_name(claim.phase)); });
  column("running", [](const Claim& claim) { return claim.running; });
  column("placed", [](const Claim& claim) { return claim.placed; });
  column("evicted", [](const Claim& claim) { return claim.evicted; });
  column("pending", [](const Claim& claim) { return claim.pending; });
  column("reason",
         [&](const Claim& claim) { return texts.number(muster_v1::claimed_text(claim.reason, explain::reason_text)); });
  column("makeRoom", [&](const Claim& claim) {
    return texts.number(muster_v1::claimed_text(claim.make_room, explain::make_room_text));
  });
  column("message", [&](const Claim& claim) { return texts.number(claim.message); });
  column("blockers", [&](const Claim& claim) { return texts.number(blockers_text(claim.blockers)); });
  column("startsIn", [&](const Claim& claim) {  // seconds; -1: not expected
    if (!claim.expected_start) return std::int64_t{-1};
    const Nanoseconds ahead = saturating_subtract(*claim.expected_start, problem_.snapshot->time);
    return std::max<std::int64_t>(0, ahead / kNanosecondsPerSecond);
  });
  column("waitsFor", [&](const Claim& claim) {
    return texts.number(claim.expected_start ? muster_v1::claimed_text(claim.waits_for, forecast::start_obstacle_text)
                                             : "");
  });
  texts.write(json_.key("texts"));
  json_.end();
}

// A table of its own: few gangs have one.
void PlanWriter::write_remedies(const std::vector<muster_v1::GangClaim>& claims) {
  std::vector<std::size_t> rows;  // in the table of gangs
  for (std::size_t row = 0; row < claims.size(); ++row) {
    if (claims[row].remedy) rows.push_back(row);
  }
  using Remedy = muster_v1::GangClaim::Remedy;
  TextTable texts;
  const auto text_column = [&](std::string_view key, std::string Remedy::*member) {
    write_column(json_, key, rows, [&](std::size_t row) { return texts.number((*claims[row].remedy).*member); });
  };
  json_.key("remedies").object();
  write_column(json_, "row", rows, [](std::size_t row) { return row; });
  text_column("kind", &Remedy::kind);
  text_column("text", &Remedy::text);
  text_column("options", &Remedy::options);
  write_column(json_, "smallest", rows, [&](std::size_t row) { return claims[row].remedy->smallest ? 1 : 0; });
  texts.write(json_.key("texts"));
  json_.end();
}

// By queue, in the order of the queue table: the values in the plan line; null if it has none.
void PlanWriter::write_queue_claims(const std::vector<muster_v1::ReadPlan::QueueClaim>& claims) {
  std::unordered_map<std::string_view, const muster_v1::ReadPlan::QueueClaim*> by_name;
  for (const muster_v1::ReadPlan::QueueClaim& claim : claims) by_name.emplace(claim.name, &claim);
  json_.key("allocated").array();
  for (const Queue& queue : problem_.queues) {
    const auto found = by_name.find(queue.name);
    if (found == by_name.end()) {
      json_.item().raw("null");
      continue;
    }
    json_.array();
    const muster_v1::ReadPlan::QueueClaim& claim = *found->second;
    for (const auto* amounts : {&claim.gpu, &claim.cpu, &claim.memory}) json_.item().raw(amounts->allocated);
    json_.end();
  }
  json_.end();
}

void PlanWriter::write_objective(const muster_v1::ReadPlan& plan) {
  json_.key("objective").array();
  for (const muster_v1::ReadPlan::LevelClaim& level : plan.objective) {
    json_.object().member("level", level.level);
    if (level.priority) json_.member("priority", *level.priority);
    json_.key("value").raw(level.value);
    if (level.bound) json_.key("bound").raw(*level.bound);
    json_.end();
  }
  json_.end();
}

void PlanWriter::write_violations(const std::vector<referee::Violation>& violations) {
  json_.member("violationCount", violations.size()).key("violations").array();
  for (std::size_t i = 0; i < std::min(violations.size(), kMostViolations); ++i) {
    json_.object().member("rule", referee::rule_name(violations[i].rule)).member("subject", violations[i].subject);
    json_.member("message", violations[i].message).end();
  }
  json_.end();
}

void PlanWriter::write_warnings(const muster_v1::ReadPlan& plan) {
  const std::int64_t count = std::ssize(plan.warnings) + plan.warnings_omitted;
  json_.member("warningCount", count).key("warnings").array();
  for (std::size_t i = 0; i < std::min(plan.warnings.size(), kMostWarnings); ++i) {
    const muster_v1::WarningClaim& warning = plan.warnings[i];
    json_.object().member("object", warning.object).member("name", warning.name);
    json_.member("message", warning.message).end();
  }
  json_.end();
}

}  // namespace

void write_cluster_plan(const ClusterPlan& plan, json::JsonWriter& json) {
  PlanWriter(plan, json).write(plan.reported);
}

namespace {

class ClusterWriter {
 public:
  ClusterWriter(const ReportedCluster& cluster, std::string& out)
      : cluster_(cluster), problem_(cluster.problem), snapshot_(*cluster.problem.snapshot), json_(out) {}
  void write();

 private:
  void find_pods();
  void write_kinds();
  void write_nodes();
  void write_topology();
  void write_topology_level(std::string_view key);
  void write_queues();
  void write_amounts(std::string_view key, const Indexed<QueueIndex, QueueAmounts>& amounts);
  void write_gangs();
  void write_requests();
  void write_pods();
  void write_levels_before();

  const ReportedCluster& cluster_;
  const Problem& problem_;
  const Snapshot& snapshot_;
  json::JsonWriter json_;
  std::vector<PodIndex> pods_;  // those that are somewhere, ascending
  PodPositions position_;       // in `pods_`
};

void ClusterWriter::find_pods() {
  Indexed<PodIndex, bool> is_somewhere(problem_.pods.size(), false);
  for (const PodIndex pod : problem_.pods.indices()) is_somewhere[pod] = !problem_.pods[pod].node.is_none();
  for (const ReportedPlan& plan : cluster_.plans) {
    for (const Placement& placement : plan.plan.plan.placements) is_somewhere[placement.pod] = true;
  }
  for (const PodIndex pod : problem_.pods.indices()) {
    if (!is_somewhere[pod]) continue;
    position_.emplace(pod, pods_.size());
    pods_.push_back(pod);
  }
}

void ClusterWriter::write() {
  find_pods();
  json_.object().member("id", snapshot_.id).member("time", snapshot_.time / kNanosecondsPerSecond);
  json_.key("total").object().member("gpu", json::Exact{problem_.total[kQueueGpu], muster_v1::kWholeDevice});
  json_.member("cpu", problem_.total[kQueueCpu]).member("memory", problem_.total[kQueueMemory]).end();
  json_.member("podCount", snapshot_.pods.size());
  const WholeNodeCount whole = whole_nodes_after(problem_, Plan{});
  json_.key("wholeNodes").object().member("before", whole.whole).member("of", whole.of).end();
  write_kinds();
  write_nodes();
  write_topology();
  write_queues();
  write_gangs();
  write_requests();
  write_pods();
  write_levels_before();
  json_.key("plans").array();
  for (const ReportedPlan& plan : cluster_.plans) write_cluster_plan({problem_, position_, plan}, json_);
  json_.end().end();
}

// The node classes.
void ClusterWriter::write_kinds() {
  json_.key("kinds").array();
  for (const NodeClass& kind : problem_.node_classes) {
    const bool is_empty = kind.nodes.empty();  // each of its nodes has something that is closed
    const std::string_view model = is_empty ? "" : snapshot_.nodes[kind.nodes.front().value()].gpu_model;
    json_.object().member("model", model);
    json_.member("gpus", kind.device_count).member("gpuMib", kind.device_memory_mib);
    json_.member("cpu", kind.capacity[kCpu.value()]).member("memory", kind.capacity[kMemory.value()]);
    if (kind.cordoned) json_.member("cordoned", true);
    json_.end();
  }
  json_.end();
}

void ClusterWriter::write_nodes() {
  std::vector<std::string_view> names(snapshot_.nodes.size());
  std::ranges::transform(snapshot_.nodes, names.begin(), &SnapshotNode::name);
  write_names(json_.key("nodes").object().key("name"), names);
  write_column(json_, "kind", problem_.nodes, [](const Node& node) { return node.node_class.value(); });
  json_.end();
}

void ClusterWriter::write_topology() {
  json_.key("topology").array();
  std::set<std::string_view> labels;  // several topologies may have one level
  for (const TopologyLevelIndex level : problem_.topology.own_levels()) {
    const std::string_view label = problem_.topology.levels[level].label;
    if (!labels.insert(label).second) continue;
    write_topology_level(label);
  }
  json_.end();
}

void ClusterWriter::write_topology_level(std::string_view key) {
  TextTable values;
  const auto value_of = [&](const SnapshotNode& node) -> std::size_t {
    const auto label = std::ranges::find(node.labels, key, &Labels::value_type::first);
    return values.number(label == node.labels.end() ? std::string_view() : label->second);
  };
  json_.object().member("label", key);
  write_column(json_, "of", snapshot_.nodes, value_of);
  values.write(json_.key("values"));
  json_.end();
}

void ClusterWriter::write_amounts(std::string_view key, const Indexed<QueueIndex, QueueAmounts>& amounts) {
  constexpr std::array<std::int64_t, kQueueResources> kScales = {muster_v1::kWholeDevice, 1, 1};
  json_.key(key).array();
  for (const QueueAmounts& queue : amounts) {
    json_.array();
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      json_.item();
      queue[i] == kUnlimited ? json_.raw("null") : json_.decimal(queue[i], kScales[i]);
    }
    json_.end();
  }
  json_.end();
}

// What runs and is not on its way out, in each queue and all above it.
Indexed<QueueIndex, QueueAmounts> usage_before(const Problem& problem) {
  Indexed<QueueIndex, QueueAmounts> usage(problem.queues.size(), QueueAmounts{});
  for (const PodIndex index : problem.pods.indices()) {
    const Pod& pod = problem.pods[index];
    const QueueIndex queue = problem.gangs[pod.gang].queue;
    if (pod.status != PodStatus::kRunning || queue.is_none()) continue;
    const QueueAmounts amounts = queue_usage(problem.class_of(index), problem.class_of(pod.node));
    for (const QueueIndex at : problem.queues[queue].ancestors) {
      for (std::size_t i = 0; i < kQueueResources; ++i) usage[at][i] += amounts[i];
    }
  }
  return usage;
}

void ClusterWriter::write_queues() {
  const auto& queues = problem_.queues;
  json_.key("queues").object().key("name").array();
  for (const Queue& queue : queues) json_.value(queue.name);
  json_.end();
  write_column(json_, "parent", queues, [](const Queue& queue) { return number_of(queue.parent); });
  write_column(json_, "priority", queues, [](const Queue& queue) { return queue.priority; });
  Indexed<QueueIndex, QueueAmounts> quota(queues.size()), limit(queues.size());
  for (const QueueIndex queue : queues.indices()) {
    quota[queue] = queues[queue].quota;
    limit[queue] = queues[queue].limit;
  }
  write_amounts("quota", quota);
  write_amounts("limit", limit);
  write_amounts("fairShare", cluster_.shares.share);
  write_amounts("before", usage_before(problem_));
  json_.end();
}

void ClusterWriter::write_gangs() {
  const auto& gangs = problem_.gangs;
  std::vector<std::string_view> names(gangs.size());
  std::ranges::transform(gangs, names.begin(), &Gang::name);
  const auto pending = [&](const Gang& gang) {
    return std::ranges::count_if(gang.pods, [&](PodIndex p) { return problem_.pods[p].status == PodStatus::kPending; });
  };
  const auto asked = [&](const Gang& gang) {
    MicroGpu sum = 0;
    for (const PodIndex pod : gang.pods) {
      if (problem_.pods[pod].status == PodStatus::kPending) sum += problem_.class_of(pod).smallest_gpu_usage;
    }
    return sum;
  };
  write_names(json_.key("gangs").object().key("name"), names);
  write_column(json_, "queue", gangs, [](const Gang& gang) { return number_of(gang.queue); });
  write_column(json_, "priority", gangs, [](const Gang& gang) { return gang.priority; });
  write_column(json_, "preemptible", gangs, [](const Gang& gang) { return gang.preemptible ? 1 : 0; });
  write_column(json_, "waited", gangs, [](const Gang& gang) { return gang.times.waited_seconds; });
  write_column(json_, "pods", gangs, [](const Gang& gang) { return gang.pods.size(); });
  write_column(json_, "pending", gangs, pending);
  write_column(json_, "pendingMicroGpu", gangs, asked);
  json_.end();
}

// The pod classes.
void ClusterWriter::write_requests() {
  json_.key("requests").array();
  for (const PodClass& request : problem_.pod_classes) {
    json_.object().member("gpus", request.gpu.devices);
    if (request.gpu.kind == GpuRequestKind::kFraction) json_.member("share", request.gpu.share);
    if (request.gpu.kind == GpuRequestKind::kMemory) json_.member("mib", request.gpu.share);
    if (request.mig_gpu_usage > 0) json_.member("slices", json::Exact{request.mig_gpu_usage, muster_v1::kWholeDevice});
    json_.member("cpu", request.request[kCpu.value()]).member("memory", request.request[kMemory.value()]).end();
  }
  json_.end();
}

void ClusterWriter::write_pods() {
  std::vector<std::string_view> names;
  std::vector<std::int32_t> devices;
  for (const PodIndex pod : pods_) {
    names.push_back(snapshot_.pods[pod.value()].name);
    const auto of_pod = problem_.devices_of(pod);
    devices.insert(devices.end(), of_pod.begin(), of_pod.end());
  }
  const auto column = [&](std::string_view key, const auto& value) {
    write_column(json_, key, pods_, [&](PodIndex pod) { return value(problem_.pods[pod]); });
  };
  write_names(json_.key("pods").object().key("name"), names);
  column("gang", [](const Pod& pod) { return pod.gang.value(); });
  column("request", [](const Pod& pod) { return pod.pod_class.value(); });
  column("releasing", [](const Pod& pod) { return pod.status == PodStatus::kReleasing ? 1 : 0; });
  column("node", [](const Pod& pod) { return number_of(pod.node); });
  write_column(json_, "devices", devices, [](std::int32_t device) { return device; });
  json_.end();
}

// The values of the levels if nothing is done.
void ClusterWriter::write_levels_before() {
  const std::vector<LevelId> ids = level_ids(problem_);
  const Levels levels = evaluate(problem_, cluster_.shares, Plan{});
  json_.key("levelsBefore").array();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    json_.object().member("level", level_name(ids[i].kind));
    if (has_priority(ids[i].kind)) json_.member("priority", ids[i].priority);
    json_.member("value", json::Exact{levels.values[i], level_scale(ids[i].kind, snapshot_.policy.placement)}).end();
  }
  json_.end();
}

}  // namespace

void write_cluster(const ReportedCluster& cluster, std::string& out) { ClusterWriter(cluster, out).write(); }

}  // namespace muster::reporting
