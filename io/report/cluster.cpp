#include "io/report/cluster.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "io/json/json_writer.h"
#include "io/muster_v1/plan_share.h"
#include "io/report/block.h"
#include "io/report/cluster_plan.h"
#include "io/report/columns.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "model/objective/wholeness.h"

namespace muster::reporting {
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
  json_.raw(R"({"id":)").string(snapshot_.id);
  json_.raw(R"(,"time":)").decimal(snapshot_.time / kNanosecondsPerSecond, 1);
  json_.raw(R"(,"total":{"gpu":)").decimal(problem_.total[kQueueGpu], muster_v1::kWholeDevice);
  json_.raw(R"(,"cpu":)").integer(problem_.total[kQueueCpu]);
  json_.raw(R"(,"memory":)").integer(problem_.total[kQueueMemory]).raw("}");
  json_.raw(R"(,"podCount":)").integer(std::ssize(snapshot_.pods));
  const WholeNodeCount whole = whole_nodes_after(problem_, Plan{});
  json_.raw(R"(,"wholeNodes":{"before":)").integer(whole.whole).raw(R"(,"of":)").integer(whole.of).raw("}");
  write_kinds();
  write_nodes();
  write_topology();
  write_queues();
  write_gangs();
  write_requests();
  write_pods();
  write_levels_before();
  json_.raw(R"(,"plans":[)");
  bool first = true;
  for (const ReportedPlan& plan : cluster_.plans) {
    json_.separate(first);
    write_cluster_plan({problem_, position_, plan}, json_);
  }
  json_.raw("]}");
}

// The node classes.
void ClusterWriter::write_kinds() {
  json_.raw(R"(,"kinds":[)");
  bool first = true;
  for (const NodeClass& kind : problem_.node_classes) {
    const bool is_empty = kind.nodes.empty();  // each of its nodes has something that is closed
    const std::string_view model = is_empty ? "" : snapshot_.nodes[kind.nodes.front().value()].gpu_model;
    json_.separate(first).raw(R"({"model":)").string(model);
    json_.raw(R"(,"gpus":)").integer(kind.device_count).raw(R"(,"gpuMib":)").integer(kind.device_memory_mib);
    json_.raw(R"(,"cpu":)").integer(kind.capacity[kCpu.value()]);
    json_.raw(R"(,"memory":)").integer(kind.capacity[kMemory.value()]);
    json_.raw(kind.cordoned ? R"(,"cordoned":true})" : "}");
  }
  json_.raw("]");
}

void ClusterWriter::write_nodes() {
  std::vector<std::string_view> names(snapshot_.nodes.size());
  std::ranges::transform(snapshot_.nodes, names.begin(), &SnapshotNode::name);
  json_.raw(R"(,"nodes":{"name":)");
  write_names(json_, names);
  json_.raw(",");
  write_column(json_, "kind", problem_.nodes, [](const Node& node) { return node.node_class.value(); });
  json_.raw("}");
}

void ClusterWriter::write_topology() {
  json_.raw(R"(,"topology":[)");
  bool first = true;
  std::set<std::string_view> labels;  // several topologies may have one level
  for (const TopologyLevelIndex level : problem_.topology.own_levels()) {
    const std::string_view label = problem_.topology.levels[level].label;
    if (!labels.insert(label).second) continue;
    json_.separate(first);
    write_topology_level(label);
  }
  json_.raw("]");
}

void ClusterWriter::write_topology_level(std::string_view key) {
  TextTable values;
  const auto value_of = [&](const SnapshotNode& node) -> std::size_t {
    const auto label = std::ranges::find(node.labels, key, &Labels::value_type::first);
    return values.number(label == node.labels.end() ? std::string_view() : label->second);
  };
  json_.raw(R"({"label":)").string(key).raw(",");
  write_column(json_, "of", snapshot_.nodes, value_of);
  json_.raw(R"(,"values":)");
  values.write(json_);
  json_.raw("}");
}

