#include "io/export/objects.h"

#include <algorithm>

#include "io/kubernetes/object/object.h"
#include "io/muster_v1/named_plan.h"
#include "model/base/require.h"

namespace muster::exporting {

namespace {

void write_metadata(json::JsonWriter& writer, const ExportedPod& pod) {
  writer.raw(R"("metadata":{"namespace":)").string(pod.namespace_name).raw(R"(,"name":)").string(pod.name);
  if (!pod.uid.empty()) writer.raw(R"(,"uid":)").string(pod.uid);
}

void begin_binding(json::JsonWriter& writer, const ExportedPod& pod) {
  writer.raw(R"({"apiVersion":"v1","kind":"Binding",)");
  write_metadata(writer, pod);
}

void end_binding(json::JsonWriter& writer, std::string_view node) {
  writer.raw(R"(},"target":{"apiVersion":"v1","kind":"Node","name":)").string(node).raw("}}");
}

void write_devices(json::JsonWriter& writer, const std::vector<muster_v1::NamedPlan::Device>& devices) {
  bool first = true;
  writer.raw(R"(,"gpus":[)");
  for (const muster_v1::NamedPlan::Device& device : devices) {
    writer.separate(first).raw(R"({"index":)").integer(device.index).raw(R"(,"share":)").raw(device.share).raw("}");
  }
  writer.raw("]");
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
  writer.raw(R"("volcano.sh/bind-phase":"allocating","volcano.sh/bind-time":)").string(seconds);
  writer.raw(R"(,"volcano.sh/devices-to-allocate":)").string(ids).raw(R"(,"volcano.sh/vgpu-ids-new":)").string(ids);
  writer.raw(R"(,"volcano.sh/vgpu-node":)").string(node).raw(R"(,"volcano.sh/vgpu-time":)").string(seconds);
}

void write_device_indices(json::JsonWriter& writer, const muster_v1::NamedPlan::Placement& placement,
                          Nanoseconds time) {
  std::string indices;
  for (const muster_v1::NamedPlan::Device& device : placement.devices) {
    indices.append(indices.empty() ? "" : ",").append(std::to_string(device.index));
  }
  writer.raw(R"("volcano.sh/gpu-index":)").string(indices);
  writer.raw(R"(,"volcano.sh/predicate-time":)").string(std::to_string(time));
}

std::string_view delta_type(const muster_v1::NamedPlan::Placement* placement,
                            const muster_v1::NamedPlan::Eviction* eviction) {
  if (eviction == nullptr) return "PLACE";
  return placement == nullptr ? "PREEMPT" : "MIGRATE";
}

}  // namespace

void write_binding(json::JsonWriter& writer, const ExportedPod& pod, std::string_view node) {
  begin_binding(writer, pod);
  end_binding(writer, node);
}

void write_volcano_binding(json::JsonWriter& writer, const ExportedPod& pod,
                           const muster_v1::NamedPlan::Placement& placement, const ExportCluster& cluster) {
  const SnapshotNode* node = cluster.node(placement.node);
  const PodSpec* spec = cluster.spec(placement.pod);
  begin_binding(writer, pod);
  if (node != nullptr && spec != nullptr && !placement.devices.empty() && cluster.names_devices(placement)) {
    writer.raw(R"(,"annotations":{)");
    if (cluster.is_kubernetes()) {
      write_virtual_gpu(writer, cluster.card_ids(placement), placement.node, cluster.time());
    } else if (node->gpu_ids.empty()) {
      write_device_indices(writer, placement, cluster.time());
    } else {
      write_virtual_gpu(writer, virtual_gpu_ids(placement, spec->gpu, *node), placement.node, cluster.time());
    }
    writer.raw("}");
  }
  end_binding(writer, placement.node);
}

void write_eviction(json::JsonWriter& writer, const ExportedPod& pod) {
  writer.raw(R"({"apiVersion":"policy/v1","kind":"Eviction",)");
  write_metadata(writer, {pod.namespace_name, pod.name, {}});
  writer.raw("}");
  if (!pod.uid.empty()) {
    writer.raw(R"(,"deleteOptions":{"preconditions":{"uid":)").string(pod.uid).raw("}}");
  }
  writer.raw("}");
}

void write_patch(json::JsonWriter& writer, const ExportedPod& pod, const PinnedNode& node,
                 const std::vector<std::string>& gates) {
  writer.raw(R"({"apiVersion":"v1","kind":"Pod",)");
  write_metadata(writer, pod);
  writer.raw(R"(,"annotations":{)").string(kubernetes::kNodeAnnotation).raw(":").string(node.name).raw("}");
  writer.raw(R"(},"spec":{"nodeSelector":{"kubernetes.io/hostname":)").string(node.hostname);
  writer.raw(R"(},"schedulingGates":)");
  if (gates.empty()) {
    writer.raw("null");
  } else {
    bool first = true;
    writer.raw("[");
    for (const std::string& gate : gates) {
      writer.separate(first).raw(R"({"$patch":"delete","name":)").string(gate).raw("}");
    }
    writer.raw("]");
  }
  writer.raw("}}");
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
  writer.raw(R"({"apiVersion":"scheduling.run.ai/v1alpha2","kind":"BindRequest","metadata":{"namespace":)");
  writer.string(pod.namespace_name).raw(R"(,"name":)").string(pod.name);
  writer.raw(R"(,"labels":{"selected-node":)").string(placement.node);
  writer.raw(R"(},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":)").string(pod.name);
  writer.raw(R"(,"uid":)").string(pod.uid).raw(R"(}]},"spec":{"podName":)").string(pod.name);
  writer.raw(R"(,"selectedNode":)").string(placement.node).raw(R"(,"receivedResourceType":)");
  writer.string(shares ? "Fraction" : slices ? "MigInstance" : "Regular");
  writer.raw(R"(,"receivedGPU":{"count":)").integer(std::ssize(placement.devices)).raw(R"(,"portion":)");
  writer.string(placement.devices.empty() ? std::string_view("0") : placement.devices.front().share).raw("}");
  if (shares) {
    bool first = true;
    writer.raw(R"(,"selectedGPUGroups":[)");
    for (const muster_v1::NamedPlan::Device& device : placement.devices) {
      writer.separate(first).string(groups.name(placement.node, device.index));
    }
    writer.raw("]");
  }
  writer.raw("}}");
}

void write_delta(json::JsonWriter& writer, std::string_view plan_id, const muster_v1::NamedPlan::Placement* placement,
                 const muster_v1::NamedPlan::Eviction* eviction) {
  writer.raw("{");
  if (!plan_id.empty()) writer.raw(R"("plan":)").string(plan_id).raw(",");
  writer.raw(R"("type":)").string(delta_type(placement, eviction)).raw(R"(,"pod":)");
  writer.string(placement == nullptr ? eviction->pod : placement->pod);
  if (placement == nullptr) {
    writer.raw(R"(,"node":)").string(eviction->node);
  } else {
    if (eviction != nullptr) writer.raw(R"(,"from":)").string(eviction->node);
    writer.raw(R"(,"node":)").string(placement->node);
    if (!placement->devices.empty()) write_devices(writer, placement->devices);
    bool first = true;
    if (!placement->after.empty()) {
      writer.raw(R"(,"after":[)");
      for (const std::string& pod : placement->after) writer.separate(first).string(pod);
      writer.raw("]");
    }
    if (placement->step > 0) writer.raw(R"(,"step":)").integer(placement->step);
  }
  if (eviction != nullptr) {
    writer.raw(R"(,"reason":)").string(eviction_reason_name(eviction->reason));
    if (!eviction->for_gang.empty()) writer.raw(R"(,"for":)").string(eviction->for_gang);
  }
  writer.raw("}");
}

}  // namespace muster::exporting
