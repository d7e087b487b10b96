#include "io/kubernetes/owners.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kSetLabel = "leaderworkerset.sigs.k8s.io/name";
constexpr std::string_view kGroupIndexLabel = "leaderworkerset.sigs.k8s.io/group-index";
constexpr std::string_view kWorkerIndexLabel = "leaderworkerset.sigs.k8s.io/worker-index";

// The controller among the owners of an object, else the first of them.
bool read_controller(KubernetesReading& in, const KubernetesObject& object, std::string_view& kind,
                     std::string_view& name) {
  json::JsonValue owners;
  return in.take(object.metadata, "ownerReferences", owners) && read_controller(in, owners, kind, name);
}

bool is_done(KubernetesReading& in, const KubernetesObject& job, bool& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"status", "type"};
  json::JsonValue conditions;
  bool has_any = false;
  if (!in.take(job.status, "conditions", conditions) || !in.has_elements(conditions, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue condition : conditions.elements()) {
    std::array<json::JsonValue, 2> found;
    std::string_view status, type;
    if (!in.expect(condition, json::JsonKind::kObject) || !in.take(condition, kKeys, found) ||
        !in.text(found[0], status) || !in.text(found[1], type)) {
      return false;
    }
    if (status == "True" && (type == "Complete" || type == "Failed" || type == "SuccessCriteriaMet")) out = true;
  }
  return true;
}

constexpr Billionths kMostAmount = Billionths{std::numeric_limits<std::int64_t>::max()} * 1'000'000'000;

void add_amount(std::string_view resource, Billionths amount, RequestedAmounts& sums) {
  auto known = std::ranges::find(sums, resource, &RequestedAmount::resource);
  if (known == sums.end()) known = sums.insert(known, {resource, 0});
  known->amount = std::min(kMostAmount, known->amount + std::min(kMostAmount, amount));
}

// The requests of `count` such pods; whole devices are `gpu`.
void add_amounts(const KubernetesPod& pod, std::int64_t times, RequestedAmounts& sums) {
  if (times <= 0) return;
  for (const auto& [resource, amount] : pod.requests) add_amount(resource, amount * times, sums);
  if (pod.gpus.request.kind == GpuRequestKind::kWhole) {
    add_amount("gpu", Billionths{pod.gpus.request.devices} * times * 1'000'000'000, sums);
  }
}

bool has_annotation(KubernetesReading& in, json::JsonValue metadata, std::string_view key, bool& out) {
  json::JsonValue annotations, value;
  if (!in.take(metadata, "annotations", annotations) || !in.take(annotations, key, value)) return false;
  out = out || value;
  return true;
}

// What the object tells about its pods. The deadline of a Job is that of all of them together.
ExpectedRunTime read_run_time(KubernetesReading& in, KubernetesKind kind, const KubernetesObject& object) {
  static constexpr std::string_view kKey = "activeDeadlineSeconds";
  json::JsonValue annotations, seconds, labels, label;
  if (!in.try_without_path([&] { return in.take(object.metadata, "annotations", annotations); })) annotations = {};
  if (kind == KubernetesKind::kJob && !in.try_without_path([&] { return in.take(object.spec, kKey, seconds); }))
    seconds = {};
  if (!in.try_without_path(
          [&] { return in.take(object.metadata, "labels", labels) && in.take(labels, kKueueMaxTimeLabel, label); })) {
    label = {};
  }
  ExpectedRunTime run_time{read_annotated_duration(in, object, annotations), read_deadline(in, object, kKey, seconds)};
  run_time.add({{}, read_labelled_deadline(in, object, label)});
  return run_time;
}

}  // namespace

struct KubernetesOwners::LeaderWorkers {
  std::optional<std::int32_t> replicas, size;
  KubernetesPod leader, worker;
  bool is_gang = false, starts_leader_first = false;
  std::string_view queue;  // of Volcano
};

