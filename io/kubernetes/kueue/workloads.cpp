#include "io/kubernetes/kueue/workloads.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "io/kubernetes/templates/pod_maker.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kGatedBy = "kueue.x-k8s.io/admission-gated-by";
constexpr std::string_view kPriorityClass = "kueue.x-k8s.io/priority-class";

// The kinds whose pods Kueue admits together; those of a LeaderWorkerSet by its groups.
constexpr std::array<std::string_view, 16> kTogether = {
    "AppWrapper", "JAXJob", "Job",        "JobSet",           "LeaderWorkerSet", "MPIJob", "PaddleJob", "PyTorchJob",
    "RayCluster", "RayJob", "RayService", "SparkApplication", "StatefulSet",     "TFJob",  "TrainJob",  "XGBoostJob"};

bool starts_together(std::string_view kind) { return std::ranges::find(kTogether, kind) != kTogether.end(); }

std::string_view label_of(const KubernetesPod& pod, std::string_view key) {
  for (const auto& [added, value] : pod.labels.added) {
    if (added == key) return value;
  }
  const json::JsonValue value = member_of(pod.labels.own, key);
  return value && value.is(json::JsonKind::kString) ? value.string() : std::string_view();
}

std::string_view group_index(const KubernetesPod& pod) {
  return label_of(pod, "leaderworkerset.sigs.k8s.io/group-index");
}

bool is_gone(const KubernetesPod& pod) {
  return pod.state.is_left_out || pod.state.status == PodStatus::kSucceeded || pod.state.status == PodStatus::kFailed ||
         pod.state.status == PodStatus::kReleasing;
}

bool read_suspended(KubernetesReading& in, json::JsonValue spec, bool& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"runPolicy", "suspend"};
  std::array<json::JsonValue, 2> found;
  json::JsonValue of_policy;
  return in.take(spec, kKeys, found) && in.flag(found[1], out) &&
         (!found[0] || (in.take(found[0], "suspend", of_policy) && in.flag(of_policy, out)));
}

// The number of an annotation; none: it is no number, which Kueue ignores.
std::optional<std::int32_t> number_of(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A level or slices that the Workload asks for; those of the template's annotations are there already.
bool read_topology_request(KubernetesReading& in, json::JsonValue request, GroupLabels& labels) {
  static constexpr std::array<std::string_view, 5> kKeys = {"podSetGroupName", "podSetSliceRequiredTopology",
                                                            "podsetSliceRequiredTopologyConstraints", "preferred",
                                                            "required"};
  std::array<json::JsonValue, 5> found;
  bool has_layers = false;
  if (!in.take(request, kKeys, found) || !in.has_elements(found[2], has_layers) ||
      !in.text(found[3], labels.kueue_preferred) || !in.text(found[4], labels.kueue_required)) {
    return false;
  }
  if (found[1] || has_layers) labels.kueue_held = kKueueSlicesHeld;
  if (found[0]) labels.kueue_held = kKueueSharedTopologyHeld;
  return true;
}

}  // namespace

bool KueueWorkloads::add_priority_class(KubernetesReading& in, const KubernetesObject& object) {
  json::JsonValue value;
  std::optional<std::int32_t> priority;
  if (!in.take(object.value, "value", value) || !in.priority(value, priority)) return false;
  if (!priority) return in.fail_missing(object.value, "value");
  classes_[object.name] = *priority;
  return true;
}

bool KueueWorkloads::add_owner(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 3> kMetadata = {"annotations", "labels", "ownerReferences"};
  static constexpr std::array<std::string_view, 2> kLabels = {kPriorityClass, kKueueQueueLabel};
  static constexpr std::array<std::string_view, 2> kAnnotations = {kGatedBy, "kueue.x-k8s.io/job-min-parallelism"};
  std::array<json::JsonValue, 3> metadata;
  std::array<json::JsonValue, 2> labels, annotations;
  std::string_view gates, least;
  Owner owner;
  owner.object = object;
  if (!in.take(object.metadata, kMetadata, metadata) || !in.take(metadata[0], kAnnotations, annotations) ||
      !in.take(metadata[1], kLabels, labels) || !in.has_elements(metadata[2], owner.has_controller) ||
      !in.text(annotations[0], gates) || !in.text(annotations[1], least) || !in.text(labels[0], owner.priority_class) ||
      !in.text(labels[1], owner.queue) || !read_suspended(in, object.spec, owner.is_suspended)) {
    return false;
  }
  owner.is_gated = !gates.empty();
  owner.least_pods = number_of(least);
  owners_[{object.namespace_name, object.kind, object.name}] = owner;
  return true;
}

