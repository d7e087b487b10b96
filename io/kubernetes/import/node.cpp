#include "io/kubernetes/import/node.h"

#include <algorithm>

#include "io/kubernetes/object/attachments.h"
#include "io/muster_v1/pod_spec_reader.h"

namespace muster::kubernetes {

namespace {

using muster_v1::SnapshotInput;

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

// The resources of one node. What is added to those that it reports takes the place of a reported one of that name.
class NodeResources {
 public:
  NodeResources(SnapshotInput& out, const KubernetesNode& node, SnapshotNode& entry)
      : out_(out), node_(node), entry_(entry) {}

  // All but the devices.
  bool read(json::JsonValue allocatable, const AttachLimits& limits, std::int64_t gpus) {
    if (!read_reported(allocatable)) return false;
    const bool tells_gpus =
        node_.tells_plain_gpus && gpus > 0 && (node_.cards.dialect == nullptr || node_.cards.reports_gpus);
    if (!add_slots() || !add_missing_names(allocatable) || (tells_gpus && !add(kGpuResource, gpus))) return false;
    for (const auto& [driver, limit] : limits.of_driver) {
      if (!add(limit.resource, limit.on(node_.name))) return false;
    }
    if (std::ranges::find(entry_.resources, kPods, &ResourceAmount::resource) == entry_.resources.end())
      entry_.resources.push_back({kPods, kDefaultNodePods});
    return out_.sort_resources(entry_.resources, node_.object->value);
  }

 private:
  bool read_reported(json::JsonValue allocatable) {
    if (!allocatable) return true;
    for (const json::JsonMember member : allocatable.members()) {
      if (member.key == kGpuResource || member.value.is(json::JsonKind::kNull)) continue;
      ResourceAmount amount;
      if (!out_.read_resource(member, Rounding::kDown, amount)) return false;
      entry_.resources.push_back(amount);
    }
    return true;
  }

  bool add(std::string_view resource, Amount amount) {
    ResourceIndex index;
    if (!out_.find_resource(resource, node_.object->value, index)) return false;
    const auto known = std::ranges::find(entry_.resources, index, &ResourceAmount::resource);
    if (known != entry_.resources.end()) entry_.resources.erase(known);
    entry_.resources.push_back({index, amount});
    return true;
  }

  // A system whose shares nodes do not report has a resource of its own for them.
  bool add_slots() {
    const ShareDialect* dialect = node_.cards.dialect;
    if (dialect == nullptr || dialect->marker.empty() || dialect->marker == dialect->resources.count) return true;
    return add(dialect->marker, node_.cards.slots());
  }

  // Some names of one thing are made by a webhook of the system when a pod or a node is created; a node that lacks one
  // of them has it all the same.
  bool add_missing_names(json::JsonValue allocatable) {
    constexpr std::int64_t kFullCard = 100;  // percent, and pods at most
    if (node_.cards.dialect == nullptr || !node_.cards.dialect->keeps_resources) return true;
    const auto& names = node_.cards.dialect->resources;
    for (const std::string_view name : {names.count, names.percent, names.cores, names.both}) {
      if (name.empty() || member_of(allocatable, name)) continue;
      if (!add(name, node_.cards.usable() * kFullCard)) return false;
    }
    return true;
  }

  SnapshotInput& out_;
  const KubernetesNode& node_;
  SnapshotNode& entry_;
};

bool add_taints(SnapshotInput& out, json::JsonValue taints, std::vector<Taint>& entries) {
  for (const json::JsonValue taint : taints.elements()) {
    out.passes_over_once = true;
    if (!muster_v1::read_taint(out, taint, entries.emplace_back())) return false;
  }
  return true;
}

bool set_devices(SnapshotInput& out, const KubernetesObject& object, const Devices& devices, SnapshotNode& entry) {
  if (devices.count == 0) return true;
  if (devices.count > muster_v1::kMaxDevices) {
    return out.fail_value(object.value, "it has more devices than " + std::to_string(muster_v1::kMaxDevices));
  }
  entry.gpu_count = static_cast<std::int32_t>(devices.count);
  entry.gpu_memory_mib = devices.memory < kLeastBytes ? devices.memory : devices.memory / kLeastBytes;
  entry.gpu_model = out.keep(devices.model);
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

bool import_node(KubernetesReading& in, const KoordinatorDevices& koordinator, SnapshotInput& out, KubernetesNode& node,
                 SnapshotNode& entry) {
  json::JsonValue allocatable;
  node.name = node.object->name;
  return in.take(node.object->metadata, "labels", node.labels) &&
         in.take(node.object->status, "allocatable", allocatable) &&
         read_node_cards(in, *node.object, allocatable, koordinator, node.cards) && read_node(in, out, node, entry);
}

bool read_node(KubernetesReading& in, SnapshotInput& out, KubernetesNode& node, SnapshotNode& entry) {
  static constexpr std::array<std::string_view, 2> kSpec = {"taints", "unschedulable"};
  static constexpr std::array<std::string_view, 2> kStatus = {"allocatable", "conditions"};
  std::array<json::JsonValue, 2> spec, status;
  const KubernetesObject& object = *node.object;
  if (!in.take(object.spec, kSpec, spec) || !in.take(object.status, kStatus, status)) return false;
  bool is_cordoned = false, has_taints = false;
  Devices devices;
  if (!read_devices(in, object, status[0], node, devices) || !in.flag(spec[1], is_cordoned) ||
      !is_not_ready(in, status[1], is_cordoned) || !in.has_elements(spec[0], has_taints)) {
    return false;
  }
  entry.name = out.keep(object.name);
  // What its keys mean for pods is not known.
  entry.unschedulable = is_cordoned || !object.hold.always.why.empty();
  if (!NodeResources(out, node, entry).read(status[0], in.attach_limits, devices.count) ||
      !set_devices(out, object, devices, entry) || (node.labels && !out.read_labels(node.labels, entry.labels)) ||
      (has_taints && !add_taints(out, spec[0], entry.taints))) {
    return false;
  }
  node.is_known = true;
  return true;
}

}  // namespace muster::kubernetes
