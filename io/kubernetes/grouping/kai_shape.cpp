#include "io/kubernetes/grouping/kai_shape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kMinMember = "kai.scheduler/batch-min-member";
constexpr std::string_view kTopology = "kai.scheduler/topology";
constexpr std::string_view kRequired = "kai.scheduler/topology-required-placement";
constexpr std::string_view kPreferred = "kai.scheduler/topology-preferred-placement";
constexpr std::string_view kSegmentSize = "kai.scheduler/segment-size";
constexpr std::string_view kSegmentRequired = "kai.scheduler/segment-topology-required-placement";
constexpr std::string_view kSegmentPreferred = "kai.scheduler/segment-topology-preferred-placement";
constexpr std::int64_t kMostSegments = 10'000;  // more are refused by KAI

constexpr std::string_view kRayHead = "headgroup";
constexpr std::string_view kLeader = "leader", kWorkers = "workers";
constexpr std::string_view kMaster = "master", kWorker = "worker";
constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";
constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";
constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";

// Where the kinds of Kubeflow's training operator have their replicas.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kReplicaSpecs = {
    {{"JAXJob", "jaxReplicaSpecs"},
     {"MPIJob", "mpiReplicaSpecs"},
     {"PyTorchJob", "pytorchReplicaSpecs"},
     {"TFJob", "tfReplicaSpecs"},
     {"XGBoostJob", "xgbReplicaSpecs"}}};

json::JsonValue replica_specs(const KaiOwner& owner) {
  const auto known =
      std::ranges::find(kReplicaSpecs, owner.kind, &std::pair<std::string_view, std::string_view>::first);
  return known == kReplicaSpecs.end() ? json::JsonValue() : member_of(owner.spec, known->second);
}

template <std::size_t N>
json::JsonValue at(json::JsonValue object, const std::array<std::string_view, N>& path) {
  for (const std::string_view key : path) object = member_of(object, key);
  return object;
}

// Absent if it is no list.
std::vector<json::JsonValue> elements_of(json::JsonValue list) {
  std::vector<json::JsonValue> all;
  if (!list || !list.is(json::JsonKind::kArray)) return all;
  for (const json::JsonValue element : list.elements()) all.push_back(element);
  return all;
}

std::string named(std::string_view key, std::string_view value) {
  return "annotation " + std::string(key) + " \"" + std::string(value) + "\"";
}

// Of a pod, else of the template, else of the owner.
std::string_view first_annotation(const KubernetesPod& pod, json::JsonValue pod_template, json::JsonValue owner,
                                  std::string_view key) {
  for (const json::JsonValue metadata : {metadata_of(pod), member_of(pod_template, "metadata"), owner}) {
    const std::string_view found = text_at(annotations_of(metadata), key);
    if (!found.empty()) return found;
  }
  return {};
}

// The segment of each worker of a LeaderWorkerSet, whose leader is worker 0.
struct WorkerSegments {
  std::int64_t size = 0, segment = 1;
  bool has_leader = true;  // in the first one
  bool divides() const { return (size - 1) % segment == 0; }
  std::int64_t of(std::int64_t worker) const {
    if (worker == 0) return 0;
    return divides() ? (worker - 1) / segment : worker / segment;
  }
  std::int64_t count() const { return of(size - 1) + 1; }
  // Without the leader.
  std::int64_t workers_in(std::int64_t index) const {
    std::int64_t workers = 0;
    for (std::int64_t worker = 1; worker < size; ++worker) workers += of(worker) == index ? 1 : 0;
    return workers;
  }
};

std::string_view worker_segment_text(const KaiOwner& owner, const KubernetesPod& pod) {
  const json::JsonValue workers =
      at(owner.spec, std::array<std::string_view, 2>{"leaderWorkerTemplate", "workerTemplate"});
  const std::string_view of_set = text_at(annotations_of(owner.metadata), kSegmentSize);
  return of_set.empty() ? first_annotation(pod, workers, {}, kSegmentSize) : of_set;
}

bool excludes_leader(const KaiOwner& owner) {
  const json::JsonValue policy =
      at(owner.spec, std::array<std::string_view, 2>{"leaderWorkerTemplate", "subGroupPolicy"});
  return text_at(policy, "subGroupPolicyType") == "LeaderExcluded" || text_at(policy, "type") == "LeaderExcluded";
}

