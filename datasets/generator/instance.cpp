#include "datasets/generator/instance.h"

#include <string_view>
#include <utility>
#include <vector>

#include "io/snapshot_writer/write_snapshot.h"
#include "model/base/require.h"

namespace muster::generator {
namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

std::size_t at(std::int32_t position) { return static_cast<std::size_t>(position); }

std::optional<Nanoseconds> instant_of(std::int64_t seconds) {
  if (seconds < 0) return std::nullopt;
  return seconds * kNanosecondsPerSecond;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

// The snapshot of an instance, section by section. Its texts are views into the instance.
class SnapshotOfInstance {
 public:
  explicit SnapshotOfInstance(const Instance& instance) : instance_(instance) {}

  Snapshot run() {
    snapshot_.id = instance_.id;
    snapshot_.time = instance_.time < 0 ? 0 : instance_.time * kNanosecondsPerSecond;
    if (instance_.place_only) snapshot_.policy.actions = {true, false, false, false, false};
    if (!instance_.topology.empty()) snapshot_.definitions.topologies.push_back({{}, views_of(instance_.topology)});
    for (const std::string_view name : {"cpu", "memory", "pods"}) snapshot_.resource_names.push_back(name);
    for (const InstanceNode& node : instance_.nodes) add_node(node);
    for (const InstanceQueue& queue : instance_.queues) add_queue(queue);
    for (const InstancePriorityClass& one : instance_.priority_classes)
      snapshot_.definitions.priority_classes.push_back({one.name, one.value, std::nullopt, std::nullopt});
    for (const PodShape& shape : instance_.shapes) add_spec(shape);
    for (const InstanceGang& gang : instance_.gangs) add_gang(gang);
    for (const InstancePod& pod : instance_.pods) add_pod(pod);
    return std::move(snapshot_);
  }

 private:
  static std::vector<ResourceAmount> resources_of(std::int64_t cpu_milli, std::int64_t memory_mib, std::int64_t pods) {
    return {{kCpu, cpu_milli}, {kMemory, memory_mib * kMebi}, {kPods, pods}};
  }

  void add_node(const InstanceNode& from) {
    SnapshotNode& node = snapshot_.nodes.emplace_back();
    node.name = from.name;
    node.resources = resources_of(from.cpu_milli, from.memory_mib, from.pods);
    node.gpu_count = from.gpu_count;
    node.gpu_memory_mib = from.gpu_memory_mib;
    node.gpu_model = from.gpu_model;
    if (from.hostname_label) node.labels.emplace_back(kHostnameLabel, from.name);
    if (!from.zone.empty()) node.labels.emplace_back(kZoneLabel, from.zone);
    if (!from.rack.empty()) node.labels.emplace_back(kRackLabel, from.rack);
    if (!from.pool.empty()) node.labels.emplace_back(kPoolLabel, from.pool);
    if (from.tainted) node.taints.push_back({kTaintKey, kTaintValue, TaintEffect::kNoSchedule});
  }

  void add_queue(const InstanceQueue& from) {
    constexpr std::int64_t kMillion = 1'000'000;
    SnapshotQueue& queue = snapshot_.queues.emplace_back();
    queue.name = from.name;
    queue.parent = from.parent;
    queue.priority = from.priority;
    queue.gpu.weight = static_cast<double>(from.weight);
    if (from.gpu_quota >= 0) queue.gpu.quota = from.gpu_quota * kMillion;
    if (from.gpu_limit >= 0) queue.gpu.limit = from.gpu_limit * kMillion;
  }

  void add_spec(const PodShape& shape) {
    PodSpec spec;
    spec.resources = resources_of(shape.cpu_milli, shape.memory_mib, 1);
    spec.gpu = shape.gpu;
    spec.gpu_models = views_of(shape.gpu_models);
    if (!shape.pool.empty()) spec.node_selector.emplace_back(kPoolLabel, shape.pool);
    if (shape.tolerates_taint) spec.tolerations.push_back({kTaintKey, kTaintValue, false, std::nullopt});
    if (shape.one_a_node) {
      PodTerm& term = spec.anti_affinity.emplace_back();
      term.topology_key = kHostnameLabel;
      term.match_gang = true;
    }
    snapshot_.pod_specs.push_back(std::move(spec));
  }

  GangTerms terms_of(const InstanceTerms& from) const {
    GangTerms terms;
    if (from.queue >= 0) terms.queue = instance_.queues[at(from.queue)].name;
    if (from.priority_class >= 0) terms.priority_class = instance_.priority_classes[at(from.priority_class)].name;
    terms.priority = from.priority;
    terms.preemptible = from.preemptible;
    terms.created = instant_of(from.created);
    return terms;
  }

  void add_gang(const InstanceGang& from) {
    SnapshotGang& gang = snapshot_.gangs.emplace_back();
    gang.name = from.name;
    gang.terms = terms_of(from.terms);
    if (from.min_member >= 0) gang.min_member = from.min_member;
    for (const InstanceSubgroup& one : from.subgroups) {
      SnapshotSubgroup& subgroup = gang.subgroups.emplace_back();
      subgroup.name = one.name;
      subgroup.min_member = one.min_member;
    }
    gang.topology = {from.required_level, from.preferred_level, {}};
  }

  void add_pod(const InstancePod& from) {
    SnapshotPod pod;
    pod.name = from.name;
    pod.spec = PodSpecIndex(at(from.shape));
    if (from.gang >= 0) {
      const InstanceGang& gang = instance_.gangs[at(from.gang)];
      pod.gang = gang.name;
      if (from.subgroup >= 0) pod.subgroup = gang.subgroups[at(from.subgroup)].name;
    } else {
      pod.own_gang = static_cast<std::int32_t>(snapshot_.own_gang_terms.size());
      snapshot_.own_gang_terms.push_back(terms_of(from.terms));
      pod.created = snapshot_.own_gang_terms.back().created;
    }
    pod.status = from.status;
    if (from.node >= 0) {
      pod.node = instance_.nodes[at(from.node)].name;
      pod.devices = from.devices;
      pod.started = instant_of(from.started);
    }
    snapshot_.pods.push_back(std::move(pod));
  }

  const Instance& instance_;
  Snapshot snapshot_;
};

}  // namespace

std::int64_t gpu_thousandths(const GpuRequest& request, std::int64_t device_memory_mib) {
  switch (request.kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kWhole:
      return request.devices * std::int64_t{1000};
    case GpuRequestKind::kFraction:
      return (request.share * request.devices + 500) / 1000;
    case GpuRequestKind::kMemory:
      break;
  }
  MUSTER_REQUIRE(device_memory_mib > 0);
  return (2000 * request.share * request.devices + device_memory_mib) / (2 * device_memory_mib);
}

Snapshot snapshot_of(const Instance& instance) { return SnapshotOfInstance(instance).run(); }

std::string write_instance(const Instance& instance) {
  std::string line;
  snapshot_writer::write_snapshot(snapshot_of(instance), line);
  return line;
}

}  // namespace muster::generator