// Of v1beta1 `priorityClassName` with its source, of v1beta2 `priorityClassRef`.
bool KueueWorkloads::read_spec(KubernetesReading& in, Workload& out) {
  static constexpr std::array<std::string_view, 8> kKeys = {"active",
                                                            "podSets",
                                                            "preemptionGates",
                                                            "priority",
                                                            "priorityClassName",
                                                            "priorityClassRef",
                                                            "priorityClassSource",
                                                            "queueName"};
  static constexpr std::array<std::string_view, 2> kRef = {"kind", "name"};
  std::array<json::JsonValue, 8> found;
  std::array<json::JsonValue, 2> ref;
  std::string_view source, kind;
  bool has_any = false;
  if (!in.take(out.object.spec, kKeys, found) || !in.flag(found[0], out.is_active) ||
      !in.has_elements(found[1], has_any) || !in.has_elements(found[2], out.never_preempts) ||
      !in.priority(found[3], out.priority) || !in.text(found[4], out.priority_class) || !in.text(found[6], source) ||
      !in.text(found[7], out.queue) || !in.take(found[5], kRef, ref) || !in.text(ref[0], kind) ||
      !in.text(ref[1], out.priority_class)) {
    return false;
  }
  if (has_any) out.pod_sets = found[1];
  if (kind != "WorkloadPriorityClass" && source != "kueue.x-k8s.io/workloadpriorityclass") out.priority_class = {};
  return true;
}

bool KueueWorkloads::read_state(KubernetesReading& in, Workload& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"admission", "conditions"};
  static constexpr std::array<std::string_view, 2> kCondition = {"status", "type"};
  std::array<json::JsonValue, 2> found;
  bool has_any = false;
  if (!in.take(out.object.status, kKeys, found) || !in.has_elements(found[1], has_any)) return false;
  out.is_reserved = static_cast<bool>(found[0]);
  if (!has_any) return true;
  for (const json::JsonValue condition : found[1].elements()) {
    std::array<json::JsonValue, 2> part;
    std::string_view status, type;
    if (!in.expect(condition, json::JsonKind::kObject) || !in.take(condition, kCondition, part) ||
        !in.text(part[0], status) || !in.text(part[1], type)) {
      return false;
    }
    if (status == "True" && type == "Finished") out.is_finished = true;
    if (status == "True" && type == "QuotaReserved") out.is_reserved = true;
  }
  return true;
}

bool KueueWorkloads::read_owners(KubernetesReading& in, Workload& out) {
  static constexpr std::array<std::string_view, 3> kMetadata = {"annotations", "labels", "ownerReferences"};
  static constexpr std::array<std::string_view, 3> kAnnotations = {kGatedBy, "kueue.x-k8s.io/component-workload-index",
                                                                   "kueue.x-k8s.io/priority-boost"};
  static constexpr std::array<std::string_view, 2> kOwner = {"kind", "name"};
  std::array<json::JsonValue, 3> metadata, annotations;
  std::string_view gates, boost;
  bool has_any = false;
  if (!in.take(out.object.metadata, kMetadata, metadata) || !in.take(metadata[0], kAnnotations, annotations) ||
      !in.text(annotations[0], gates) || !in.text(annotations[1], out.index) || !in.text(annotations[2], boost) ||
      !in.has_elements(metadata[2], has_any) || !read_controller(in, metadata[2], out.owner_kind, out.owner_name)) {
    return false;
  }
  out.is_gated = !gates.empty();
  if (const auto more = number_of(boost); more && out.priority) {
    const std::int64_t sum = std::int64_t{*out.priority} + *more;
    out.priority = static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                                                      std::numeric_limits<std::int32_t>::max()));
  }
  if (!has_any) return true;
  for (const json::JsonValue owner : metadata[2].elements()) {
    std::array<json::JsonValue, 2> found;
    std::string_view kind, name;
    if (!in.expect(owner, json::JsonKind::kObject) || !in.take(owner, kOwner, found) || !in.text(found[0], kind) ||
        !in.text(found[1], name)) {
      return false;
    }
    out.owners.emplace_back(out.object.namespace_name, kind, name);
  }
  return true;
}