bool KubernetesOwners::add(KubernetesReading& in, KubernetesKind kind, const KubernetesObject& object) {
  const std::array<std::string_view, 2> label_keys = {kKueueQueueLabel, in.kai.queue_label};
  json::JsonValue labels;
  std::array<json::JsonValue, 2> queues;
  Owner owner{kind, object, {}, {}, {}, {}, 0};
  std::string_view controller_kind, controller_name;
  if (!in.take(object.metadata, "labels", labels) || !in.take(labels, label_keys, queues) ||
      !in.text(queues[0], owner.kueue_queue) || !in.text(queues[1], owner.kai_queue) ||
      !read_controller(in, object, controller_kind, controller_name)) {
    return false;
  }
  owner.controller = {object.namespace_name, controller_kind, controller_name};
  // The sets of workers of a LeaderWorkerSet are owned by leader pods.
  json::JsonValue set;
  std::string_view set_name;
  if (!in.take(labels, kSetLabel, set) || !in.text(set, set_name)) return false;
  if (kind == KubernetesKind::kStatefulSet && !set_name.empty()) {
    owner.controller = {object.namespace_name, "LeaderWorkerSet", set_name};
  }
  owner.run_time = read_run_time(in, kind, object);
  owners_.emplace(Key{object.namespace_name, object.kind, object.name}, owner);
  return true;
}

void KubernetesOwners::add_workload(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::string_view kKey = "maximumExecutionTimeSeconds";
  static constexpr std::array<std::string_view, 2> kKeys = {"kind", "name"};
  json::JsonValue seconds, owners, annotations;
  bool has_any = false;
  if (!in.try_without_path([&] {
        return in.take(object.spec, kKey, seconds) && in.take(object.metadata, "annotations", annotations) &&
               in.take(object.metadata, "ownerReferences", owners) && in.has_elements(owners, has_any);
      })) {
    return in.remarks.add("a Workload that cannot be read is ignored", object);
  }
  const ExpectedRunTime run_time{read_annotated_duration(in, object, annotations),
                                 read_deadline(in, object, kKey, seconds)};
  if (!run_time.value() || !has_any) return;
  for (const json::JsonValue owner : owners.elements()) {
    std::array<json::JsonValue, 2> found;
    std::string_view kind, name;
    if (in.try_without_path([&] {
          return in.expect(owner, json::JsonKind::kObject) && in.take(owner, kKeys, found) && in.text(found[0], kind) &&
                 in.text(found[1], name);
        })) {
      ExpectedRunTime& known = admitted_[{object.namespace_name, kind, name}];
      const auto longest = std::max(known.annotated, run_time.annotated);  // none is the least
      known.add(run_time);
      known.annotated = longest;
    } else {
      in.remarks.add("an owner of a Workload that cannot be read is ignored", object);
    }
  }
}

KubernetesOwners::Owner* KubernetesOwners::find(const Key& key) {
  const auto found = owners_.find(key);
  return found == owners_.end() ? nullptr : &found->second;
}

// The controller. If a ReplicaSet is not in the list, the Deployment is derived from its name.
KubernetesOwners::Key KubernetesOwners::nearest_owner(const KubernetesPod& pod) const {
  const Key key{pod.namespace_name, pod.owner.kind, pod.owner.name};
  std::string_view name = pod.owner.name;
  const std::string_view hash = pod.owner.template_hash;
  if (pod.owner.kind != "ReplicaSet" || hash.empty() || !name.ends_with(hash)) return key;
  name.remove_suffix(hash.size());
  if (name.size() < 2 || !name.ends_with('-') || owners_.contains(key)) return key;
  name.remove_suffix(1);
  return {pod.namespace_name, "Deployment", name};
}

ObjectName KubernetesOwners::top_of(Key key) const {
  for (int step = 0; step < 8; ++step) {  // owners in a circle end, too
    const auto owner = owners_.find(key);
    if (owner == owners_.end() || std::get<1>(owner->second.controller).empty()) break;
    key = owner->second.controller;
  }
  return {std::get<1>(key), std::get<2>(key)};
}

// KAI takes the queue of the owner before that of the pod.
void KubernetesOwners::pass_on_queues(const Owner& owner, GroupMembership& out) {
  if (out.labels.kueue_queue.empty()) out.labels.kueue_queue = owner.kueue_queue;
  if (out.reference.system == GroupSystem::kNone && !owner.kai_queue.empty()) out.labels.kai_queue = owner.kai_queue;
}

// The outermost object of the list that owns the pod.
KubernetesOwners::Owner* KubernetesOwners::owner_of(const KubernetesPod& pod) {
  if (owners_.empty() || pod.owner.name.empty()) return nullptr;
  Owner* owner = find(nearest_owner(pod));
  for (int step = 0; owner != nullptr && step < 8; ++step) {  // owners in a circle end, too
    Owner* next = find(owner->controller);
    if (next == nullptr) break;
    owner = next;
  }
  return owner;
}