std::string segment_name(std::int64_t index) { return "segment-" + std::to_string(index); }

}  // namespace

std::optional<std::int64_t> KaiShapes::whole(json::JsonValue value) const {
  std::optional<std::int32_t> count;
  if (!in_.try_without_path([&] { return in_.count(value, count); }) || !count) return {};
  return *count;
}

// A number in an annotation; one that KAI refuses holds the group.
std::optional<std::int64_t> KaiShapes::digits(std::string_view key, std::string_view text, std::int64_t least,
                                              KaiShape& shape) const {
  if (text.empty()) return {};
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= least &&
      value <= std::numeric_limits<std::int32_t>::max()) {
    return value;
  }
  if (shape.held.empty()) {
    shape.held = named(key, text) + " must be a whole number of at least " + std::to_string(least) +
                 ": KAI makes no PodGroup for its pods";
  }
  return {};
}

void KaiShapes::add_leaf(std::string_view name, std::string_view parent, std::int64_t minimum,
                         const TopologyRequest& topology, KaiShape& shape) {
  shape.tree.push_back({name, parent, static_cast<std::int32_t>(minimum), {}, topology});
}

void KaiShapes::add_inner(std::string_view name, std::string_view parent, std::int64_t minimum,
                          const TopologyRequest& topology, KaiShape& shape) {
  shape.tree.push_back({name, parent, {}, static_cast<std::int32_t>(minimum), topology});
}

TopologyRequest KaiShapes::topology_of(std::string_view topology, std::string_view required, std::string_view preferred,
                                       std::string& held) const {
  if (required.empty() && preferred.empty()) return {};
  TopologyRequest request = topologies_.of_kai(topology, required, preferred);
  const bool has_levels =
      required.empty() == request.required.empty() && preferred.empty() == request.preferred.empty();
  if (!has_levels && held.empty()) {
    held = "its annotations ask for the topology level \"" + std::string(required.empty() ? preferred : required) +
           "\"" + (topology.empty() ? "" : " of \"" + std::string(topology) + "\"") +
           ", which no Topology in the input has";
  }
  return request;
}

// Without a topology and a level, KAI makes no constraint for a subgroup.
TopologyRequest KaiShapes::template_topology(json::JsonValue annotations, std::string& held) const {
  const std::string_view topology = text_at(annotations, kTopology);
  return topology.empty()
             ? TopologyRequest()
             : topology_of(topology, text_at(annotations, kRequired), text_at(annotations, kPreferred), held);
}

TopologyRequest KaiShapes::segment_topology(const KaiOwner& owner, const KubernetesPod& pod,
                                            json::JsonValue worker_template, std::string& held) const {
  const std::string_view topology = first_annotation(pod, worker_template, owner.metadata, kTopology);
  if (topology.empty()) return {};
  return topology_of(topology, first_annotation(pod, worker_template, {}, kSegmentRequired),
                     first_annotation(pod, worker_template, {}, kSegmentPreferred), held);
}

KaiShape KaiShapes::of_job(const KaiOwner& owner) const {
  KaiShape shape;
  shape.members = 1;
  if (owner.is_of_cron_job) return shape;
  const std::string_view asked = text_at(annotations_of(owner.metadata), kMinMember);
  if (const auto members = digits(kMinMember, asked, 0, shape)) shape.members = static_cast<std::int32_t>(*members);
  return shape;
}

// All replicas, unless the scheduling policy sets a number. One without a number has one, as its webhook has it.
KaiShape KaiShapes::of_replicas(const KaiOwner& owner) const {
  KaiShape shape;
  std::int64_t total = 0;
  const json::JsonValue specs = replica_specs(owner);
  if (specs && specs.is(json::JsonKind::kObject)) {
    for (const json::JsonMember replica : specs.members()) {
      const bool comes_later =
          replica.key == "Launcher" && text_at(owner.spec, "launcherCreationPolicy") == "WaitForWorkersReady";
      if (!comes_later) total += whole(member_of(replica.value, "replicas")).value_or(1);
    }
  }
  const auto asked =
      whole(at(owner.spec, std::array<std::string_view, 3>{"runPolicy", "schedulingPolicy", "minAvailable"}));
  if (asked || total > 0) shape.members = static_cast<std::int32_t>(asked.value_or(total));
  return shape;
}

