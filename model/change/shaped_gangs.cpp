#include <algorithm>
#include <string_view>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/change/gang_shape.h"
#include "model/change/parts.h"

namespace muster::change {
namespace {

constexpr std::string_view kGpuTaint = "nvidia.com/gpu";

void add_toleration(std::string_view key, Snapshot& snapshot, PodSpec& spec) {
  spec.tolerations.push_back({snapshot.text.store(key), {}, true, std::nullopt});
}

// With the largest binary suffix that leaves a whole number.
std::string bytes_text(Amount bytes) {
  constexpr std::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti"};
  constexpr Amount kStep = 1024;
  std::size_t suffix = 0;
  for (; bytes != 0 && bytes % kStep == 0 && suffix + 1 < std::size(kSuffixes); ++suffix) bytes /= kStep;
  return std::to_string(bytes) + std::string(kSuffixes[suffix]);
}

std::string gpu_text(const GpuRequest& gpu) {
  switch (gpu.kind) {
    case GpuRequestKind::kNone:
      return "";
    case GpuRequestKind::kWhole:
      return std::to_string(gpu.devices);
    case GpuRequestKind::kFraction:
      return amount_text(gpu.share, 1'000'000);
    case GpuRequestKind::kMemory:
      break;
  }
  const std::string memory = "gpu-memory=" + std::to_string(gpu.share) + "Mi";
  return gpu.devices == 1 ? memory : std::to_string(gpu.devices) + "," + memory;
}

std::string resource_text(const std::string& name, Amount amount) {
  if (name == "cpu") return name + "=" + amount_text(amount, 1'000);
  return name + "=" + (name == "memory" ? bytes_text(amount) : std::to_string(amount));
}

Failure no_room_for_names(std::string_view gang) {
  return InputError{ErrorCode::kDuplicateName, "$", "the name \"" + std::string(gang) + "\" is taken"};
}

// Whether a gang has one of the names of the new gangs, or a pod one of those of their pods.
bool is_taken(const Snapshot& snapshot, const AddGang& change) {
  const std::string prefix = change.gang + "+";
  const auto is_new = [&](std::string_view name) { return name == change.gang || name.starts_with(prefix); };
  for (const SnapshotGang& gang : snapshot.gangs) {
    if (is_new(gang.name)) return true;
  }
  for (const SnapshotPod& pod : snapshot.pods) {
    if (is_new(pod.name) || is_new(pod.gang)) return true;
  }
  return false;
}

}  // namespace

PodSpec spec_of(const PodShape& shape, Snapshot& snapshot) {
  PodSpec spec;
  for (const auto& [name, amount] : shape.resources) {
    if (amount > 0) spec.resources.push_back({resource_named(snapshot, name), amount});
  }
  const auto is_pods = [](const ResourceAmount& amount) { return amount.resource == kPods; };
  if (std::ranges::none_of(spec.resources, is_pods)) spec.resources.push_back({kPods, 1});
  std::ranges::sort(spec.resources, {}, &ResourceAmount::resource);
  spec.gpu = shape.gpu;
  for (const std::string& model : shape.gpu_models) spec.gpu_models.push_back(snapshot.text.store(model));
  std::ranges::sort(spec.gpu_models);
  for (const std::string& key : shape.tolerated) add_toleration(key, snapshot, spec);
  if (shape.gpu.kind != GpuRequestKind::kNone && std::ranges::find(shape.tolerated, kGpuTaint) == shape.tolerated.end())
    add_toleration(kGpuTaint, snapshot, spec);
  return spec;
}

GangShape reduced(GangShape shape, std::int32_t devices) {
  const std::int32_t whole = shape.pod.gpu.devices;
  MUSTER_REQUIRE(shape.pod.gpu.kind == GpuRequestKind::kWhole && devices <= whole);
  for (auto& [name, amount] : shape.pod.resources) {
    amount = static_cast<Amount>((Wide{amount} * devices + whole - 1) / whole);
  }
  shape.pod.gpu.devices = devices;
  return shape;
}

std::string text_of(const GangShape& shape) {
  const PodShape& pod = shape.pod;
  std::string text = gpu_text(pod.gpu);
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  for (const std::string& model : pod.gpu_models) add("model=" + model);
  for (const auto& [name, amount] : pod.resources) add(resource_text(name, amount));
  if (!shape.required_level.empty()) add("level=" + shape.required_level);
  for (const std::string& key : pod.tolerated) add("tolerate=" + key);
  return shape.pods == 1 ? text : std::to_string(shape.pods) + "x" + text;
}

std::string text_of(const NodeShape& shape) {
  std::string text = "gpu=" + std::to_string(shape.gpus) + (shape.gpu_model.empty() ? "" : ":" + shape.gpu_model);
  if (shape.gpu_memory_mib > 0) text += ",gpu-memory=" + std::to_string(shape.gpu_memory_mib) + "Mi";
  for (const auto& [name, amount] : shape.resources) text += "," + resource_text(name, amount);
  for (const auto& [key, value] : shape.labels) text += ",label=" + key + ":" + value;
  return text;
}

Failure apply_one(const AddGang& change, Snapshot& snapshot) {
  if (change.count < 1 || change.shape.pods < 1)
    return InputError{ErrorCode::kInvalidValue, "$", "the number of gangs or pods to add is below 1"};
  if (is_taken(snapshot, change)) return no_room_for_names(change.gang);
  TopologyRequest topology;
  if (Failure failure = require_level(change.shape.required_level, snapshot, topology)) return failure;
  const auto has_name = [&](const SnapshotQueue& queue) { return queue.name == change.queue; };
  const bool has_queue =
      snapshot.queues.empty() ? change.queue == "default" : std::ranges::any_of(snapshot.queues, has_name);
  if (!has_queue) return unknown("queue", change.queue);

  SnapshotGang gang;
  gang.terms.queue = snapshot.text.store(change.queue);
  gang.terms.priority = change.priority;
  gang.terms.preemptible = change.preemptible;
  gang.terms.created = snapshot.time;
  gang.min_member = change.shape.pods;
  gang.topology = topology;
  SnapshotPod pod;
  pod.namespace_name = "default";
  pod.spec = snapshot.pod_specs.push_back(spec_of(change.shape.pod, snapshot));
  for (std::int64_t copy = 1; copy <= change.count; ++copy) {
    gang.name = snapshot.text.store(change.count == 1 ? change.gang : change.gang + "+" + std::to_string(copy));
    snapshot.gangs.push_back(gang);
    pod.gang = gang.name;
    for (std::int32_t number = 1; number <= change.shape.pods; ++number) {
      pod.name = snapshot.text.store(std::string(gang.name) + "+" + std::to_string(number));
      snapshot.pods.push_back(pod);
    }
  }
  return {};
}

}  // namespace muster::change