void KueueWorkloads::add(KubernetesReading& in, const KubernetesObject& object) {
  Workload workload;
  workload.object = object;
  if (!in.try_without_path(
          [&] { return read_spec(in, workload) && read_state(in, workload) && read_owners(in, workload); })) {
    return in.remarks.add("a Workload that cannot be read is ignored: its pods have their own priority", object);
  }
  Workload& added = workloads_.emplace_back(std::move(workload));
  by_name_[{object.namespace_name, object.name}] = &added;
  for (const Key& owner : added.owners) by_owner_[owner].push_back(&added);
}

// Of several, one that is not finished, and has its quota; of the groups of a LeaderWorkerSet the pod's own.
KueueWorkloads::Workload* KueueWorkloads::find_of_owner(const KubernetesPod& pod, const Key& key) {
  const auto found = by_owner_.find(key);
  if (found == by_owner_.end()) return nullptr;
  Workload* best = nullptr;
  for (Workload* one : found->second) {
    if (one->is_finished || (!one->index.empty() && one->index != group_index(pod))) continue;
    if (best == nullptr || (one->is_reserved && !best->is_reserved)) best = one;
  }
  return best;
}

KueueWorkloads::Workload* KueueWorkloads::find(const KubernetesPod& pod) {
  if (workloads_.empty()) return nullptr;
  const GroupMembership& membership = pod.membership;
  const bool is_group = membership.reference.system == GroupSystem::kKueue;
  for (const std::string_view name :
       {membership.labels.kueue_workload, is_group ? membership.reference.name : std::string_view()}) {
    const auto found = by_name_.find({pod.namespace_name, name});
    if (found != by_name_.end()) return found->second;
  }
  const PodOwner& owner = pod.owner;
  for (const Key& key :
       {Key{pod.namespace_name, "Pod", pod.name}, Key{pod.namespace_name, owner.top.kind, owner.top.name},
        Key{pod.namespace_name, owner.kind, owner.name}}) {
    if (Workload* found = find_of_owner(pod, key)) return found;
  }
  return nullptr;
}

const KueueWorkloads::Owner* KueueWorkloads::owner_of(const KubernetesPod& pod) const {
  for (const Key& key : {Key{pod.namespace_name, pod.owner.top.kind, pod.owner.top.name},
                         Key{pod.namespace_name, pod.owner.kind, pod.owner.name}}) {
    const auto found = owners_.find(key);
    if (found != owners_.end()) return &found->second;
  }
  return nullptr;
}

// By the label that the makers of several pod sets give.
std::string_view KueueWorkloads::pod_set_of(const KubernetesPod& pod) {
  for (const std::string_view key : {"jobset.sigs.k8s.io/replicatedjob-name", "ray.io/group",
                                     "training.kubeflow.org/replica-type", "training.kubeflow.org/job-role"}) {
    if (const std::string_view name = label_of(pod, key); !name.empty()) return name;
  }
  return {};
}

// The gang of the outermost owner that Kueue admits as a whole.
bool KueueWorkloads::is_grouped(const KubernetesPod& pod, const Workload* workload, GroupReference& out) const {
  ObjectName owner;
  if (workload != nullptr && workload->owner_kind != "Pod") owner = {workload->owner_kind, workload->owner_name};
  for (const ObjectName& next : {pod.owner.top, ObjectName{pod.owner.kind, pod.owner.name}}) {
    if (owner.kind.empty() && starts_together(next.kind)) owner = next;
  }
  if (owner.kind.empty() || owner.name.empty() || (workload != nullptr && workload->owner_kind == "Pod")) return false;
  out = {GroupSystem::kKueue, owner.name, owner.kind, {}};
  if (owner.kind == "LeaderWorkerSet")
    out.replica = workload != nullptr && !workload->index.empty() ? workload->index : group_index(pod);
  return true;
}

