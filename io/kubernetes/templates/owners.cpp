#include "io/kubernetes/templates/owners.h"

#include <algorithm>
#include <utility>

#include "io/kubernetes/templates/pod_maker.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kSetLabel = "leaderworkerset.sigs.k8s.io/name";

// The controller among the owners of an object, else the first of them.
bool read_controller_of(KubernetesReading& in, const KubernetesObject& object, std::string_view& kind,
                        std::string_view& name) {
  json::JsonValue owners;
  return in.take(object.metadata, "ownerReferences", owners) && read_controller(in, owners, kind, name);
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

bool KubernetesOwners::add(KubernetesReading& in, KubernetesKind kind, const KubernetesObject& object) {
  const std::array<std::string_view, 2> label_keys = {kKueueQueueLabel, in.kai.queue_label};
  json::JsonValue labels;
  std::array<json::JsonValue, 2> queues;
  Owner owner{kind, object, {}, {}, {}, {}};
  std::string_view controller_kind, controller_name;
  if (!in.take(object.metadata, "labels", labels) || !in.take(labels, label_keys, queues) ||
      !in.text(queues[0], owner.kueue_queue) || !in.text(queues[1], owner.kai_queue) ||
      !read_controller_of(in, object, controller_kind, controller_name)) {
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
  const OwnerKey key{object.namespace_name, object.kind, object.name};
  if (owners_.emplace(key, owner).second) controlled_[owner.controller].push_back(key);
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

const KubernetesOwners::Owner* KubernetesOwners::find(const OwnerKey& key) const {
  const auto found = owners_.find(key);
  return found == owners_.end() ? nullptr : &found->second;
}

// The controller. If a ReplicaSet is not in the list, the Deployment is derived from its name.
OwnerKey KubernetesOwners::nearest_owner(const KubernetesPod& pod) const {
  const OwnerKey key{pod.namespace_name, pod.owner.kind, pod.owner.name};
  std::string_view name = pod.owner.name;
  const std::string_view hash = pod.owner.template_hash;
  if (pod.owner.kind != "ReplicaSet" || hash.empty() || !name.ends_with(hash)) return key;
  name.remove_suffix(hash.size());
  if (name.size() < 2 || !name.ends_with('-') || owners_.contains(key)) return key;
  name.remove_suffix(1);
  return {pod.namespace_name, "Deployment", name};
}

ObjectName KubernetesOwners::top_of(OwnerKey key) const {
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

// The outermost object of the list that owns the pod. What any of them has and the import does not read counts.
const KubernetesOwners::Owner* KubernetesOwners::owner_of(KubernetesPod& pod) const {
  if (owners_.empty() || pod.owner.name.empty()) return nullptr;
  const Owner* owner = find(nearest_owner(pod));
  for (int step = 0; owner != nullptr && step < 8; ++step) {  // owners in a circle end, too
    pod.heed(owner->object.hold);
    const Owner* next = find(owner->controller);
    if (next == nullptr) break;
    owner = next;
  }
  return owner;
}

// Adds what Workloads tell about an object and about those that control it.
void KubernetesOwners::add_admitted(OwnerKey key, ExpectedRunTime& run_time) const {
  if (admitted_.empty()) return;
  for (int step = 0; step < 8; ++step) {  // owners in a circle end, too
    if (const auto found = admitted_.find(key); found != admitted_.end()) run_time.add(found->second);
    const auto owner = owners_.find(key);
    if (owner == owners_.end()) return;
    key = owner->second.controller;
  }
}

std::vector<const KubernetesObject*> KubernetesOwners::above(const KubernetesPod& pod) const {
  std::vector<const KubernetesObject*> objects;
  if (owners_.empty() || pod.owner.name.empty()) return objects;
  OwnerKey key = nearest_owner(pod);
  for (int step = 0; step < 8; ++step) {  // owners in a circle end, too
    const auto owner = owners_.find(key);
    if (owner == owners_.end()) break;
    objects.push_back(&owner->second.object);
    key = owner->second.controller;
  }
  return objects;
}

void KubernetesOwners::join(KubernetesPod& pod) {
  if (!pod.owner.name.empty()) pod.owner.top = top_of(nearest_owner(pod));
  const Owner* owner = owner_of(pod);
  if (owner != nullptr) pod.run_time.add(owner->run_time);
  add_admitted({pod.namespace_name, "Pod", pod.name}, pod.run_time);
  add_admitted({pod.namespace_name, pod.owner.kind, pod.owner.name}, pod.run_time);
  if (owner != nullptr) pass_on_queues(*owner, pod.membership);
}

void KubernetesOwners::add_made(const KubernetesObject& object, const OwnerKey& controller) {
  Owner owner{KubernetesKind::kPodMaker, object, controller, {}, {}, {}};
  const OwnerKey key{object.namespace_name, object.kind, object.name};
  if (owners_.emplace(key, owner).second) controlled_[controller].push_back(key);
}

const KubernetesObject* KubernetesOwners::find_object(const OwnerKey& key) const {
  const Owner* owner = find(key);
  return owner == nullptr ? nullptr : &owner->object;
}

std::vector<OwnerKey> KubernetesOwners::roots() const {
  std::vector<OwnerKey> all;
  for (const auto& [key, owner] : owners_) {
    if (find(owner.controller) == nullptr) all.push_back(key);
  }
  return all;
}

std::vector<OwnerKey> KubernetesOwners::controlled_by(const OwnerKey& key) const {
  const auto found = controlled_.find(key);
  return found == controlled_.end() ? std::vector<OwnerKey>() : found->second;
}

std::vector<OwnerKey> KubernetesOwners::makers_of(const KubernetesPod& pod) const {
  std::vector<OwnerKey> all;
  const Owner* owner = pod.owner.name.empty() ? nullptr : find(nearest_owner(pod));
  for (const MakerRow& row : maker_rows()) {
    if (owner != nullptr) break;
    const std::string_view name = row.name_label.empty() ? row.name_label : find_label(pod.labels, row.name_label);
    if (!name.empty()) owner = find({pod.namespace_name, row.kind, name});
  }
  for (int step = 0; owner != nullptr && step < 8; ++step) {  // owners in a circle end, too
    all.emplace_back(owner->object.namespace_name, owner->object.kind, owner->object.name);
    owner = find(owner->controller);
  }
  return all;
}

}  // namespace muster::kubernetes
