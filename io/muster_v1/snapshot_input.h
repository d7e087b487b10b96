// One snapshot on its way in: what the readers of its sections share.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/json/reading.h"
#include "io/muster_v1/pod_specs.h"
#include "io/muster_v1/policy_overrides.h"
#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {

// Devices of one node, or asked for by one pod.
inline constexpr std::int32_t kMaxDevices = 65'536;

struct PodTemplate {
  SpecValues values;
  PodSpecIndex spec;
};

// The last text of its kind: neighbours in a list mostly share it, and then it is kept once.
struct LastNames {
  std::string_view gang, subgroup, node, nominated, namespace_name, queue, priority_class, held, scheduler, owner;
};

struct SnapshotInput : json::Reading {
  SnapshotInput(bool is_lenient, Snapshot& into);
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
  // The template of an earlier document of the same cluster; null: there is none. May be empty: no document came
  // before.
  std::function<const PodSpec*(std::string_view)> earlier_template;
  PodSpecs specs;
  LastNames last;

  // A name of which the last one is likely to come again.
  [[nodiscard]] bool read_shared_name(json::JsonValue value, std::string_view& previous, std::string_view& out);

  // Resource name -> quantity, sorted by resource. Requests are rounded up, capacities down.
  [[nodiscard]] bool read_resources(json::JsonValue value, Rounding rounding, std::vector<ResourceAmount>& out);
  // One entry of the above.
  [[nodiscard]] bool read_resource(const json::JsonMember& member, Rounding rounding, ResourceAmount& out);
  // Sorts amounts by resource. `culprit`: of the error if one is there twice.
  [[nodiscard]] bool sort_resources(std::vector<ResourceAmount>& amounts, json::JsonValue culprit);
  // As the resource of this name is known; a new one gets the next index. `culprit`: of an error.
  [[nodiscard]] bool find_resource(std::string_view name, json::JsonValue culprit, ResourceIndex& out);
};

// Takes the error of an element that was left out or settled as a warning, unless the snapshot is read strictly.
// `outcome`: what was done about it, for people.
struct OddObject {
  std::string_view object;  // "pod"
  json::JsonValue element;
};
void warn_of(SnapshotInput& input, const OddObject& odd, InputError error, std::string_view outcome);
// The string at a key of something that may be no object; empty if there is none.
std::string_view text_at(json::JsonValue object, std::string_view key);
// Of an element of a list: the place in the element, and what is wrong there: "gpu.count: must be a whole number".
std::string what_is_wrong(const InputError& error);

// The key `unclear`: the writer of the line could not determine all of the object.
[[nodiscard]] bool read_unclear(SnapshotInput& input, json::JsonValue value);

// Reads the elements of a list one after another. `finish(element, target)` ends each; if it or a key fails,
// `recover(element, error)` returns whether the rest of the element, if any, is enough to read on.
template <class Target, std::size_t N, class Finish, class Recover>
[[nodiscard]] bool read_objects(SnapshotInput& input, json::JsonValue list,
                                const std::array<json::Field<SnapshotInput, Target>, N>& fields,
                                std::vector<Target>& out, const Finish& finish, const Recover& recover) {
  if (!input.expect(list, json::JsonKind::kArray)) return false;
  json::KeyOrder order;
  out.reserve(out.size() + list.size());
  for (const json::JsonValue element : list.elements()) {
    Target& target = out.emplace_back();
    if (json::read_fields(input, element, fields, target, order) && finish(element, target)) continue;
    if (input.snapshot.anomalies.strict) return false;
    out.pop_back();
    recover(element, std::exchange(input.error, {}));
  }
  return true;
}

// Reads an object again, and passes over what it can; false if it still cannot be read. Leaves no error.
enum class UnknownKeys : std::uint8_t { kAsTold, kPassedOver };
template <class Target, std::size_t N, class Finish>
[[nodiscard]] bool read_again(SnapshotInput& input, json::JsonValue element,
                              const std::array<json::Field<SnapshotInput, Target>, N>& fields, Target& target,
                              const Finish& finish, UnknownKeys unknown = UnknownKeys::kPassedOver) {
  const bool was_lenient = std::exchange(input.lenient, input.lenient || unknown == UnknownKeys::kPassedOver);
  input.settling = true;
  const bool is_read = json::read_fields(input, element, fields, target) && finish(element, target);
  input.settling = false;
  input.lenient = was_lenient;
  input.error = {};
  return is_read;
}

// A whole snapshot line.
[[nodiscard]] bool read_snapshot(SnapshotInput& input, json::JsonValue root);
// An object with the keys of one, of which none has to be there.
[[nodiscard]] bool read_snapshot_part(SnapshotInput& input, json::JsonValue object);

// The sections of a snapshot, each appended to the snapshot or set in it.
[[nodiscard]] bool read_nodes(SnapshotInput& input, json::JsonValue list);
[[nodiscard]] bool read_namespaces(SnapshotInput& input, json::JsonValue list);
[[nodiscard]] bool read_queues(SnapshotInput& input, json::JsonValue list);
[[nodiscard]] bool read_priority_classes(SnapshotInput& input, json::JsonValue list);
[[nodiscard]] bool read_gangs(SnapshotInput& input, json::JsonValue list);
[[nodiscard]] bool read_templates(SnapshotInput& input, json::JsonValue object);
[[nodiscard]] bool read_pods(SnapshotInput& input, json::JsonValue list);
[[nodiscard]] bool read_policy(SnapshotInput& input, json::JsonValue object);
[[nodiscard]] bool read_disruption_budgets(SnapshotInput& input, json::JsonValue list);

// Whether the keys of a gang fit together, once all are read. `element`: of an error.
[[nodiscard]] bool check_gang(SnapshotInput& input, json::JsonValue element, const SnapshotGang& gang);

// A Kubernetes LabelSelector: `matchLabels` and `matchExpressions`.
[[nodiscard]] bool read_label_selector(SnapshotInput& input, json::JsonValue object, LabelSelector& out);

// What a pod's own keys and its template's make together, kept once.
[[nodiscard]] bool resolve_spec(SnapshotInput& input, json::JsonValue template_name, const SpecValues& own,
                                PodSpecIndex& out);

// The keys of each section's objects, for known_snapshot_objects.
void add_node_objects(std::vector<json::KnownObject>& out);
void add_queue_objects(std::vector<json::KnownObject>& out);
void add_gang_objects(std::vector<json::KnownObject>& out);
void add_pod_objects(std::vector<json::KnownObject>& out);
void add_spec_objects(std::vector<json::KnownObject>& out);
void add_affinity_objects(std::vector<json::KnownObject>& out);
void add_disruption_budget_objects(std::vector<json::KnownObject>& out);
void add_policy_objects(std::vector<json::KnownObject>& out);

// What becomes of a snapshot between its reader and its problem.
//
// What SnapshotReader does to each snapshot that it has read: the policy's overrides, the remarks that depend on them,
// and gangs that are held. Cost: O(pods).
void settle(const PolicyOverrides& policy, Snapshot& snapshot);

// The objects of snapshot lines and plan lines with their keys, as the readers know them; for checks of the schemas and
// of docs/format.md.
std::vector<json::KnownObject> known_snapshot_objects();
std::vector<json::KnownObject> known_plan_objects();

}  // namespace muster::muster_v1