// Adds what Workloads tell about an object and about those that control it.
void KubernetesOwners::add_admitted(Key key, ExpectedRunTime& run_time) const {
  if (admitted_.empty()) return;
  for (int step = 0; step < 8; ++step) {  // owners in a circle end, too
    if (const auto found = admitted_.find(key); found != admitted_.end()) run_time.add(found->second);
    const auto owner = owners_.find(key);
    if (owner == owners_.end()) return;
    key = owner->second.controller;
  }
}

void KubernetesOwners::join(KubernetesPod& pod) {
  if (!pod.owner.name.empty()) pod.owner.top = top_of(nearest_owner(pod));
  Owner* owner = owner_of(pod);
  if (owner != nullptr) pod.run_time.add(owner->run_time);
  add_admitted({pod.namespace_name, "Pod", pod.name}, pod.run_time);
  add_admitted({pod.namespace_name, pod.owner.kind, pod.owner.name}, pod.run_time);
  if (owner == nullptr) return;
  pass_on_queues(*owner, pod.membership);
  const bool is_finished = pod.state.status == PodStatus::kSucceeded || pod.state.status == PodStatus::kFailed;
  if (!is_finished && !pod.state.is_left_out) ++owner->active;
}

bool KubernetesOwners::check_room(KubernetesReading& in, const Owner& owner, std::int64_t more) const {
  if (static_cast<std::int64_t>(pods_->size() - there_) + more <= kMostMadePods) return true;
  return in.fail(owner.object.value, ErrorCode::kTooLarge,
                 "templates make more than " + std::to_string(kMostMadePods) + " pods in total");
}

bool KubernetesOwners::read_template(KubernetesReading& in, const Owner& owner, json::JsonValue pod_template,
                                     KubernetesPod& out) const {
  static constexpr std::array<std::string_view, 2> kKeys = {"metadata", "spec"};
  if (!pod_template) return in.fail_missing(owner.object.spec ? owner.object.spec : owner.object.value, "template");
  std::array<json::JsonValue, 2> found;
  if (!in.take(pod_template, kKeys, found)) return false;
  KubernetesObject object;
  object.value = pod_template;
  object.kind = owner.object.kind;
  object.namespace_name = owner.object.namespace_name;
  object.name = owner.object.name;
  object.metadata = found[0];
  object.spec = found[1];
  if (!read_pod(in, object, out)) return false;
  out.owner.kind = owner.object.kind;
  out.owner.name = owner.object.name;
  out.run_time.add(owner.run_time);
  add_admitted({owner.object.namespace_name, owner.object.kind, owner.object.name}, out.run_time);
  out.owner.top = top_of({owner.object.namespace_name, owner.object.kind, owner.object.name});
  pass_on_queues(owner, out.membership);
  if (!out.state.node.empty()) {
    out.state.node = {};
    out.state.status = PodStatus::kPending;
    out.hold("the pod template sets nodeName, which Muster does not plan");
  }
  return true;
}

// A copy under this name; none if a pod has it already.
KubernetesPod* KubernetesOwners::make(const KubernetesPod& pod, const std::string& name) {
  if (names_.contains({pod.namespace_name, name})) return nullptr;
  KubernetesPod& made = pods_->emplace_back(pod);
  made.name = keep(name);
  names_.emplace(std::pair(made.namespace_name, made.name), pods_->size() - 1);
  return &made;
}

// Creates the given number, under the first free names: prefix-0, prefix-1, ...
void KubernetesOwners::make_free(const KubernetesPod& pod, std::string_view prefix, std::int64_t count) {
  for (std::int64_t i = 0; count > 0; ++i) {
    if (make(pod, std::string(prefix).append("-").append(std::to_string(i))) != nullptr) --count;
  }
}

bool KubernetesOwners::expand_set(KubernetesReading& in, const Owner& owner) {
  static constexpr std::array<std::string_view, 2> kKeys = {"replicas", "template"};
  std::array<json::JsonValue, 2> found;
  std::optional<std::int32_t> replicas;
  if (!in.take(owner.object.spec, kKeys, found) || !in.count(found[0], replicas)) return false;
  const std::int64_t missing = replicas.value_or(1) - owner.active;
  if (missing <= 0) return true;
  KubernetesPod pod;
  if (!check_room(in, owner, missing) || !read_template(in, owner, found[1], pod)) return false;
  make_free(pod, owner.object.name, missing);
  return true;
}

