#include "io/export/objects.h"

#include <algorithm>

#include "io/kubernetes/object/object.h"
#include "io/muster_v1/named_plan.h"
#include "model/base/require.h"

namespace muster::exporting {

namespace {

// The object, with its metadata begun.
void begin_object(json::JsonWriter& writer, std::string_view api_version, std::string_view kind,
                  const ExportedPod& pod) {
  writer.object().member("apiVersion", api_version).member("kind", kind);
  writer.key("metadata").object().member("namespace", pod.namespace_name).member("name", pod.name);
  if (!pod.uid.empty()) writer.member("uid", pod.uid);
}

// Ends the metadata, and the object.
void end_binding(json::JsonWriter& writer, std::string_view node) {
  writer.end().key("target").object();
  writer.member("apiVersion", "v1").member("kind", "Node").member("name", node).end().end();
}

void write_devices(json::JsonWriter& writer, const std::vector<muster_v1::NamedPlan::Device>& devices) {
  writer.key("gpus").array();
  for (const muster_v1::NamedPlan::Device& device : devices)
    writer.object().member("index", device.index).key("share").raw(device.share).end();
  writer.end();
}

// The share of one device that Volcano's virtual GPUs count: MiB, and percent of its cores (0: not limited).
struct VirtualGpu {
  std::int64_t memory_mib = 0, cores = 0;
};

VirtualGpu virtual_gpu(const GpuRequest& request, std::int64_t device_memory_mib) {
  constexpr std::int64_t kMillionthsOfAPercent = muster_v1::kWholeDevice / 100;
  switch (request.kind) {
    case GpuRequestKind::kMemory:
      return {request.share, 0};
    case GpuRequestKind::kFraction:
      return {(device_memory_mib * request.share + muster_v1::kWholeDevice - 1) / muster_v1::kWholeDevice,
              (request.share + kMillionthsOfAPercent - 1) / kMillionthsOfAPercent};
    case GpuRequestKind::kWhole:
    case GpuRequestKind::kNone:
      break;
  }
  return {device_memory_mib, 100};
}

// "UUID,NVIDIA,MIB,PERCENT:" for each device: what Volcano writes for a pod with one container that asks for devices.
std::string virtual_gpu_ids(const muster_v1::NamedPlan::Placement& placement, const GpuRequest& request,
                            const SnapshotNode& node) {
  std::string text;
  const VirtualGpu part = virtual_gpu(request, node.gpu_memory_mib);
  for (const muster_v1::NamedPlan::Device& device : placement.devices) {
    text.append(node.gpu_ids[static_cast<std::size_t>(device.index)]).append(",NVIDIA,");
    text.append(std::to_string(part.memory_mib)).append(",").append(std::to_string(part.cores)).append(":");
  }
  return text;
}

void write_virtual_gpu(json::JsonWriter& writer, std::string_view ids, std::string_view node, Nanoseconds time) {
  const std::string seconds = std::to_string(time / kNanosecondsPerSecond);
  writer.member("volcano.sh/bind-phase", "allocating").member("volcano.sh/bind-time", seconds);
  writer.member("volcano.sh/devices-to-allocate", ids).member("volcano.sh/vgpu-ids-new", ids);
  writer.member("volcano.sh/vgpu-node", node).member("volcano.sh/vgpu-time", seconds);
}

void write_device_indices(json::JsonWriter& writer, const muster_v1::NamedPlan::Placement& placement,
                          Nanoseconds time) {
  std::string indices;
  for (const muster_v1::NamedPlan::Device& device : placement.devices) {
    indices.append(indices.empty() ? "" : ",").append(std::to_string(device.index));
  }
  writer.member("volcano.sh/gpu-index", indices).member("volcano.sh/predicate-time", std::to_string(time));
}

std::string_view delta_type(const muster_v1::NamedPlan::Placement* placement,
                            const muster_v1::NamedPlan::Eviction* eviction) {
  if (eviction == nullptr) return "PLACE";
  return placement == nullptr ? "PREEMPT" : "MIGRATE";
}

}  // namespace

void write_binding(json::JsonWriter& writer, const ExportedPod& pod, std::string_view node) {
  begin_object(writer, "v1", "Binding", pod);
  end_binding(writer, node);
}

void write_volcano_binding(json::JsonWriter& writer, const ExportedPod& pod,
                           const muster_v1::NamedPlan::Placement& placement, const ExportCluster& cluster) {
  const SnapshotNode* node = cluster.node(placement.node);
  const PodSpec* spec = cluster.spec(placement.pod);
  begin_object(writer, "v1", "Binding", pod);
  if (node != nullptr && spec != nullptr && !placement.devices.empty() && cluster.names_devices(placement)) {
    writer.key("annotations").object();
    if (cluster.is_kubernetes()) {
      write_virtual_gpu(writer, cluster.card_ids(placement), placement.node, cluster.time());
    } else if (node->gpu_ids.empty()) {
      write_device_indices(writer, placement, cluster.time());
    } else {
      write_virtual_gpu(writer, virtual_gpu_ids(placement, spec->gpu, *node), placement.node, cluster.time());
    }
    writer.end();
  }
  end_binding(writer, placement.node);
}

void write_eviction(json::JsonWriter& writer, const ExportedPod& pod) {
  begin_object(writer, "policy/v1", "Eviction", {pod.namespace_name, pod.name, {}});
  writer.end();
  if (!pod.uid.empty())
    writer.key("deleteOptions").object().key("preconditions").object().member("uid", pod.uid).end().end();
  writer.end();
}

void write_patch(json::JsonWriter& writer, const ExportedPod& pod, const PinnedNode& node,
                 const std::vector<std::string>& gates) {
  begin_object(writer, "v1", "Pod", pod);
  writer.key("annotations").object().member(kubernetes::kNodeAnnotation, node.name).end().end();
  writer.key("spec").object();
  writer.key("nodeSelector").object().member("kubernetes.io/hostname", node.hostname).end().key("schedulingGates");
  if (gates.empty()) {
    writer.raw("null");
  } else {
    writer.array();
    for (const std::string& gate : gates) writer.object().member("$patch", "delete").member("name", gate).end();
    writer.end();
  }
  writer.end().end();
}

KaiGroups::KaiGroups(const muster_v1::NamedPlan& plan, const ExportCluster& cluster) {
  for (const muster_v1::NamedPlan::Placement& placement : plan.placements) {
    for (const muster_v1::NamedPlan::Device& device : placement.devices) {
      std::string& name = names_[{placement.node, device.index}];
      if (!name.empty()) continue;
      name = cluster.device_group(placement.node, device.index);
      if (name.empty()) name.append(cluster.uid(placement.pod)).append("-").append(std::to_string(device.index));
    }
  }
}

std::string_view KaiGroups::name(std::string_view node, std::int64_t device) const {
  const auto found = names_.find({node, device});
  MUSTER_REQUIRE(found != names_.end());
  return found->second;
}

void write_bind_request(json::JsonWriter& writer, const ExportedPod& pod,
                        const muster_v1::NamedPlan::Placement& placement, const ExportCluster& cluster,
                        const KaiGroups& groups) {
  MUSTER_REQUIRE(!pod.uid.empty());
  const PodSpec* spec = cluster.spec(placement.pod);
  const bool shares =
      spec != nullptr && (spec->gpu.kind == GpuRequestKind::kFraction || spec->gpu.kind == GpuRequestKind::kMemory);
  const bool slices = cluster.asks_for(placement.pod, "nvidia.com/mig-");
  begin_object(writer, "scheduling.run.ai/v1alpha2", "BindRequest", {pod.namespace_name, pod.name, {}});
  writer.key("labels").object().member("selected-node", placement.node).end();
  writer.key("ownerReferences").array().object().member("apiVersion", "v1").member("kind", "Pod");
  writer.member("name", pod.name).member("uid", pod.uid).end().end().end();
  writer.key("spec").object().member("podName", pod.name).member("selectedNode", placement.node);
  writer.member("receivedResourceType", shares ? "Fraction" : slices ? "MigInstance" : "Regular");
  writer.key("receivedGPU").object().member("count", placement.devices.size());
  writer.member("portion", placement.devices.empty() ? std::string_view("0") : placement.devices.front().share).end();
  if (shares) {
    writer.key("selectedGPUGroups").array();
    for (const muster_v1::NamedPlan::Device& device : placement.devices)
      writer.value(groups.name(placement.node, device.index));
    writer.end();
  }
  writer.end().end();
}

void write_delta(json::JsonWriter& writer, std::string_view plan_id, const muster_v1::NamedPlan::Placement* placement,
                 const muster_v1::NamedPlan::Eviction* eviction) {
  writer.object();
  if (!plan_id.empty()) writer.member("plan", plan_id);
  writer.member("type", delta_type(placement, eviction));
  writer.member("pod", placement == nullptr ? eviction->pod : placement->pod);
  if (placement == nullptr) {
    writer.member("node", eviction->node);
  } else {
    if (eviction != nullptr) writer.member("from", eviction->node);
    writer.member("node", placement->node);
    if (!placement->devices.empty()) write_devices(writer, placement->devices);
    if (!placement->after.empty()) {
      writer.key("after").array();
      for (const std::string& pod : placement->after) writer.value(pod);
      writer.end();
    }
    if (placement->step > 0) writer.member("step", placement->step);
  }
  if (eviction != nullptr) {
    writer.member("reason", eviction_reason_name(eviction->reason));
    if (!eviction->for_gang.empty()) writer.member("for", eviction->for_gang);
  }
  writer.end();
}

}  // namespace muster::exporting
