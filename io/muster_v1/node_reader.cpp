// nodes[]
#include <algorithm>
#include <array>
#include <unordered_set>

#include "io/muster_v1/pod_spec_reader.h"
#include "io/muster_v1/snapshot_input.h"
#include "model/base/words.h"

namespace muster::muster_v1 {

namespace {

bool read_device_count(SnapshotInput& in, json::JsonValue v, SnapshotNode& node) {
  std::int64_t count = 0;
  if (!in.read_integer(v, 0, kMaxDevices, count)) return false;
  node.gpu_count = static_cast<std::int32_t>(count);
  return true;
}

bool read_device_memory(SnapshotInput& in, json::JsonValue v, SnapshotNode& node) {
  if (!in.read_amount(v, {QuantityUnit::kMebi, Rounding::kDown}, node.gpu_memory_mib)) return false;
  return node.gpu_memory_mib > 0 ||
         in.fail_value(v, "device memory must be at least 1Mi; omit the key if it is unknown");
}

bool read_device_ids(SnapshotInput& in, json::JsonValue v, SnapshotNode& node) {
  if (!in.read_names(v, node.gpu_ids)) return false;
  std::unordered_set<std::string_view> seen;
  std::size_t at = 0;
  for (const json::JsonValue element : v.elements()) {
    if (!seen.insert(node.gpu_ids[at++]).second) return in.fail_value(element, "duplicate id");
  }
  return true;
}

constexpr std::array<json::Field<SnapshotInput, SnapshotNode>, 4> kNodeGpuFields = {
    {{"count", read_device_count, true},
     {"memory", read_device_memory},
     {"model",
      [](SnapshotInput& in, json::JsonValue v, SnapshotNode& node) { return in.read_name(v, node.gpu_model); }},
     {"ids", read_device_ids}}};

bool read_gpus(SnapshotInput& in, json::JsonValue v, SnapshotNode& node) {
  if (!json::read_fields(in, v, kNodeGpuFields, node)) return false;
  if (node.gpu_ids.empty() || node.gpu_ids.size() == static_cast<std::size_t>(node.gpu_count)) return true;
  return in.fail_value(v, "expected one id per device, found " + counted(std::ssize(node.gpu_ids), "id") + " for " +
                              counted(node.gpu_count, "device"));
}

bool read_allocatable(SnapshotInput& in, json::JsonValue v, SnapshotNode& node) {
  return in.read_resources(v, Rounding::kDown, node.resources);
}

constexpr std::array<json::Field<SnapshotInput, SnapshotNode>, 7> kNodeFields = {
    {{"name", [](SnapshotInput& in, json::JsonValue v, SnapshotNode& node) { return in.read_name(v, node.name); },
      true},
     {"resources", read_allocatable},
     {"gpus", read_gpus},
     {"labels",
      [](SnapshotInput& in, json::JsonValue v, SnapshotNode& node) { return in.read_labels(v, node.labels); }},
     {"taints",
      [](SnapshotInput& in, json::JsonValue v, SnapshotNode& node) { return read_taints(in, v, node.taints); }},
     {"unschedulable",
      [](SnapshotInput& in, json::JsonValue v, SnapshotNode& node) { return in.read(v, node.unschedulable); }},
     {"unclear", [](SnapshotInput& in, json::JsonValue v, SnapshotNode&) { return read_unclear(in, v); }}}};

// No new pod is placed on a node that is only partly understood. One that cannot be read at all keeps its name and its
// running pods.
void recover_node(SnapshotInput& input, json::JsonValue element, InputError error) {
  std::vector<SnapshotNode>& nodes = input.snapshot.nodes;
  const auto done = [](json::JsonValue, SnapshotNode&) { return true; };
  SnapshotNode node;
  if (!read_again(input, element, kNodeFields, node, done)) {
    node = {};
    node.name = input.keep(text_at(element, "name"));
  }
  const bool has_name = !node.name.empty();
  warn_of(input, {"node", element}, std::move(error), has_name ? "nothing new is placed there" : "it is ignored");
  if (!has_name) return;
  node.unschedulable = true;
  nodes.push_back(std::move(node));
}

}  // namespace

bool read_nodes(SnapshotInput& input, json::JsonValue list) {
  const auto finish = [](json::JsonValue, SnapshotNode&) { return true; };
  const auto recover = [&](json::JsonValue element, InputError error) {
    recover_node(input, element, std::move(error));
  };
  if (!read_objects(input, list, kNodeFields, input.snapshot.nodes, finish, recover)) return false;
  for (SnapshotNode& node : input.snapshot.nodes) {
    if (std::ranges::find(node.resources, kPods, &ResourceAmount::resource) != node.resources.end()) continue;
    node.resources.push_back({kPods, kDefaultNodePods});
    std::ranges::sort(node.resources, {}, &ResourceAmount::resource);
  }
  return true;
}

void add_node_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("node", kNodeFields));
  out.push_back(json::known_object("nodeGpus", kNodeGpuFields));
}

}  // namespace muster::muster_v1