bool KubernetesOwners::expand_job(KubernetesReading& in, const Owner& owner) {
  static constexpr std::array<std::string_view, 4> kKeys = {"completions", "parallelism", "suspend", "template"};
  std::array<json::JsonValue, 4> found;
  json::JsonValue finished;
  std::optional<std::int32_t> completions, parallelism, succeeded;
  bool is_suspended = false, done = false;
  if (!in.take(owner.object.spec, kKeys, found) || !in.count(found[0], completions) ||
      !in.count(found[1], parallelism) || !in.flag(found[2], is_suspended) ||
      !in.take(owner.object.status, "succeeded", finished) || !in.count(finished, succeeded) ||
      !is_done(in, owner.object, done)) {
    return false;
  }
  std::int64_t wanted = parallelism.value_or(1);
  if (completions) {
    wanted = std::min<std::int64_t>(wanted, *completions - succeeded.value_or(0));
  } else if (parallelism && succeeded.value_or(0) > 0) {
    wanted = 0;  // of a work queue that ends
  } else if (!parallelism) {
    wanted = 1 - succeeded.value_or(0);
  }
  const std::int64_t missing = done ? 0 : wanted - owner.active;
  if (missing <= 0) return true;
  KubernetesPod pod;
  if (!check_room(in, owner, missing) || !read_template(in, owner, found[3], pod)) return false;
  if (is_suspended) pod.state.status = PodStatus::kGated;
  make_free(pod, owner.object.name, missing);
  return true;
}

bool KubernetesOwners::expand_stateful_set(KubernetesReading& in, const Owner& owner) {
  static constexpr std::array<std::string_view, 3> kKeys = {"ordinals", "replicas", "template"};
  std::array<json::JsonValue, 3> found;
  json::JsonValue start;
  std::optional<std::int32_t> replicas, first;
  if (!in.take(owner.object.spec, kKeys, found) || !in.take(found[0], "start", start) || !in.count(start, first) ||
      !in.count(found[1], replicas)) {
    return false;
  }
  KubernetesPod pod;
  const std::int64_t count = replicas.value_or(1), begin = first.value_or(0);
  if (!check_room(in, owner, count) || (count > 0 && !read_template(in, owner, found[2], pod))) return false;
  for (std::int64_t i = begin; i < begin + count; ++i) {
    KubernetesPod* made = make(pod, std::string(owner.object.name).append("-").append(std::to_string(i)));
    if (made != nullptr) made->labels.added = {{"statefulset.kubernetes.io/pod-name", made->name}};
  }
  return true;
}

bool KubernetesOwners::read_leader_workers(KubernetesReading& in, const Owner& owner, LeaderWorkers& out) const {
  static constexpr std::array<std::string_view, 3> kSpec = {"leaderWorkerTemplate", "replicas", "startupPolicy"};
  static constexpr std::array<std::string_view, 3> kTemplate = {"leaderTemplate", "size", "workerTemplate"};
  static constexpr std::string_view kQueue = "scheduling.volcano.sh/queue-name",
                                    kGroup = "scheduling.k8s.io/group-name";
  std::array<json::JsonValue, 3> spec, parts;
  json::JsonValue annotations, queue, leader_metadata, worker_metadata;
  std::string_view startup;
  bool is_exclusive = false;
  if (!in.take(owner.object.spec, kSpec, spec) || !in.take(spec[0], kTemplate, parts) ||
      !in.count(spec[1], out.replicas) || !in.text(spec[2], startup) || !in.count(parts[1], out.size) ||
      !in.take(owner.object.metadata, "annotations", annotations) || !in.take(annotations, kQueue, queue) ||
      !in.text(queue, out.queue) || !in.take(parts[0], "metadata", leader_metadata) ||
      !in.take(parts[2], "metadata", worker_metadata) ||
      !has_annotation(in, owner.object.metadata, "leaderworkerset.sigs.k8s.io/exclusive-topology", is_exclusive)) {
    return false;
  }
  out.starts_leader_first = startup == "LeaderReady";
  out.is_gang = static_cast<bool>(queue);
  for (const json::JsonValue metadata : {owner.object.metadata, leader_metadata, worker_metadata}) {
    if (!has_annotation(in, metadata, kGroup, out.is_gang)) return false;
  }
  if (!read_template(in, owner, parts[2], out.worker) ||
      !read_template(in, owner, parts[0] ? parts[0] : parts[2], out.leader)) {
    return false;
  }
  if (is_exclusive) {
    for (KubernetesPod* pod : {&out.worker, &out.leader})
      pod->hold("the LeaderWorkerSet requests an exclusive topology, which Muster does not plan");
  }
  return true;
}