// A class that is not known could be above or below all others.
void KueueWorkloads::set_priority(KubernetesReading& in, const Workload* workload, const Owner* owner,
                                  KubernetesPod& pod) const {
  if (workload != nullptr && workload->never_preempts) pod.priority.never_preempts = true;
  if (workload != nullptr && workload->priority) {
    pod.priority.value = workload->priority;
    return;
  }
  std::string_view name = owner == nullptr ? std::string_view() : owner->priority_class;
  if (name.empty()) name = pod.membership.labels.kueue_priority_class;
  if (name.empty() && workload != nullptr) name = workload->priority_class;
  if (name.empty()) return;
  const auto known = classes_.find(name);
  if (known != classes_.end()) {
    pod.priority.value = known->second;
    return;
  }
  pod.membership.dialect.allows_preemption = false;
  pod.priority.never_preempts = true;
  in.remarks.add("WorkloadPriorityClass " + std::string(name) +
                     " is not in the input (add workloadpriorityclasses.kueue.x-k8s.io to the kinds of kubectl get): "
                     "its pods have their own priority, evict nothing, and are not evicted",
                 "Pod " + pod.full_name());
}

void KueueWorkloads::join(KubernetesReading& in, const KueueQueues& queues, bool is_grouped_otherwise,
                          KubernetesPod& pod) {
  GroupMembership& membership = pod.membership;
  GroupLabels& labels = membership.labels;
  if (expands_ && !workloads_.empty()) taken_.emplace(pod.namespace_name, pod.name);
  Workload* workload = find(pod);
  const Owner* owner = owner_of(pod);
  if (!is_gone(pod)) {
    if (workload != nullptr) workload->has_pods = true;
    if (expands_ && (!workloads_.empty() || !owners_.empty())) {
      with_pods_.insert({pod.namespace_name, pod.owner.top.kind, pod.owner.top.name});
      with_pods_.insert({pod.namespace_name, pod.owner.kind, pod.owner.name});
    }
  }
  if (labels.kueue_queue.empty() && workload != nullptr) labels.kueue_queue = workload->queue;
  if (labels.kueue_queue.empty() && owner != nullptr) labels.kueue_queue = owner->queue;
  if (labels.kueue_queue.empty() && !labels.kueue_cluster_queue.empty()) {
    labels.kueue_queue = queues.local_queue_to(pod.namespace_name, labels.kueue_cluster_queue);
    if (labels.kueue_queue.empty()) labels.kueue_queue = labels.kueue_cluster_queue;
  }
  const bool asks_topology = !labels.kueue_required.empty() || !labels.kueue_preferred.empty();
  if (membership.reference.system == GroupSystem::kNone && (!labels.kueue_queue.empty() || asks_topology) &&
      !pod.owner.is_fixed && !is_grouped_otherwise) {
    static_cast<void>(is_grouped(pod, workload, membership.reference));
  }
  if (labels.kueue_queue.empty()) return;
  if (membership.reference.system == GroupSystem::kKueue && owner != nullptr && owner->least_pods)
    labels.min_available = std::max(1, *owner->least_pods);
  if (labels.kueue_pod_set.empty()) labels.kueue_pod_set = pod_set_of(pod);
  set_priority(in, workload, owner, pod);
  if (!pod.state.waits()) return;
  if (workload != nullptr && !workload->is_active) pod.hold("its Workload is not active");
  if ((workload != nullptr && workload->is_gated) || (owner != nullptr && owner->is_gated))
    pod.hold("its Workload is gated by kueue.x-k8s.io/admission-gated-by");
}

std::vector<std::string> KueueWorkloads::suspended_owners() const {
  std::vector<std::string> titles;
  if (!expands_) return titles;
  for (const auto& [key, owner] : owners_) {
    if (!owner.is_suspended || owner.queue.empty() || owner.has_controller) continue;
    if (!by_owner_.contains(key) && !with_pods_.contains(key)) titles.push_back(owner.object.title());
  }
  return titles;
}

bool KueueWorkloads::is_suspended(const KubernetesPod& pod) const {
  const Owner* owner = owner_of(pod);
  return owner != nullptr && owner->is_suspended && !owner->queue.empty();
}

// One whose owner has pods of another Workload is a slice that takes the place of that one.
bool KueueWorkloads::is_expanded(const Workload& workload) const {
  if (!expands_ || workload.is_finished || workload.is_reserved || workload.has_pods || !workload.pod_sets)
    return false;
  if (workload.owner_kind == "Pod") return false;
  return !workload.index.empty() ||
         std::ranges::none_of(workload.owners, [this](const Key& owner) { return with_pods_.contains(owner); });
}

