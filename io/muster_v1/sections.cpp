// The sections of a snapshot line, in the order in which they need one another.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "io/json/json_document.h"
#include "io/muster_v1/shared_fields.h"
#include "io/muster_v1/snapshot_input.h"
#include "model/build/repair_snapshot.h"
#include "model/snapshot/unread.h"

namespace muster::muster_v1 {

namespace {

constexpr std::string_view kFormat = "muster/v1";

// The values of the line's keys. Pods need templates, and the policy needs both, wherever they stand in the line.
enum class Section : std::uint8_t {
  kFormat,
  kId,
  kTime,
  kPolicy,
  kTopology,
  kTopologies,
  kNodes,
  kNamespaces,
  kQueues,
  kPriorityClasses,
  kPodTemplates,
  kGangs,
  kPods,
  kDisruptionBudgets,
  kRemarks,
  kUnread
};
constexpr std::size_t kSections = static_cast<std::size_t>(Section::kUnread) + 1;
class Sections {
 public:
  void note(Section section, json::JsonValue value) { values_[static_cast<std::size_t>(section)] = value; }
  json::JsonValue of(Section section) const { return values_[static_cast<std::size_t>(section)]; }

 private:
  std::array<json::JsonValue, kSections> values_;
};

template <Section section>
bool note(SnapshotInput&, json::JsonValue value, Sections& sections) {
  sections.note(section, value);
  return true;
}

constexpr std::array<json::Field<SnapshotInput, Sections>, kSections> kSnapshotFields = {
    {{"format", note<Section::kFormat>, true},
     {"id", note<Section::kId>},
     {"time", note<Section::kTime>},
     {"policy", note<Section::kPolicy>},
     {"topology", note<Section::kTopology>},
     {"topologies", note<Section::kTopologies>},
     {"nodes", note<Section::kNodes>},
     {"namespaces", note<Section::kNamespaces>},
     {"queues", note<Section::kQueues>},
     {"priorityClasses", note<Section::kPriorityClasses>},
     {"podTemplates", note<Section::kPodTemplates>},
     {"gangs", note<Section::kGangs>},
     {"pods", note<Section::kPods>},
     {"disruptionBudgets", note<Section::kDisruptionBudgets>},
     {"remarks", note<Section::kRemarks>},
     {"unread", note<Section::kUnread>}}};

// The same of a part of a snapshot, which need not name the format.
constexpr auto kPartFields = [] {
  auto fields = kSnapshotFields;
  fields[0].required = false;
  return fields;
}();

// Reports a line of another format before its keys are found to be unknown.
bool check_format(SnapshotInput& input, json::JsonValue root) {
  if (!input.expect(root, json::JsonKind::kObject)) return false;
  for (const json::JsonMember member : root.members()) {
    if (member.key != "format") continue;
    if (!input.expect(member.value, json::JsonKind::kString)) return false;
    if (member.value.string() == kFormat) return true;
    return input.fail(member.value, ErrorCode::kUnsupportedFormat,
                      "the format is \"" + std::string(member.value.string()) + "\"; it must be \"muster/v1\"");
  }
  return input.fail_missing(root, "format");
}

bool read_levels(SnapshotInput& input, json::JsonValue list, SnapshotTopology& topology) {
  const std::vector<std::string_view>& levels = topology.levels;
  if (!input.read_names(list, topology.levels)) return false;
  std::size_t at = 0;
  for (const json::JsonValue element : list.elements()) {
    for (std::size_t before = 0; before < at; ++before) {
      if (levels[before] == levels[at]) return input.fail_value(element, "duplicate level");
    }
    ++at;
  }
  return true;
}

constexpr std::array<json::Field<SnapshotInput, SnapshotTopology>, 2> kTopologyFields = {
    {{"name", [](SnapshotInput& in, json::JsonValue v, SnapshotTopology& t) { return in.read_name(v, t.name); }, true},
     {"levels", read_levels, true}}};

// One topology without a name.
bool read_topology(SnapshotInput& input, json::JsonValue list) {
  SnapshotTopology topology;
  if (!read_levels(input, list, topology)) return false;
  if (!topology.levels.empty()) input.snapshot.definitions.topologies.push_back(std::move(topology));
  return true;
}

bool read_topologies(SnapshotInput& input, json::JsonValue list) {
  std::vector<SnapshotTopology>& topologies = input.snapshot.definitions.topologies;
  if (!topologies.empty()) return input.fail_value(list, "both topology and topologies are set; keep one");
  if (!json::read_list(input, list, kTopologyFields, topologies)) return false;
  std::size_t at = 0;
  for (const json::JsonValue element : list.elements()) {
    const auto here = topologies.begin() + static_cast<std::ptrdiff_t>(at++);
    if (std::find_if(topologies.begin(), here, [&](const auto& one) { return one.name == here->name; }) != here)
      return input.fail(element, ErrorCode::kDuplicateName, "duplicate topology \"" + std::string(here->name) + "\"");
  }
  return true;
}

// What was ignored or held back when the line was made from other objects.
bool read_remarks(SnapshotInput& input, json::JsonValue list) {
  std::vector<std::string_view> remarks;
  if (!input.read_names(list, remarks)) return false;
  for (const std::string_view remark : remarks) input.snapshot.anomalies.remark(std::string(remark));
  return true;
}

// What the line's writer has found in other objects and not read.
bool read_unread(SnapshotInput& input, json::JsonValue list) {
  std::vector<UnreadKey> keys;
  if (!json::read_list(input, list, kUnreadFields<SnapshotInput>, keys)) return false;
  for (UnreadKey& key : keys) input.snapshot.anomalies.tell(std::move(key));
  return true;
}

bool read_sections(SnapshotInput& input, const Sections& sections) {
  if (sections.of(Section::kId) && !input.read(sections.of(Section::kId), input.snapshot.id)) return false;
  if (sections.of(Section::kTime) && !input.read_instant(sections.of(Section::kTime), input.snapshot.time))
    return false;
  using Read = bool (*)(SnapshotInput&, json::JsonValue);
  const std::array<std::pair<json::JsonValue, Read>, 13> in_order = {
      {{sections.of(Section::kUnread), read_unread},  // first, so that no number of other warnings displaces them
       {sections.of(Section::kTopology), read_topology},
       {sections.of(Section::kTopologies), read_topologies},
       {sections.of(Section::kPodTemplates), read_templates},
       {sections.of(Section::kNodes), read_nodes},
       {sections.of(Section::kNamespaces), read_namespaces},
       {sections.of(Section::kQueues), read_queues},
       {sections.of(Section::kPriorityClasses), read_priority_classes},
       {sections.of(Section::kGangs), read_gangs},
       {sections.of(Section::kPods), read_pods},
       {sections.of(Section::kDisruptionBudgets), read_disruption_budgets},
       {sections.of(Section::kPolicy), read_policy},
       {sections.of(Section::kRemarks), read_remarks}}};
  for (const auto& [value, read] : in_order) {
    if (value && !read(input, value)) return false;
  }
  return true;
}

}  // namespace

bool read_snapshot(SnapshotInput& input, json::JsonValue root) {
  Sections sections;
  return check_format(input, root) && json::read_fields(input, root, kSnapshotFields, sections) &&
         read_sections(input, sections);
}

bool read_snapshot_part(SnapshotInput& input, json::JsonValue object) {
  Sections sections;
  return json::read_fields(input, object, kPartFields, sections) && read_sections(input, sections);
}

void settle(const PolicyOverrides& policy, Snapshot& snapshot) {
  apply(policy, snapshot);
  if (std::string remark = remark_on_schedulers(snapshot); !remark.empty())
    snapshot.anomalies.remark(std::move(remark));
  hold_gangs(snapshot);
}

std::vector<json::KnownObject> known_snapshot_objects() {
  std::vector<json::KnownObject> objects = {json::known_object("snapshot", kSnapshotFields),
                                            json::known_object("topology", kTopologyFields),
                                            json::known_object("unread", kUnreadFields<SnapshotInput>)};
  add_policy_objects(objects);
  add_node_objects(objects);
  add_queue_objects(objects);
  add_gang_objects(objects);
  add_pod_objects(objects);
  add_spec_objects(objects);
  add_affinity_objects(objects);
  add_disruption_budget_objects(objects);
  return objects;
}

}  // namespace muster::muster_v1
