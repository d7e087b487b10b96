#include "io/kubernetes/grouping/kai.h"

#include <algorithm>
#include <array>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/grouping/metadata.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kJobSet = "JobSet", kLeaderWorkerSet = "LeaderWorkerSet";

// Those whose pods each have a group.
constexpr std::array<std::string_view, 3> kAlone = {"Deployment", "Pod", "Service"};

// Those whose labels and annotations count alone; of others, those of all objects above the pod.
constexpr std::array<std::string_view, 15> kOfTheirOwn = {
    "Deployment", "Job",    "CronJob",    "JobSet", "LeaderWorkerSet", "PyTorchJob", "TFJob",       "XGBoostJob",
    "JAXJob",     "MPIJob", "RayCluster", "RayJob", "RayService",      "Notebook",   "PodCliqueSet"};

// Whose groups a PodGang of Grove describes.
constexpr std::array<std::string_view, 3> kOfGrove = {"PodCliqueSet", "PodGangSet", "PodClique"};

// Those that KAI passes over: what they own counts.
constexpr std::array<std::string_view, 8> kPassedOver = {"Workflow",
                                                         "TrainJob",
                                                         "TrainingWorkload",
                                                         "InteractiveWorkload",
                                                         "DistributedWorkload",
                                                         "InferenceWorkload",
                                                         "DistributedInferenceWorkload",
                                                         "DynamoGraphDeployment"};

template <std::size_t N>
bool is_any(std::string_view kind, const std::array<std::string_view, N>& kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

// If the objects between are not in the list, labels tell.
ObjectName top_of(const KubernetesPod& pod) {
  const PodOwner& owner = pod.owner;
  if (owner.top.kind != owner.kind) return owner.top;
  const bool is_of_job = owner.kind == "Job", is_of_set = owner.kind == "StatefulSet";
  if (!is_of_job && !is_of_set) return owner.top;
  const std::string_view name =
      label_of(pod, is_of_job ? "jobset.sigs.k8s.io/jobset-name" : "leaderworkerset.sigs.k8s.io/name");
  return name.empty() ? owner.top : ObjectName{is_of_job ? kJobSet : kLeaderWorkerSet, name};
}

// The owner whose pods form a group: the outermost one, or the one below it if KAI passes that over. Of a CronJob, each
// Job has a group of its own.
ObjectName grouping_owner(const KubernetesPod& pod, const std::vector<const KubernetesObject*>& above) {
  const ObjectName top = top_of(pod), direct{pod.owner.kind, pod.owner.name};
  if (top.kind == "CronJob" && direct.kind == "Job") return direct;
  if (!is_any(top.kind, kPassedOver)) return top;
  if (top.kind == direct.kind) return {};
  if (above.size() > 1) return {above[above.size() - 2]->kind, above[above.size() - 2]->name};
  const std::string_view set = label_of(pod, "jobset.sigs.k8s.io/jobset-name");
  return direct.kind == "Job" && !set.empty() ? ObjectName{kJobSet, set} : direct;
}

// Of the groups that one owner has, by the label that tells them apart.
std::string_view part_of(const KubernetesPod& pod, std::string_view kind) {
  if (is_any(kind, kOfGrove)) return label_of(pod, "grove.io/podgang");
  if (kind == kLeaderWorkerSet) return label_of(pod, "leaderworkerset.sigs.k8s.io/group-index");
  return {};
}

}  // namespace

GroupReference kai_group_of(const KubernetesPod& pod, const std::vector<const KubernetesObject*>& above) {
  const GroupReference alone{GroupSystem::kKaiPod, pod.name, {}, {}};
  const auto [kind, name] = grouping_owner(pod, above);
  if (kind.empty() || kind == "Pod") {  // of an application of Spark, the driver owns the executors
    const std::string_view application = label_of(pod, "spark-app-selector");
    if (application.empty() || label_of(pod, "spark-app-name").empty()) return alone;
    return {GroupSystem::kKaiOwner, application, "Spark", {}};
  }
  if (name.empty() || is_any(kind, kAlone)) return alone;
  return {GroupSystem::kKaiOwner, name, kind, part_of(pod, kind)};
}

