#include "io/export_cluster.h"

#include <algorithm>

#include "io/json_document.h"
#include "io/kubernetes_items.h"
#include "io/kubernetes_pod.h"

namespace muster {

namespace {

// A line has been read before, with limits of its own.
constexpr JsonLimits kNoLimits = {std::numeric_limits<std::size_t>::max(), 64};

template <class Value>
std::unordered_map<std::string_view, const Value*> by_name(const std::vector<Value>& values) {
  std::unordered_map<std::string_view, const Value*> found;
  for (const Value& value : values) found.emplace(value.name, &value);
  return found;
}

// The groups that pods name for the devices that they share, by the pod's full name.
bool read_groups(KubernetesReading& in, const KubernetesItems& items,
                 std::unordered_map<std::string, std::vector<std::string_view>>& out) {
  for (const KubernetesObject& object : items.of(KubernetesKind::kPod)) {
    KubernetesPod pod;
    if (!read_pod(in, object, pod)) return false;
    if (!pod.gpu_groups.empty()) out[pod.full_name()] = pod.gpu_groups;
  }
  for (const KubernetesObject& object : items.of(KubernetesKind::kBindRequest)) {
    KubernetesBinding binding;
    if (!read_bind_request(in, object, binding)) return false;
    if (binding.gpu_groups.empty()) continue;
    out.try_emplace(std::string(binding.namespace_name).append("/").append(binding.pod), binding.gpu_groups);
  }
  return true;
}

}  // namespace

Result<ExportCluster> ExportCluster::read(std::string_view line, const Problem& problem) {
  ExportCluster cluster;
  cluster.snapshot_ = problem.snapshot;
  cluster.pods_ = by_name(problem.snapshot->pods);
  cluster.nodes_ = by_name(problem.snapshot->nodes);
  InputError error;
  if (!cluster.read_objects(line, problem, error)) return error;
  return cluster;
}

bool ExportCluster::read_objects(std::string_view line, const Problem& problem, InputError& error) {
  JsonDocument document;
  if (auto broken = document.parse(line, kNoLimits)) {
    error = *std::move(broken);
    return false;
  }
  is_kubernetes_ = holds_kubernetes_objects(document.root());
  if (!is_kubernetes_) return true;
  KubernetesReading in(document);
  KubernetesItems items;
  std::unordered_map<std::string, std::vector<std::string_view>> groups;
  bool is_read = collect_items(in, document.root(), items) && read_groups(in, items, groups);
  for (const KubernetesObject& object : items.of(KubernetesKind::kPod)) {
    JsonValue value;
    std::string_view uid;
    is_read = is_read && in.take(object.metadata, "uid", value) && in.text(value, uid);
    uids_.emplace(std::string(object.namespace_name).append("/").append(object.name), uid);
  }
  if (!is_read) {
    error = in.error;
    return false;
  }
  // A group's devices are numbered in the order of the groups' names, and so are the devices of one pod.
  for (const PodIndex index : problem.pods.indices()) {
    const SnapshotPod& pod = snapshot_->pods[index.value()];
    const auto found = groups.find(std::string(pod.name));
    const auto devices = problem.devices_of(index);
    if (found == groups.end() || found->second.size() != devices.size()) continue;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      device_groups_[{std::string(pod.node), devices[i]}] = found->second[i];
    }
  }
  return true;
}

std::string_view ExportCluster::uid(std::string_view pod) const {
  const auto found = uids_.find(std::string(pod));
  return found == uids_.end() ? std::string_view() : found->second;
}

std::string_view ExportCluster::pod_namespace(std::string_view pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() ? std::string_view() : found->second->namespace_name;
}

const PodSpec* ExportCluster::spec(std::string_view pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() ? nullptr : &snapshot_->pod_specs[found->second->spec];
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

std::string_view ExportCluster::device_group(std::string_view node, std::int64_t device) const {
  const auto found = device_groups_.find({std::string(node), device});
  return found == device_groups_.end() ? std::string_view() : found->second;
}

}  // namespace muster