KaiShape KaiShapes::of_pytorch(const KaiOwner& owner, const KubernetesPod& pod) {
  const json::JsonValue specs = replica_specs(owner);
  const json::JsonValue master = member_of(specs, "Master"), worker = member_of(specs, "Worker");
  KaiShape shape;
  if (!master && !worker) return shape;
  const std::int64_t masters = master ? whole(member_of(master, "replicas")).value_or(1) : 0;
  const std::int64_t workers = worker ? whole(member_of(worker, "replicas")).value_or(1) : 0;
  const auto available =
      whole(at(owner.spec, std::array<std::string_view, 3>{"runPolicy", "schedulingPolicy", "minAvailable"}));
  const auto elastic = whole(at(owner.spec, std::array<std::string_view, 2>{"elasticPolicy", "minReplicas"}));
  const std::int64_t total = available.value_or(elastic.value_or(masters + workers));
  if (masters > 0) add_leaf(kMaster, {}, masters, {}, shape);
  if (!worker) return shape;
  const std::int64_t needed = std::max<std::int64_t>(0, total - masters);
  const auto size =
      digits(kSegmentSize, first_annotation(pod, member_of(worker, "template"), {}, kSegmentSize), 1, shape);
  if (!size || workers == 0) {
    add_leaf(kWorker, {}, needed, {}, shape);
  } else {
    add_segments(owner, pod, *size, workers, needed, shape);
  }
  return shape;
}

// Consecutive workers; segments beyond the minimum may be missing.
void KaiShapes::add_segments(const KaiOwner& owner, const KubernetesPod& pod, std::int64_t size, std::int64_t workers,
                             std::int64_t needed, KaiShape& shape) {
  const std::int64_t count = (workers + size - 1) / size, mandatory = (needed + size - 1) / size;
  if (count > kMostSegments) {
    shape.held = "it has more than " + std::to_string(kMostSegments) + " segments: KAI makes no PodGroup for its pods";
    return;
  }
  const json::JsonValue of_workers = member_of(member_of(replica_specs(owner), "Worker"), "template");
  const TopologyRequest topology = segment_topology(owner, pod, of_workers, shape.held);
  add_inner(kWorker, {}, count, {}, shape);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t pods = i + 1 == count ? workers - i * size : size;
    add_leaf(keep("worker-" + std::to_string(i)), kWorker, i < mandatory ? pods : 0, topology, shape);
  }
}

// The head, and of each group of workers its least, or all replicas if it has none.
KaiShape KaiShapes::of_ray(const KaiOwner& owner) {
  KaiShape shape;
  if (!owner.ray_spec) return shape;
  const auto topology = [&](json::JsonValue group) {
    const json::JsonValue annotations =
        at(group, std::array<std::string_view, 3>{"template", "metadata", "annotations"});
    return template_topology(annotations, shape.held);
  };
  add_leaf(kRayHead, {}, 1, topology(member_of(owner.ray_spec, "headGroupSpec")), shape);
  std::size_t index = 0;
  for (const json::JsonValue group : elements_of(member_of(owner.ray_spec, "workerGroupSpecs"))) {
    const std::size_t own = index++;
    bool is_suspended = false;
    const bool is_read = in_.try_without_path([&] { return in_.flag(member_of(group, "suspend"), is_suspended); });
    const std::int64_t least = whole(member_of(group, "minReplicas")).value_or(0),
                       replicas = whole(member_of(group, "replicas")).value_or(0),
                       hosts = whole(member_of(group, "numOfHosts")).value_or(1);
    if ((is_read && is_suspended) || (least == 0 && replicas == 0)) continue;
    std::string_view name = text_at(group, "groupName");
    if (name.empty()) name = keep("worker-group-" + std::to_string(own));
    if (least > replicas && shape.held.empty()) {
      shape.held = "its worker group \"" + std::string(name) + "\" has minReplicas " + std::to_string(least) +
                   " above replicas " + std::to_string(replicas) + ": KAI makes no PodGroup for its pods";
    }
    add_leaf(name, {}, (least > 0 ? least : replicas) * hosts, topology(group), shape);
  }
  return shape;
}

