#include "io/kubernetes/node.h"

#include <algorithm>

#include "io/kubernetes/object/attachments.h"
#include "io/snapshot_writer/records.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kGpuResource = "nvidia.com/gpu";
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;  // of the label gpu.memory: MiB below, bytes from here on

struct Devices {
  std::int64_t count = 0;
  std::int64_t memory = 0;  // as the label has it; 0: unknown
  std::string_view model;
};

// For a node of Volcano's virtual GPUs, which has no nvidia.com/gpu: `uuid,shares,MiB,model,healthy,...:` for each
// device.
bool read_virtual_devices(KubernetesReading& in, const KubernetesObject& object, json::JsonValue allocatable,
                          std::int64_t labelled, Devices& out, bool& has_any) {
  json::JsonValue number, annotations, value;
  std::string_view registered;
  if (!in.take(allocatable, "volcano.sh/vgpu-number", number) || !number) return in.error.code == ErrorCode::kNone;
  if (!in.take(object.metadata, "annotations", annotations) ||
      !in.take(annotations, "volcano.sh/node-vgpu-register", value) || !in.text(value, registered)) {
    return false;
  }
  has_any = true;
  out.count = registered.empty() ? labelled : 0;
  while (!registered.empty()) {
    const std::size_t end = std::min(registered.find(':'), registered.size());
    std::string_view device = registered.substr(0, end);
    registered.remove_prefix(std::min(end + 1, registered.size()));
    std::array<std::string_view, 5> parts;
    for (std::string_view& part : parts) {
      const std::size_t comma = std::min(device.find(','), device.size());
      part = device.substr(0, comma);
      device.remove_prefix(std::min(comma + 1, device.size()));
    }
    if (parts[4] == "true") ++out.count;
  }
  return true;
}

// Time-slicing multiplies what a node can allocate, not the devices that it has.
bool read_devices(KubernetesReading& in, const KubernetesObject& object, json::JsonValue allocatable,
                  json::JsonValue labels, Devices& out) {
  static constexpr std::array<std::string_view, 4> kLabels = {"nvidia.com/gpu.count", "nvidia.com/gpu.memory",
                                                              "nvidia.com/gpu.product", "nvidia.com/gpu.replicas"};
  std::array<json::JsonValue, 4> found;
  json::JsonValue count;
  if (!in.take(labels, kLabels, found) || !in.take(allocatable, kGpuResource, count)) return false;
  std::int64_t labelled = 0, replicas = 1;
  bool has_virtual = false;
  if (count && !in.read_amount(count, {QuantityUnit::kOne, Rounding::kRefuse}, out.count)) return false;
  if (found[0] && !in.digits(found[0], labelled)) return false;
  if (found[1] && !in.digits(found[1], out.memory)) return false;
  if (!in.text(found[2], out.model)) return false;
  if (found[3] && !in.digits(found[3], replicas)) return false;
  if (!count && !read_virtual_devices(in, object, allocatable, labelled, out, has_virtual)) return false;
  if (has_virtual) return true;
  if (replicas > 1) in.remarks.add("time-slicing of GPUs is ignored: each device counts once", object);
  if (found[0]) {
    out.count = std::min(out.count, labelled);
  } else if (replicas > 1) {
    out.count /= replicas;
  }
  return true;
}

bool write_resources(KubernetesReading& in, json::JsonWriter& writer, json::JsonValue allocatable,
                     std::string_view node) {
  writer.raw(R"(,"resources":{)");
  bool first = true;
  if (allocatable) {
    for (const json::JsonMember member : allocatable.members()) {
      if (member.key == kGpuResource || member.value.is(json::JsonKind::kNull)) continue;
      if (!in.expect_text_or_number(member.value, "a quantity")) return false;
      writer.separate(first).string(member.key).raw(":");
      write_json(writer, in.document, member.value);
    }
  }
  write_attach_limits(writer, in.attach_limits, node, first);
  writer.raw("}");
  return true;
}

bool write_taints(KubernetesReading& in, json::JsonWriter& writer, json::JsonValue taints) {
  static constexpr std::array<std::string_view, 3> kKeys = {"effect", "key", "value"};
  bool has_any = false, first = true;
  if (!in.has_elements(taints, has_any)) return false;
  if (!has_any) return true;
  writer.raw(R"(,"taints":[)");
  for (const json::JsonValue taint : taints.elements()) {
    std::array<json::JsonValue, 3> found;
    std::string_view effect, key, value;
    if (!in.expect(taint, json::JsonKind::kObject) || !in.take(taint, kKeys, found)) return false;
    if (!in.text(found[0], effect) || !in.text(found[1], key) || !in.text(found[2], value)) return false;
    writer.separate(first).raw(R"({"key":)").string(key);
    if (!value.empty()) writer.raw(R"(,"value":)").string(value);
    writer.raw(R"(,"effect":)").string(effect).raw("}");
  }
  writer.raw("]");
  return true;
}

// Whether there is a condition `Ready` that is not `True`.
bool is_not_ready(KubernetesReading& in, json::JsonValue conditions, bool& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"status", "type"};
  bool has_any = false;
  if (!in.has_elements(conditions, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue condition : conditions.elements()) {
    std::array<json::JsonValue, 2> found;
    std::string_view status, type;
    if (!in.expect(condition, json::JsonKind::kObject) || !in.take(condition, kKeys, found)) return false;
    if (!in.text(found[0], status) || !in.text(found[1], type)) return false;
    if (type == "Ready" && status != "True") out = true;
  }
  return true;
}

}  // namespace

bool import_node(KubernetesReading& in, const KubernetesObject& object, json::JsonWriter& writer, KubernetesNode& out) {
  static constexpr std::array<std::string_view, 2> kSpec = {"taints", "unschedulable"};
  static constexpr std::array<std::string_view, 2> kStatus = {"allocatable", "conditions"};
  std::array<json::JsonValue, 2> spec, status;
  out.name = object.name;
  if (!in.take(object.metadata, "labels", out.labels) || !in.take(object.spec, kSpec, spec) ||
      !in.take(object.status, kStatus, status)) {
    return false;
  }
  bool is_cordoned = false;
  Devices devices;
  if (!read_devices(in, object, status[0], out.labels, devices) || !in.flag(spec[1], is_cordoned) ||
      !is_not_ready(in, status[1], is_cordoned)) {
    return false;
  }
  writer.raw(R"({"name":)").string(object.name);
  if (!write_resources(in, writer, status[0], object.name)) return false;
  snapshot_writer::write_devices(
      writer, {devices.count, devices.memory, devices.memory < kLeastBytes ? "Mi" : "", devices.model});
  if (out.labels) {
    writer.raw(R"(,"labels":)");
    write_json(writer, in.document, out.labels);
  }
  if (!write_taints(in, writer, spec[0])) return false;
  if (is_cordoned) writer.raw(R"(,"unschedulable":true)");
  writer.raw("}");
  return true;
}

}  // namespace muster::kubernetes