// Whether existing pods belong to groups that its controller has made: `name-index-revision`.
bool KubernetesOwners::has_groups(const Owner& owner, std::int64_t replicas) const {
  for (std::int64_t group = 0; group < replicas; ++group) {
    const std::string leader = std::string(owner.object.name).append("-").append(std::to_string(group));
    const auto there = names_.find({owner.object.namespace_name, leader});
    if (there == names_.end()) continue;
    const GroupReference& reference = (*pods_)[there->second].membership.reference;
    if (reference.system == GroupSystem::kVolcano && reference.name.starts_with(leader + "-")) return true;
  }
  return false;
}

// As its controller creates it with Volcano: all pods together, or the leader first if there is room for all.
void KubernetesOwners::make_group(const Owner& owner, const LeaderWorkers& set, std::int64_t index) {
  KubernetesGroup group;
  group.identity.system = GroupSystem::kVolcano;
  group.identity.namespace_name = owner.object.namespace_name;
  group.identity.name = keep(std::string(owner.object.name).append("-").append(std::to_string(index)));
  group.object = owner.object.value;
  group.queue = set.queue.empty() ? "default" : set.queue;
  group.minimum.members = set.starts_leader_first ? 1 : set.size.value_or(1);
  add_amounts(set.leader, 1, group.minimum.amounts);
  add_amounts(set.worker, set.size.value_or(1) - 1, group.minimum.amounts);
  (*add_group_)(group);
}

bool KubernetesOwners::expand_leader_worker_set(KubernetesReading& in, const Owner& owner) {
  LeaderWorkers set;
  if (!read_leader_workers(in, owner, set)) return false;
  const std::int64_t replicas = set.replicas.value_or(1), size = set.size.value_or(1);
  if (!check_room(in, owner, replicas * size)) return false;
  set.is_gang = set.is_gang || has_groups(owner, replicas);
  for (std::int64_t group = 0; group < replicas; ++group) {
    const std::string leader = std::string(owner.object.name).append("-").append(std::to_string(group));
    // The existing part of the group determines which gang it is.
    const auto there = names_.find({owner.object.namespace_name, leader});
    GroupReference reference = set.leader.membership.reference;
    if (there != names_.end()) {
      reference = (*pods_)[there->second].membership.reference;
    } else if (set.is_gang && size > 0) {
      make_group(owner, set, group);
      reference = {GroupSystem::kVolcano, texts_.back(), {}, {}};
    }
    for (std::int64_t i = 0; i < size; ++i) {
      KubernetesPod* made = make(i == 0 ? set.leader : set.worker, i == 0 ? leader : leader + "-" + std::to_string(i));
      if (made == nullptr) continue;
      if (set.is_gang || there != names_.end()) made->membership.reference = reference;
      made->labels.added = {{kSetLabel, owner.object.name},
                            {kGroupIndexLabel, keep(std::to_string(group))},
                            {kWorkerIndexLabel, keep(std::to_string(i))}};
    }
  }
  return true;
}

bool KubernetesOwners::expand(KubernetesReading& in, const Owner& owner) {
  switch (owner.kind) {
    case KubernetesKind::kJob:
      return expand_job(in, owner);
    case KubernetesKind::kStatefulSet:
      return expand_stateful_set(in, owner);
    case KubernetesKind::kLeaderWorkerSet:
      return expand_leader_worker_set(in, owner);
    default:
      return expand_set(in, owner);
  }
}

bool KubernetesOwners::expand(KubernetesReading& in, std::vector<KubernetesPod>& pods, const AddGroup& add_group) {
  pods_ = &pods;
  add_group_ = &add_group;
  there_ = pods.size();
  for (std::size_t i = 0; i < pods.size(); ++i) names_.emplace(std::pair(pods[i].namespace_name, pods[i].name), i);
  for (const auto& [key, owner] : owners_) {
    if (find(owner.controller) != nullptr) continue;  // that one makes its pods
    if (!is_expanded(owner) || expand(in, owner)) continue;
    in.error.message = owner.object.title() + ": " + in.error.message;
    return false;
  }
  return true;
}

}  // namespace muster::kubernetes
