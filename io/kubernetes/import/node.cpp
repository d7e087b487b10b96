#include "io/kubernetes/import/node.h"

#include <algorithm>

#include "io/kubernetes/object/attachments.h"
#include "io/snapshot_writer/records.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kGpuResource = "nvidia.com/gpu";
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;  // of the label gpu.memory: MiB below, bytes from here on

constexpr std::int64_t kMostSlices = 1'000'000;  // of a device

struct Devices {
  std::int64_t count = 0;
  std::int64_t memory = 0;  // as the label has it; 0: unknown
  std::string_view model;
};

// Of cards that a system shares between pods; the labels of the device plugin tell what that system does not.
void use_cards(NodeCards& cards, Devices& out) {
  for (NodeCard& card : cards.cards) {
    if (card.memory == 0 && out.memory < kLeastBytes) card.memory = out.memory;
  }
  out.count = cards.usable();
  if (cards.memory() > 0) out.memory = cards.memory();
  if (out.model.empty() && out.count > 0) out.model = cards.cards.front().model;
}

// Time-slicing and MPS let several pods use a device. kube-scheduler hands out each slice as a device by itself, and so
// it is one here; which device a slice is of, and how much of its memory it may use, is up to the kubelet.
bool read_devices(KubernetesReading& in, const KubernetesObject& object, json::JsonValue allocatable,
                  KubernetesNode& node, Devices& out) {
  static constexpr std::array<std::string_view, 4> kLabels = {"nvidia.com/gpu.count", "nvidia.com/gpu.memory",
                                                              "nvidia.com/gpu.product", "nvidia.com/gpu.replicas"};
  std::array<json::JsonValue, 4> found;
  json::JsonValue count;
  if (!in.take(node.labels, kLabels, found) || !in.take(allocatable, kGpuResource, count)) return false;
  std::int64_t labelled = 0, replicas = 1;
  if (count && !in.read_amount(count, {QuantityUnit::kOne, Rounding::kRefuse}, out.count)) return false;
  if (found[0] && !in.digits(found[0], labelled)) return false;
  if (found[1] && !in.digits(found[1], out.memory)) return false;
  if (!in.text(found[2], out.model)) return false;
  if (found[3] && !in.digits(found[3], replicas)) return false;
  if (node.cards.dialect != nullptr) {
    use_cards(node.cards, out);
    return true;
  }
  if (replicas > 1) out.memory = 0;
  if (replicas > 1 && !node.is_known) {
    in.remarks.add(
        "the label nvidia.com/gpu.replicas says that devices are shared by time-slicing or MPS: each slice counts as a "
        "device, without memory of its own",
        object);
  }
  if (found[0]) out.count = std::min(out.count, labelled * std::clamp<std::int64_t>(replicas, 1, kMostSlices));
  return true;
}

// A system whose shares nodes do not report has a resource of its own for them.
void write_slots(json::JsonWriter& writer, const NodeCards& cards, bool& first) {
  if (cards.dialect == nullptr || cards.dialect->marker.empty()) return;
  if (cards.dialect->marker == cards.dialect->resources.count) return;
  writer.separate(first).string(cards.dialect->marker).raw(":").integer(cards.slots());
}

// Some names of one thing are made by a webhook of the system when a pod or a node is created; a node that lacks one of
// them has it all the same.
void write_missing_names(json::JsonWriter& writer, const NodeCards& cards, json::JsonValue allocatable, bool& first) {
  constexpr std::int64_t kFullCard = 100;  // percent, and pods at most
  if (cards.dialect == nullptr || !cards.dialect->keeps_resources) return;
  const auto& names = cards.dialect->resources;
  for (const std::string_view name : {names.count, names.percent, names.cores, names.both}) {
    if (name.empty() || member_of(allocatable, name)) continue;
    writer.separate(first).string(name).raw(":").integer(cards.usable() * kFullCard);
  }
}

void write_plain_gpus(json::JsonWriter& writer, const KubernetesNode& node, std::int64_t count, bool& first) {
  if (!node.tells_plain_gpus || count == 0 || (node.cards.dialect != nullptr && !node.cards.reports_gpus)) return;
  writer.separate(first).string(kGpuResource).raw(":").integer(count);
}

bool write_resources(KubernetesReading& in, json::JsonWriter& writer, json::JsonValue allocatable,
                     const KubernetesNode& node, std::int64_t gpus) {
  writer.raw(R"(,"resources":{)");
  bool first = true;
  if (allocatable) {
    for (const json::JsonMember member : allocatable.members()) {
      if (member.key == kGpuResource || member.value.is(json::JsonKind::kNull)) continue;
      if (!in.expect_text_or_number(member.value, "a quantity")) return false;
      writer.separate(first).string(member.key).raw(":");
      write_json(writer, in.numbers, member.value);
    }
  }
  write_slots(writer, node.cards, first);
  write_missing_names(writer, node.cards, allocatable, first);
  write_plain_gpus(writer, node, gpus, first);
  write_attach_limits(writer, in.attach_limits, node.name, first);
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

bool import_node(KubernetesReading& in, const KoordinatorDevices& koordinator, json::JsonWriter& writer,
                 KubernetesNode& node) {
  json::JsonValue allocatable;
  node.name = node.object->name;
  return in.take(node.object->metadata, "labels", node.labels) &&
         in.take(node.object->status, "allocatable", allocatable) &&
         read_node_cards(in, *node.object, allocatable, koordinator, node.cards) && write_node(in, writer, node);
}

bool write_node(KubernetesReading& in, json::JsonWriter& writer, KubernetesNode& node) {
  static constexpr std::array<std::string_view, 2> kSpec = {"taints", "unschedulable"};
  static constexpr std::array<std::string_view, 2> kStatus = {"allocatable", "conditions"};
  std::array<json::JsonValue, 2> spec, status;
  const KubernetesObject& object = *node.object;
  if (!in.take(object.spec, kSpec, spec) || !in.take(object.status, kStatus, status)) return false;
  bool is_cordoned = false;
  Devices devices;
  if (!read_devices(in, object, status[0], node, devices) || !in.flag(spec[1], is_cordoned) ||
      !is_not_ready(in, status[1], is_cordoned)) {
    return false;
  }
  is_cordoned = is_cordoned || !object.hold.always.why.empty();  // what its keys mean for pods is not known
  writer.raw(R"({"name":)").string(object.name);
  if (!write_resources(in, writer, status[0], node, devices.count)) return false;
  snapshot_writer::write_devices(
      writer, {devices.count, devices.memory, devices.memory < kLeastBytes ? "Mi" : "", devices.model});
  if (node.labels) {
    writer.raw(R"(,"labels":)");
    write_json(writer, in.numbers, node.labels);
  }
  if (!write_taints(in, writer, spec[0])) return false;
  if (is_cordoned) writer.raw(R"(,"unschedulable":true)");
  writer.raw("}");
  node.is_known = true;
  return true;
}

}  // namespace muster::kubernetes