// What of the owners and the pod tells about a group, in the order in which KAI asks.
struct KaiPodGrouper::Terms {
  std::vector<json::JsonValue> owners;  // metadata
  json::JsonValue owner;                // that of the one whose pods form the group, or of the pod itself
  json::JsonValue skipped;              // of an object above it that KAI passes over
};

namespace {

std::string_view first_of(const std::array<json::JsonValue, 2>& objects, std::string_view key) {
  for (const json::JsonValue object : objects) {
    const std::string_view text = text_at(object, key);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

json::JsonValue KaiPodGrouper::ray_spec_of(const KubernetesObject& object) const {
  if (object.kind == "RayCluster") return object.spec;
  const bool is_job = object.kind == "RayJob";
  std::string_view cluster = text_at(object.status, "rayClusterName");
  for (const std::string_view key : {"activeServiceStatus", "pendingServiceStatus"}) {
    if (cluster.empty()) cluster = text_at(member_of(object.status, key), "rayClusterName");
  }
  const KubernetesObject* made = cluster.empty() ? nullptr : find_(object.namespace_name, "RayCluster", cluster);
  return made != nullptr ? made->spec : member_of(object.spec, is_job ? "rayClusterSpec" : "rayClusterConfig");
}

KaiOwner KaiPodGrouper::owner_of(const KubernetesPod& pod, const Above& above) const {
  KaiOwner owner;
  const GroupReference& reference = pod.membership.reference;
  const bool is_alone = reference.system == GroupSystem::kKaiPod;
  const ObjectName alone = grouping_owner(pod, above);
  owner.kind = is_alone ? alone.kind : reference.group;
  const std::string_view name = is_alone ? alone.name : reference.name;
  owner.is_of_cron_job =
      std::ranges::find(above, "CronJob", &KubernetesObject::kind) != above.end() || pod.owner.top.kind == "CronJob";
  const KubernetesObject* object = name.empty() ? nullptr : find_(pod.namespace_name, owner.kind, name);
  if (object == nullptr) return owner;
  owner.metadata = object->metadata;
  owner.spec = object->spec;
  if (owner.kind.starts_with("Ray")) owner.ray_spec = ray_spec_of(*object);
  return owner;
}

KaiPodGrouper::Terms KaiPodGrouper::terms_of(const KubernetesPod& pod, const KaiOwner& owner,
                                             const Above& above) const {
  Terms terms;
  terms.owner = owner.metadata || !pod.owner.name.empty() ? owner.metadata : metadata_of(pod);
  if (!above.empty() && is_any(above.back()->kind, kPassedOver)) terms.skipped = above.back()->metadata;
  if (!is_any(owner.kind, kOfTheirOwn)) {
    for (const KubernetesObject* object : above) terms.owners.push_back(object->metadata);
  } else if (terms.owner) {
    terms.owners.push_back(terms.owner);
  }
  if (terms.skipped) terms.owners.push_back(terms.skipped);
  return terms;
}

// The label of the owner comes first, then that of the pod; without one, the project and the node pool name it.
void KaiPodGrouper::set_queue(KubernetesPod& pod, const Terms& terms) {
  GroupLabels& labels = pod.membership.labels;
  const std::array<json::JsonValue, 2> of_owner = {labels_of(terms.owner), labels_of(terms.skipped)};
  if (const std::string_view queue = first_of(of_owner, in_.kai.queue_label); !queue.empty()) labels.kai_queue = queue;
  if (!labels.kai_queue.empty() || !labels.runai_queue.empty()) return;
  std::string_view project = first_of(of_owner, "project");
  if (project.empty()) project = label_of(pod, "project");
  const std::string_view pool = label_of(pod, kKaiPoolLabel);
  if (project.empty()) return;
  labels.kai_queue = pool.empty() ? project : texts_.emplace_back(std::string(project).append("-").append(pool));
}

// A class that does not exist does not count; without any class in the list, all of them may exist.
std::string_view KaiPodGrouper::class_of(const KubernetesPod& pod, const Terms& terms, const KaiOwner& owner) const {
  const auto exists = [&](std::string_view name) { return !name.empty() && priorities_.may_have(name); };
  if (owner.kind.starts_with("Ray")) {
    const std::string_view own = text_at(labels_of(terms.owner), "ray.io/priority-class-name");
    if (!own.empty()) return own;
  }
  for (const json::JsonValue metadata : terms.owners) {
    if (const auto name = text_at(labels_of(metadata), "priorityClassName"); exists(name)) return name;
  }
  std::string_view own = label_of(pod, "priorityClassName");
  if (own.empty()) own = pod.priority.class_name;
  const bool has_value = own == pod.priority.class_name && pod.priority.value;
  if (!own.empty() && (has_value || exists(own))) return own;
  if (owner.kind == "Deployment" || owner.kind == "Service") return "inference";
  return owner.kind == "Notebook" ? "build" : "train";
}

void KaiPodGrouper::set_preemption(const KubernetesPod& pod, const Terms& terms, KubernetesGroup& group) {
  std::vector<json::JsonValue> all = terms.owners;
  const json::JsonValue of_pod = metadata_of(pod);
  all.push_back(of_pod);
  for (const json::JsonValue metadata : all) {
    // Made pods have labels of their own, too, but none of these.
    const std::string_view word = text_at(labels_of(metadata), "kai.scheduler/preemptibility");
    if (!word.empty() && set_preemptibility(word, group)) break;
    if (!word.empty()) {
      group.priority.preemptible = false;
      in_.remarks.add("the label kai.scheduler/preemptibility \"" + std::string(word) +
                          "\" is unknown: Muster does not evict the pods of its gang",
                      pod.full_name());
    }
  }
  for (const json::JsonValue metadata : all) {
    const json::JsonValue delay = member_of(annotations_of(metadata), "kai.scheduler/preemption-delay");
    if (!delay || !delay.is(json::JsonKind::kString)) continue;
    if (in_.try_without_path([&] { return in_.read_duration(delay, group.times.preemption_delay); })) break;
    in_.remarks.add("the annotation kai.scheduler/preemption-delay \"" + std::string(delay.string()) +
                        "\" is no duration, so KAI ignores it",
                    pod.full_name());
  }
  for (const json::JsonValue metadata : all) {
    const json::JsonValue period = member_of(annotations_of(metadata), "kai.scheduler/staleness-grace-period");
    if (period && in_.try_without_path([&] { return read_grace_period(in_, period, group); })) break;
    group.times.grace_period = {};
  }
}

// KAI does not place a pod that belongs to none of its subgroups; the others of its group are not affected.
void KaiPodGrouper::set_leaf(KubernetesPod& pod, const Known& known) {
  if (known.subgroups.empty()) return;
  std::string_view leaf = shapes_.leaf_of(known.owner, pod);
  const SubgroupNames& names = known.subgroups;
  if (!names.has(leaf) && known.owner.kind == kLeaderWorkerSet && !leaf.empty() && names.has("workers"))
    leaf = "workers";
  if (names.has(leaf)) {
    pod.membership.labels.kai_subgroup = leaf;
    return;
  }
  pod.membership.reference = {GroupSystem::kKaiPod, pod.name, {}, {}};
  hold(pod, "its labels name no subgroup of the " + std::string(known.owner.kind) +
                " that owns it, so KAI does not place it");
}

bool KaiPodGrouper::is_first(KubernetesPod& pod, const Above& above, KubernetesGroup& group) {
  GroupReference& reference = pod.membership.reference;
  reference = kai_group_of(pod, above);
  const KaiOwner owner = owner_of(pod, above);
  const Terms terms = terms_of(pod, owner, above);
  set_queue(pod, terms);
  pod.membership.labels.kai_class = class_of(pod, terms, owner);
  std::string key(pod.namespace_name);
  key.append("/").append(reference.group).append("/").append(reference.name).append("/").append(reference.replica);
  if (reference.system == GroupSystem::kKaiOwner) {
    if (const auto found = known_.find(key); found != known_.end()) {
      set_leaf(pod, found->second);
      return false;
    }
  }
  group.identity = {reference.system, pod.namespace_name, reference.name, reference.group, reference.replica};
  group.node_pool = first_of({labels_of(terms.owner), labels_of(terms.skipped)}, kKaiPoolLabel);
  if (group.node_pool.empty()) group.node_pool = label_of(pod, kKaiPoolLabel);
  set_preemption(pod, terms, group);
  std::string held;
  const std::array<json::JsonValue, 2> annotated = {annotations_of(terms.owner), annotations_of(terms.skipped)};
  group.topology = shapes_.topology_of(first_of(annotated, "kai.scheduler/topology"),
                                       first_of(annotated, "kai.scheduler/topology-required-placement"),
                                       first_of(annotated, "kai.scheduler/topology-preferred-placement"), held);
  if (reference.system == GroupSystem::kKaiOwner) {
    KaiShape shape = shapes_.shape_of(owner, pod);
    group.minimum.members = shape.members;
    group.minimum.subgroups = shape.subgroups;
    group.subgroups = std::move(shape.tree);
    if (held.empty()) held = std::move(shape.held);
    if (is_any(owner.kind, kOfGrove)) held = "it belongs to a PodGang of Grove, which Muster does not read";
    set_leaf(pod, known_.emplace(std::move(key), Known{owner, SubgroupNames(group.subgroups)}).first->second);
  }
  const bool is_skipped = text_at(annotations_of(metadata_of(pod)), "kai.scheduler/skip-podgrouper") == "true" ||
                          std::ranges::any_of(above, [](const KubernetesObject* object) {
                            return text_at(annotations_of(object->metadata), "kai.scheduler/skip-podgrouper") == "true";
                          });
  if (is_skipped) held = "annotation kai.scheduler/skip-podgrouper is \"true\": KAI makes no PodGroup for its pods";
  if (!held.empty()) group.held = texts_.emplace_back(std::move(held));
  return true;
}

namespace {

std::string words_of(std::string_view pool) {
  return pool.empty() ? "without the label " + std::string(kKaiPoolLabel) : "\"" + std::string(pool) + "\"";
}

}  // namespace

bool KaiNodePools::add_shard(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 2> kSpec = {"minRuntime", "partitionLabelValue"};
  static constexpr std::array<std::string_view, 2> kRuntimes = {"preemptMinRuntime", "reclaimMinRuntime"};
  std::array<json::JsonValue, 2> spec;
  std::array<json::JsonValue, 2> runtimes;
  std::string_view pool;
  if (!in.take(object.spec, kSpec, spec) || !in.text(spec[1], pool) || !in.take(spec[0], kRuntimes, runtimes))
    return false;
  for (const json::JsonValue runtime : runtimes) {
    Nanoseconds duration = 0;
    if (runtime && !in.read_duration(runtime, duration)) return false;
  }
  shards_.emplace(pool, Shard{runtimes[0], runtimes[1]});
  return true;
}

void KaiNodePools::add_node(json::JsonValue labels) { pools_of_nodes_.insert(text_at(labels, kKaiPoolLabel)); }

std::string KaiNodePools::objection(std::string_view pool, std::string_view queue) const {
  if (!shards_.empty() && !shards_.contains(pool))
    return "no SchedulingShard in the input schedules the node pool " + words_of(pool);
  const auto of_queue = of_queue_.find(queue);
  if (of_queue == of_queue_.end() || of_queue->second == pool) return {};
  return "it belongs to the node pool " + words_of(pool) + ", its queue to the node pool " + words_of(of_queue->second);
}

NodeTerm KaiNodePools::nodes_of(std::string_view pool) const {
  if (!pool.empty()) return label_term(kKaiPoolLabel, {pool});
  const bool has_others = pools_of_nodes_.size() > (pools_of_nodes_.contains("") ? 1U : 0U);
  if (!has_others) return {};
  return {{kKaiPoolLabel, "DoesNotExist", {}, false}};
}

}  // namespace muster::kubernetes