void ClusterWriter::write_amounts(std::string_view key, const Indexed<QueueIndex, QueueAmounts>& amounts) {
  constexpr std::array<std::int64_t, kQueueResources> kScales = {muster_v1::kWholeDevice, 1, 1};
  json_.raw(",").string(key).raw(":[");
  bool first = true;
  for (const QueueAmounts& queue : amounts) {
    json_.separate(first).raw("[");
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      if (i > 0) json_.raw(",");
      if (queue[i] == kUnlimited) {
        json_.raw("null");
      } else {
        json_.decimal(queue[i], kScales[i]);
      }
    }
    json_.raw("]");
  }
  json_.raw("]");
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
  json_.raw(R"(,"queues":{"name":[)");
  bool first = true;
  for (const Queue& queue : queues) json_.separate(first).string(queue.name);
  json_.raw("],");
  write_column(json_, "parent", queues, [](const Queue& queue) { return number_of(queue.parent); });
  json_.raw(",");
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
  json_.raw("}");
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
  json_.raw(R"(,"gangs":{"name":)");
  write_names(json_, names);
  json_.raw(",");
  write_column(json_, "queue", gangs, [](const Gang& gang) { return number_of(gang.queue); });
  json_.raw(",");
  write_column(json_, "priority", gangs, [](const Gang& gang) { return gang.priority; });
  json_.raw(",");
  write_column(json_, "preemptible", gangs, [](const Gang& gang) { return gang.preemptible ? 1 : 0; });
  json_.raw(",");
  write_column(json_, "waited", gangs, [](const Gang& gang) { return gang.times.waited_seconds; });
  json_.raw(",");
  write_column(json_, "pods", gangs, [](const Gang& gang) { return gang.pods.size(); });
  json_.raw(",");
  write_column(json_, "pending", gangs, pending);
  json_.raw(",");
  write_column(json_, "pendingMicroGpu", gangs, asked);
  json_.raw("}");
}

// The pod classes.
void ClusterWriter::write_requests() {
  json_.raw(R"(,"requests":[)");
  bool first = true;
  for (const PodClass& request : problem_.pod_classes) {
    json_.separate(first).raw(R"({"gpus":)").integer(request.gpu.devices);
    if (request.gpu.kind == GpuRequestKind::kFraction) json_.raw(R"(,"share":)").integer(request.gpu.share);
    if (request.gpu.kind == GpuRequestKind::kMemory) json_.raw(R"(,"mib":)").integer(request.gpu.share);
    if (request.mig_gpu_usage > 0) json_.raw(R"(,"slices":)").decimal(request.mig_gpu_usage, muster_v1::kWholeDevice);
    json_.raw(R"(,"cpu":)").integer(request.request[kCpu.value()]);
    json_.raw(R"(,"memory":)").integer(request.request[kMemory.value()]).raw("}");
  }
  json_.raw("]");
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
    json_.raw(",");
    write_column(json_, key, pods_, [&](PodIndex pod) { return value(problem_.pods[pod]); });
  };
  json_.raw(R"(,"pods":{"name":)");
  write_names(json_, names);
  column("gang", [](const Pod& pod) { return pod.gang.value(); });
  column("request", [](const Pod& pod) { return pod.pod_class.value(); });
  column("releasing", [](const Pod& pod) { return pod.status == PodStatus::kReleasing ? 1 : 0; });
  column("node", [](const Pod& pod) { return number_of(pod.node); });
  json_.raw(",");
  write_column(json_, "devices", devices, [](std::int32_t device) { return device; });
  json_.raw("}");
}

// The values of the levels if nothing is done.
void ClusterWriter::write_levels_before() {
  const std::vector<LevelId> ids = level_ids(problem_);
  const Levels levels = evaluate(problem_, cluster_.shares, Plan{});
  json_.raw(R"(,"levelsBefore":[)");
  bool first = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    json_.separate(first).raw(R"({"level":)").string(level_name(ids[i].kind));
    if (has_priority(ids[i].kind)) json_.raw(R"(,"priority":)").integer(ids[i].priority);
    json_.raw(R"(,"value":)").decimal(levels.values[i], level_scale(ids[i].kind, snapshot_.policy.placement)).raw("}");
  }
  json_.raw("]");
}

}  // namespace

void write_cluster(const ReportedCluster& cluster, std::string& out) { ClusterWriter(cluster, out).write(); }

}  // namespace muster::reporting
