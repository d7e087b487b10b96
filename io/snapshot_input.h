// One snapshot on its way in: what the readers of its sections share.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/pod_specs.h"
#include "io/reading.h"
#include "model/snapshot.h"

namespace muster {

// Devices of one node, or asked for by one pod.
inline constexpr std::int32_t kMaxDevices = 65'536;

struct PodTemplate {
  SpecValues values;
  PodSpecIndex spec;
};

struct SnapshotInput : Reading {
  SnapshotInput(JsonDocument& parsed, bool is_lenient, Snapshot& into);
  // For a part of the line that is read beside the rest of it, into a snapshot of its own: knows what the whole knows
  // so far of templates, specs and resources, and no other resources.
  SnapshotInput(const SnapshotInput& whole, Snapshot& into);

  Snapshot& snapshot;
  int threads = 1;
  bool may_add_resources = true;
  std::unordered_map<std::string_view, ResourceIndex> resource_index;
  std::unordered_map<std::string_view, PodTemplate> templates;  // keys in the document
  PodSpecs specs;
  // The last text of its kind: neighbours in a list mostly share it.
  std::string_view last_gang, last_subgroup, last_node, last_nominated, last_namespace, last_queue, last_class,
      last_held, last_scheduler;

  // A name of which the last one is likely to come again.
  [[nodiscard]] bool read_shared_name(JsonValue value, std::string_view& last, std::string_view& out);

  // Resource name -> quantity, sorted by resource. Requests are rounded up, capacities down.
  [[nodiscard]] bool read_resources(JsonValue value, Rounding rounding, std::vector<ResourceAmount>& out);
  // One entry of the above.
  [[nodiscard]] bool read_resource(const JsonMember& member, Rounding rounding, ResourceAmount& out);
  // As the resource at `member` is known; a new one gets the next index.
  [[nodiscard]] bool find_resource(const JsonMember& member, ResourceIndex& out);
};

// A whole snapshot line.
[[nodiscard]] bool read_snapshot(SnapshotInput& input, JsonValue root);

// The sections of a snapshot, each appended to the snapshot or set in it.
[[nodiscard]] bool read_nodes(SnapshotInput& input, JsonValue list);
[[nodiscard]] bool read_namespaces(SnapshotInput& input, JsonValue list);
[[nodiscard]] bool read_queues(SnapshotInput& input, JsonValue list);
[[nodiscard]] bool read_priority_classes(SnapshotInput& input, JsonValue list);
[[nodiscard]] bool read_gangs(SnapshotInput& input, JsonValue list);
[[nodiscard]] bool read_templates(SnapshotInput& input, JsonValue object);
[[nodiscard]] bool read_pods(SnapshotInput& input, JsonValue list);
[[nodiscard]] bool read_policy(SnapshotInput& input, JsonValue object);
[[nodiscard]] bool read_disruption_budgets(SnapshotInput& input, JsonValue list);

// A Kubernetes LabelSelector: `matchLabels` and `matchExpressions`.
[[nodiscard]] bool read_label_selector(SnapshotInput& input, JsonValue object, LabelSelector& out);

// The topology request of a gang or subgroup.
[[nodiscard]] bool read_topology_request(SnapshotInput& input, JsonValue object, TopologyRequest& out);

// What a pod's own keys and its template's make together, kept once.
[[nodiscard]] bool resolve_spec(SnapshotInput& input, JsonValue template_name, const SpecValues& own,
                                PodSpecIndex& out);

// The keys of each section's objects, for known_snapshot_objects.
void add_node_objects(std::vector<KnownObject>& out);
void add_queue_objects(std::vector<KnownObject>& out);
void add_gang_objects(std::vector<KnownObject>& out);
void add_pod_objects(std::vector<KnownObject>& out);
void add_spec_objects(std::vector<KnownObject>& out);
void add_affinity_objects(std::vector<KnownObject>& out);
void add_disruption_budget_objects(std::vector<KnownObject>& out);
void add_policy_objects(std::vector<KnownObject>& out);

}  // namespace muster