// Of one group. With `LeaderReady` the workers come once the leader runs.
KaiShape KaiShapes::of_leader_worker_set(const KaiOwner& owner, const KubernetesPod& pod) {
  KaiShape shape;
  const json::JsonValue parts = member_of(owner.spec, "leaderWorkerTemplate");
  const std::int64_t size = std::max<std::int64_t>(1, whole(member_of(parts, "size")).value_or(1));
  const bool waits_for_leader =
      text_at(owner.spec, "startupPolicy") == "LeaderReady" && pod.state.waits() && label_of(pod, kWorkerIndex) == "0";
  std::optional<std::int64_t> segment =
      whole(at(parts, std::array<std::string_view, 2>{"subGroupPolicy", "subGroupSize"}));
  if (!segment) segment = digits(kSegmentSize, worker_segment_text(owner, pod), 2, shape);
  if (!segment || waits_for_leader) {
    add_leaf(kLeader, {}, 1, {}, shape);
    add_leaf(kWorkers, {}, waits_for_leader ? 0 : size - 1, {}, shape);
    return shape;
  }
  if (*segment < 2 || *segment > size) {
    shape.held = "its segments of " + std::to_string(*segment) + " pods do not fit its groups of " +
                 std::to_string(size) + ": KAI makes no PodGroup for its pods";
    *segment = size;
  }
  add_worker_segments(owner, pod, size, *segment, shape);
  return shape;
}

// The leader is a subgroup of the first segment, or one by itself.
void KaiShapes::add_worker_segments(const KaiOwner& owner, const KubernetesPod& pod, std::int64_t size,
                                    std::int64_t segment, KaiShape& shape) {
  const WorkerSegments segments{size, std::max<std::int64_t>(1, segment), !excludes_leader(owner)};
  if (!segments.has_leader && !segments.divides() && shape.held.empty()) {
    shape.held = "its groups of " + std::to_string(size) + " pods cannot be divided into segments of " +
                 std::to_string(segment) + " workers: KAI makes no PodGroup for its pods";
  }
  const json::JsonValue workers =
      at(owner.spec, std::array<std::string_view, 2>{"leaderWorkerTemplate", "workerTemplate"});
  const TopologyRequest topology = segment_topology(owner, pod, workers, shape.held);
  if (!segments.has_leader) add_leaf(kLeader, {}, 1, {}, shape);
  for (std::int64_t i = 0; i < std::min(segments.count(), kMostSegments); ++i) {
    const std::string_view name = keep(segment_name(i));
    if (i > 0 || !segments.has_leader) {
      add_leaf(name, {}, segments.workers_in(i), topology, shape);
      continue;
    }
    add_inner(name, {}, 2, topology, shape);
    add_leaf(kLeader, name, 1, {}, shape);
    add_leaf(kWorkers, name, segments.workers_in(0), {}, shape);
  }
}

// A subgroup for each replicated job, with one below it for each replica. Jobs that start one after another need one
// of the former, all others need all.
KaiShape KaiShapes::of_job_set(const KaiOwner& owner) {
  KaiShape shape;
  const std::vector<json::JsonValue> jobs = elements_of(member_of(owner.spec, "replicatedJobs"));
  for (const json::JsonValue job : jobs) add_replicated_job(job, shape);
  const auto count = static_cast<std::int64_t>(jobs.size());
  std::int64_t least = count;
  if (text_at(member_of(owner.spec, "startupPolicy"), "startupPolicyOrder") == "InOrder")
    least = std::min<std::int64_t>(1, count);
  const auto asked = digits(kMinMember, text_at(annotations_of(owner.metadata), kMinMember), 1, shape);
  if (asked) least = std::min(*asked, count);
  shape.subgroups = static_cast<std::int32_t>(least);
  return shape;
}

