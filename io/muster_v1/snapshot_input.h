// One snapshot on its way in: what the readers of its sections share.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/json/reading.h"
#include "io/muster_v1/pod_specs.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// Devices of one node, or asked for by one pod.
inline constexpr std::int32_t kMaxDevices = 65'536;

struct PodTemplate {
  SpecValues values;
  PodSpecIndex spec;
};

struct SnapshotInput : Reading {
  SnapshotInput(JsonDocument& parsed, bool is_lenient, Snapshot& into);
  // For a part of the line that is read in parallel with the rest, into a snapshot of its own: it knows the templates,
  // specs and resources that the whole knows so far, and no other resources.
  SnapshotInput(const SnapshotInput& whole, Snapshot& into);

  Snapshot& snapshot;
  int threads = 1;
  bool may_add_resources = true;
  // An inconsistent object is read once more: additional or wrong keys are ignored if that can be settled later.
  bool settling = false;
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

// Takes the error of an element that was left out or settled as a warning, unless the snapshot is read strictly.
// `outcome`: what was done about it, for people.
struct OddObject {
  std::string_view object;  // "pod"
  JsonValue element;
};
void warn_of(SnapshotInput& input, const OddObject& odd, InputError error, std::string_view outcome);
// The string at a key of something that may be no object; empty if there is none.
std::string_view text_at(JsonValue object, std::string_view key);
// The key `unclear`: the writer of the line could not determine all of the object.
[[nodiscard]] bool read_unclear(SnapshotInput& input, JsonValue value);

// Reads the elements of a list one after another. `finish(element, target)` ends each; if it or a key fails,
// `recover(element, error)` returns whether the rest of the element, if any, is enough to read on.
template <class Target, std::size_t N, class Finish, class Recover>
[[nodiscard]] bool read_objects(SnapshotInput& input, JsonValue list,
                                const std::array<Field<SnapshotInput, Target>, N>& fields, std::vector<Target>& out,
                                const Finish& finish, const Recover& recover) {
  if (!input.expect(list, JsonKind::kArray)) return false;
  KeyOrder order;
  out.reserve(out.size() + list.size());
  for (const JsonValue element : list.elements()) {
    Target& target = out.emplace_back();
    if (read_fields(input, element, fields, target, order) && finish(element, target)) continue;
    if (input.snapshot.anomalies.strict) return false;
    out.pop_back();
    recover(element, std::exchange(input.error, {}));
  }
  return true;
}

// Reads an object again, and passes over what it can; false if it still cannot be read. Leaves no error.
enum class UnknownKeys : std::uint8_t { kAsTold, kPassedOver };
template <class Target, std::size_t N, class Finish>
[[nodiscard]] bool read_again(SnapshotInput& input, JsonValue element,
                              const std::array<Field<SnapshotInput, Target>, N>& fields, Target& target,
                              const Finish& finish, UnknownKeys unknown = UnknownKeys::kPassedOver) {
  const bool was_lenient = std::exchange(input.lenient, input.lenient || unknown == UnknownKeys::kPassedOver);
  input.settling = true;
  const bool is_read = read_fields(input, element, fields, target) && finish(element, target);
  input.settling = false;
  input.lenient = was_lenient;
  input.error = {};
  return is_read;
}

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