bool KueueWorkloads::read_pod_set(KubernetesReading& in, const Workload& workload, json::JsonValue pod_set,
                                  PodSet& out) const {
  static constexpr std::array<std::string_view, 5> kKeys = {"count", "minCount", "name", "template", "topologyRequest"};
  static constexpr std::array<std::string_view, 2> kTemplate = {"metadata", "spec"};
  std::array<json::JsonValue, 5> found;
  std::array<json::JsonValue, 2> parts;
  std::optional<std::int32_t> count;
  if (!in.expect(pod_set, json::JsonKind::kObject) || !in.take(pod_set, kKeys, found) || !in.count(found[0], count) ||
      !in.count(found[1], out.least) || !in.text(found[2], out.name) || !in.take(found[3], kTemplate, parts)) {
    return false;
  }
  out.count = count.value_or(1);
  KubernetesObject object = workload.object;
  object.value = found[3] ? found[3] : pod_set;
  object.metadata = parts[0];
  object.spec = parts[1];
  object.status = {};
  if (!read_pod(in, object, out.pod) || !read_topology_request(in, found[4], out.pod.membership.labels)) return false;
  out.pod.owner.kind = workload.owner_kind;
  out.pod.owner.name = workload.owner_name;
  out.pod.membership.labels.kueue_workload = workload.object.name;
  out.pod.membership.labels.kueue_pod_set = out.name;
  out.pod.membership.labels.is_admitted_by_kueue = false;
  if (!out.pod.state.node.empty()) {
    out.pod.state.node = {};
    out.pod.hold("the pod template sets nodeName, which Muster does not plan");
  }
  out.pod.state.status = PodStatus::kPending;
  return true;
}

void KueueWorkloads::make(const Workload& workload, const PodSet& set, bool is_only, std::vector<KubernetesPod>& pods) {
  std::string prefix(workload.owner_name.empty() ? workload.object.name : workload.owner_name);
  if (!workload.index.empty()) prefix.append("-").append(workload.index);
  if (!is_only) prefix.append("-").append(set.name);
  std::int64_t left = set.count;
  for (std::int64_t i = 0; left > 0; ++i) {
    std::string name = prefix + "-" + std::to_string(i);
    if (taken_.contains({workload.object.namespace_name, name})) continue;
    KubernetesPod& made = pods.emplace_back(set.pod);
    made.name = texts_.emplace_back(std::move(name));
    taken_.emplace(made.namespace_name, made.name);
    --left;
  }
}

bool KueueWorkloads::expand(KubernetesReading& in, const Workload& workload, std::vector<KubernetesPod>& pods) {
  std::vector<PodSet> sets;
  std::int64_t least = 0, count = 0;
  bool may_be_less = false;
  for (const json::JsonValue element : workload.pod_sets.elements()) {
    PodSet& set = sets.emplace_back();
    if (!read_pod_set(in, workload, element, set)) return false;
    count += set.count;
    least += set.least.value_or(static_cast<std::int32_t>(set.count));
    may_be_less = may_be_less || set.least;
  }
  if (made_ + count > kMostMadePods) {
    return in.fail(workload.object.value, ErrorCode::kTooLarge,
                   "Workloads make more than " + std::to_string(kMostMadePods) + " pods in total");
  }
  made_ += count;
  for (PodSet& set : sets) {
    if (may_be_less)
      set.pod.membership.labels.min_available = static_cast<std::int32_t>(std::max<std::int64_t>(1, least));
    make(workload, set, sets.size() == 1, pods);
  }
  return true;
}

bool KueueWorkloads::expand(KubernetesReading& in, std::vector<KubernetesPod>& pods) {
  for (const Workload& workload : workloads_) {
    if (!is_expanded(workload)) continue;
    if (!workload.is_active) {
      in.remarks.add("a Workload is not active, and its pods are not planned", workload.object);
      continue;
    }
    if (expand(in, workload, pods)) {
      in.remarks.add("a Workload waits for Kueue: pods that do not exist yet are planned in its place",
                     workload.object);
      continue;
    }
    if (in.strict) {
      in.error.message = workload.object.title() + ": " + in.error.message;
      return false;
    }
    in.warn(workload.object, "its pods are not planned");
  }
  return true;
}

}  // namespace muster::kubernetes