void KaiShapes::add_replicated_job(json::JsonValue job, KaiShape& shape) {
  const std::string_view name = text_at(job, "name");
  if (name.empty()) {
    if (shape.held.empty()) shape.held = "one of its replicatedJobs has no name: KAI makes no PodGroup for its pods";
    return;
  }
  const json::JsonValue of_job = member_of(job, "template");
  const json::JsonValue annotations = annotations_of(member_of(of_job, "metadata"));
  const std::int64_t replicas = whole(member_of(job, "replicas")).value_or(1);
  std::int64_t least = whole(member_of(member_of(of_job, "spec"), "parallelism")).value_or(1);
  if (const auto asked = digits(kMinMember, text_at(annotations, kMinMember), 1, shape)) least = *asked;
  const TopologyRequest topology = template_topology(annotations, shape.held);
  if (replicas == 0) return add_leaf(name, {}, 0, {}, shape);
  add_inner(name, {}, replicas, {}, shape);
  for (std::int64_t i = 0; i < std::min(replicas, kMostSegments); ++i)
    add_leaf(keep(std::string(name) + "-replica-" + std::to_string(i)), name, least, topology, shape);
}

KaiShape KaiShapes::shape_of(const KaiOwner& owner, const KubernetesPod& pod) {
  if (owner.kind == "Job") return of_job(owner);
  const bool is_ray = owner.kind == "RayCluster" || owner.kind == "RayJob" || owner.kind == "RayService";
  const bool is_of_kubeflow =
      std::ranges::find(kReplicaSpecs, owner.kind, &std::pair<std::string_view, std::string_view>::first) !=
      kReplicaSpecs.end();
  const bool is_known = is_ray || is_of_kubeflow || owner.kind == "JobSet" || owner.kind == "LeaderWorkerSet";
  KaiShape shape;
  if (!is_known) shape.members = 1;
  if (!is_known || !owner.metadata) return shape;
  if (is_ray) return of_ray(owner);
  if (owner.kind == "PyTorchJob") return of_pytorch(owner, pod);
  if (is_of_kubeflow) return of_replicas(owner);
  return owner.kind == "JobSet" ? of_job_set(owner) : of_leader_worker_set(owner, pod);
}

std::string_view KaiShapes::leaf_of_worker(const KaiOwner& owner, const KubernetesPod& pod) {
  const std::string_view type = label_of(pod, kReplicaType);
  if (type != kWorker) return type;
  const json::JsonValue worker = member_of(replica_specs(owner), "Worker");
  KaiShape ignored;
  const auto size =
      digits(kSegmentSize, first_annotation(pod, member_of(worker, "template"), {}, kSegmentSize), 1, ignored);
  const auto index = digits(kReplicaIndex, label_of(pod, kReplicaIndex), 0, ignored);
  if (!size) return kWorker;
  return index ? keep("worker-" + std::to_string(*index / *size)) : std::string_view();
}

std::string_view KaiShapes::leaf_of_leader_worker_set(const KaiOwner& owner, const KubernetesPod& pod) {
  const std::string_view index = label_of(pod, kWorkerIndex);
  if (index.empty()) return {};
  if (index == "0") return kLeader;
  KaiShape ignored;
  const json::JsonValue parts = member_of(owner.spec, "leaderWorkerTemplate");
  std::optional<std::int64_t> segment =
      whole(at(parts, std::array<std::string_view, 2>{"subGroupPolicy", "subGroupSize"}));
  if (!segment) segment = digits(kSegmentSize, worker_segment_text(owner, pod), 2, ignored);
  const auto worker = digits(kWorkerIndex, index, 0, ignored);
  const std::int64_t size = whole(member_of(parts, "size")).value_or(1);
  if (!segment || *segment < 2 || *segment > size || !worker) return kWorkers;
  const WorkerSegments segments{size, *segment, !excludes_leader(owner)};
  const std::int64_t own = segments.of(*worker);
  return own == 0 && segments.has_leader ? kWorkers : keep(segment_name(own));
}

std::string_view KaiShapes::leaf_of(const KaiOwner& owner, const KubernetesPod& pod) {
  if (owner.kind == "PyTorchJob") return leaf_of_worker(owner, pod);
  if (owner.kind == "LeaderWorkerSet") return leaf_of_leader_worker_set(owner, pod);
  if (owner.kind == "JobSet") {
    const std::string_view job = label_of(pod, "jobset.sigs.k8s.io/replicatedjob-name"),
                           index = label_of(pod, "jobset.sigs.k8s.io/job-index");
    if (job.empty() || index.empty()) return {};
    return keep(std::string(job) + "-replica-" + std::string(index));
  }
  return label_of(pod, "ray.io/group");
}

}  // namespace muster::kubernetes
