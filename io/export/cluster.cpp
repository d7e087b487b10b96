#include "io/export/cluster.h"

#include <algorithm>
#include <optional>

#include "io/json/json_document.h"
#include "io/kubernetes/object/items.h"
#include "io/kubernetes/pod/bind_request.h"
#include "io/kubernetes/pod/node_cards.h"
#include "io/kubernetes/pod/pod.h"
#include "model/base/require.h"

namespace muster::exporting {

namespace {

// The line has been read before, under its own limits.
constexpr json::JsonLimits kNoLimits = {std::numeric_limits<std::size_t>::max(), 64};

template <class Values>
auto by_name(const Values& values) {
  std::unordered_map<std::string_view, const typename Values::value_type*> found;
  for (const auto& value : values) found.emplace(value.name, &value);
  return found;
}

std::string full_name(std::string_view namespace_name, std::string_view name) {
  return std::string(namespace_name).append("/").append(name);
}

// The names without namespaces of the pods of a plan; of no plan, all pods count.
using WantedNames = std::optional<std::unordered_set<std::string_view>>;

WantedNames pods_of(const muster_v1::NamedPlan& plan) {
  WantedNames names(std::in_place);
  const auto add = [&](std::string_view full) { names->insert(full.substr(full.find('/') + 1)); };
  for (const auto& placement : plan.placements) add(placement.pod);
  for (const auto& eviction : plan.evictions) add(eviction.pod);
  return names;
}

void add_pod(const kubernetes::KubernetesPod& pod, std::string_view uid, ObjectIdentities& out) {
  if (!uid.empty()) out.uids.emplace(pod.full_name(), uid);
  if (!pod.gpus.groups.empty()) out.groups[pod.full_name()].assign(pod.gpus.groups.begin(), pod.gpus.groups.end());
  const kubernetes::CardShare& share = pod.gpus.share;
  if (share.dialect != nullptr && share.dialect->nodes.list == kubernetes::CardList::kVolcano)
    out.card_requests[pod.full_name()] = {share.memory, share.percent, share.cores};
}

bool read_cards(kubernetes::KubernetesReading& in, const kubernetes::KubernetesObject& object, ObjectIdentities& out) {
  json::JsonValue allocatable;
  kubernetes::NodeCards found;
  if (!in.take(object.status, "allocatable", allocatable) ||
      !kubernetes::read_node_cards(in, object, allocatable, {}, found))
    return false;
  if (found.dialect == nullptr || found.dialect->nodes.list != kubernetes::CardList::kVolcano) return true;
  std::vector<ObjectIdentities::Card>& cards = out.cards[std::string(object.name)];
  for (const kubernetes::NodeCard& card : found.cards) {
    if (card.is_usable) cards.push_back({card.id, card.memory});
  }
  return true;
}

bool read_pod_identity(kubernetes::KubernetesReading& in, const kubernetes::KubernetesObject& object,
                       const WantedNames& wanted, ObjectIdentities& out) {
  const bool may_have_groups = object.as_pod == nullptr || !object.as_pod->gpus.groups.empty();
  if (!may_have_groups && wanted && !wanted->contains(object.name)) return true;
  json::JsonValue value;
  std::string_view uid;
  if (!in.take(object.metadata, "uid", value) || !in.text(value, uid)) return false;
  if (object.as_pod != nullptr) {
    add_pod(*object.as_pod, uid, out);
    return true;
  }
  kubernetes::KubernetesPod pod;
  if (!kubernetes::read_pod(in, object, pod)) return false;
  add_pod(pod, uid, out);
  return true;
}

bool read_binding_groups(kubernetes::KubernetesReading& in, const kubernetes::KubernetesObject& object,
                         ObjectIdentities& out) {
  kubernetes::KubernetesBinding binding;
  if (!kubernetes::read_bind_request(in, object, binding)) return false;
  if (binding.gpu_groups.empty()) return true;
  out.groups.try_emplace(full_name(binding.namespace_name, binding.pod), binding.gpu_groups.begin(),
                         binding.gpu_groups.end());
  return true;
}

// An object that cannot be read is in no plan, and has no identity here.
void read_pod_identities(kubernetes::KubernetesReading& in, const kubernetes::KubernetesItems& items,
                         const WantedNames& wanted, ObjectIdentities& out) {
  for (const kubernetes::KubernetesObject& object : items.of(kubernetes::KubernetesKind::kPod)) {
    if (!read_pod_identity(in, object, wanted, out)) in.error = {};
  }
  for (const kubernetes::KubernetesObject& object : items.of(kubernetes::KubernetesKind::kBindRequest)) {
    if (!read_binding_groups(in, object, out)) in.error = {};
  }
  if (out.card_requests.empty()) return;
  for (const kubernetes::KubernetesObject& object : items.of(kubernetes::KubernetesKind::kNode)) {
    if (!read_cards(in, object, out)) in.error = {};
  }
}

}  // namespace

Result<ObjectIdentities> read_identities(std::string_view line) {
  json::JsonDocument document;
  if (auto broken = document.parse(line, kNoLimits)) return *std::move(broken);
  ObjectIdentities found;
  found.is_kubernetes = kubernetes::holds_kubernetes_objects(document.root());
  if (!found.is_kubernetes) return found;
  kubernetes::KubernetesReading in;
  in.strict = false;
  kubernetes::KubernetesItems items;
  if (!kubernetes::collect_items(in, document.root(), items)) return in.error;
  read_pod_identities(in, items, std::nullopt, found);
  return found;
}

Result<ObjectIdentities> identities_of(const kubernetes::KeptObjects& objects, const muster_v1::NamedPlan& plan) {
  kubernetes::KubernetesReading in;
  in.strict = false;
  kubernetes::KubernetesItems items;
  if (!kubernetes::collect_kept(in, objects, items)) return in.error;
  ObjectIdentities found;
  found.is_kubernetes = true;
  read_pod_identities(in, items, pods_of(plan), found);
  return found;
}

ExportCluster::ExportCluster(ObjectIdentities identities, const Problem& problem)
    : snapshot_(problem.snapshot),
      identities_(std::move(identities)),
      pods_(by_name(snapshot_->pods)),
      nodes_(by_name(snapshot_->nodes)) {
  if (identities_.groups.empty()) return;
  // Devices of a node are numbered in the order of the groups' names, and so are those of one pod.
  for (const PodIndex index : problem.pods.indices()) {
    const SnapshotPod& pod = snapshot_->pods[index.value()];
    const auto found = identities_.groups.find(std::string(pod.name));
    const auto devices = problem.devices_of(index);
    if (found == identities_.groups.end() || found->second.size() != devices.size()) continue;
    for (std::size_t i = 0; i < devices.size(); ++i) device_groups_[{pod.node, devices[i]}] = found->second[i];
  }
}

std::string_view ExportCluster::uid(std::string_view pod) const {
  const auto found = identities_.uids.find(std::string(pod));
  return found == identities_.uids.end() ? std::string_view() : found->second;
}

std::string_view ExportCluster::pod_namespace(std::string_view pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() ? std::string_view() : found->second->namespace_name;
}

std::string_view ExportCluster::gang(std::string_view pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() || found->second->gang.empty() ? pod : found->second->gang;
}

bool ExportCluster::has_unbound_volumes(std::string_view pod) const {
  const auto found = pods_.find(pod);
  return found != pods_.end() && found->second->scheduler.binds_volumes;
}

std::string_view ExportCluster::scheduler(std::string_view pod) const {
  if (snapshot_ == nullptr || !snapshot_->policy.schedulers.empty()) return {};
  const auto found = pods_.find(pod);
  return found == pods_.end() ? std::string_view() : scheduler_of(*found->second);
}

const PodSpec* ExportCluster::spec(std::string_view pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() ? nullptr : &snapshot_->pod_specs[found->second->spec];
}

std::unordered_set<std::string_view> ExportCluster::nodes_of_others() const {
  std::unordered_set<std::string_view> nodes;
  if (snapshot_ == nullptr || snapshot_->policy.schedulers.empty()) return nodes;
  const std::vector<std::string_view>& planned = snapshot_->policy.schedulers;
  for (const SnapshotPod& pod : snapshot_->pods) {
    const bool is_planned = std::ranges::find(planned, scheduler_of(pod)) != planned.end();
    const std::string_view owner = pod.notes.owner;
    if (pod.node.empty() || is_planned || owner.starts_with("DaemonSet/") || owner.starts_with("Node/")) continue;
    nodes.insert(pod.node);
  }
  return nodes;
}

bool ExportCluster::asks_for(std::string_view pod, std::string_view resource_prefix) const {
  const PodSpec* found = spec(pod);
  return found != nullptr && std::ranges::any_of(found->resources, [&](const ResourceAmount& asked) {
           return snapshot_->resource_names[asked.resource].starts_with(resource_prefix);
         });
}

const SnapshotNode* ExportCluster::node(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : found->second;
}

std::string_view ExportCluster::hostname(std::string_view name) const {
  constexpr std::string_view kHostname = "kubernetes.io/hostname";
  const SnapshotNode* found = node(name);
  if (found == nullptr) return name;
  const auto label = std::ranges::find(found->labels, kHostname, &Labels::value_type::first);
  return label == found->labels.end() ? name : label->second;
}

bool ExportCluster::names_devices(const muster_v1::NamedPlan::Placement& placement) const {
  if (!is_kubernetes()) return true;
  const auto cards = identities_.cards.find(placement.node);
  if (cards == identities_.cards.end() || !identities_.card_requests.contains(placement.pod)) return false;
  return std::ranges::all_of(placement.devices, [&](const auto& device) {
    return device.index >= 0 && device.index < std::ssize(cards->second);
  });
}

std::string ExportCluster::card_ids(const muster_v1::NamedPlan::Placement& placement) const {
  MUSTER_REQUIRE(is_kubernetes() && names_devices(placement));
  const std::vector<ObjectIdentities::Card>& cards = identities_.cards.at(placement.node);
  const ObjectIdentities::CardRequest& asked = identities_.card_requests.at(placement.pod);
  std::string text;
  for (const muster_v1::NamedPlan::Device& device : placement.devices) {
    const ObjectIdentities::Card& card = cards[static_cast<std::size_t>(device.index)];
    const std::int64_t percent = asked.percent > 0 ? std::min<std::int64_t>(asked.percent, 100) : 100;
    const std::int64_t memory = asked.memory_mib > 0 ? asked.memory_mib : card.memory_mib * percent / 100;
    text.append(card.id).append(",NVIDIA,").append(std::to_string(memory)).append(",");
    text.append(std::to_string(asked.cores)).append(":");
  }
  return text;
}

std::string_view ExportCluster::device_group(std::string_view node, std::int64_t device) const {
  const auto found = device_groups_.find({node, device});
  return found == device_groups_.end() ? std::string_view() : found->second;
}

}  // namespace muster::exporting
