// What an object that makes pods says about them: groups of equal pods, and the gang that its owner asks for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/object/object.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

struct PodMaker;
struct PodRole;

// An object of this kind and name in the input, in the namespace of the one that is read or in none; none: there is
// none.
using FindObject = std::function<const KubernetesObject*(std::string_view kind, std::string_view name)>;

// A label or annotation that a controller puts on its pods. The value is a pattern, see fill_pattern.
struct LabelPattern {
  std::string_view key, value;
};

enum class RoleShape : std::uint8_t { kOne, kList, kMap };

// Where a kind describes a group of equal pods, or a list of such groups. Paths have dots between their keys, and begin
// at the `spec` of the object (`at`) or at the role.
struct RoleRow {
  std::string_view at = {};  // empty: the spec is the role
  RoleShape shape = RoleShape::kOne;
  std::string_view name = {};  // kOne: of the role; kList: the key that has it; kMap: the key of the member has it
  std::string_view pod_template = {};     // metadata and spec of a pod
  std::string_view sets = {}, size = {};  // numbers: sets of pods, and pods of each set; empty, or no such key: 1
  std::string_view role_label = {},
                   set_label = {};  // by which pods that exist are recognised; empty: all pods of the object
  std::string_view pod_name = {};   // a pattern
  bool is_counted = false;          // the ends of names are random: pods are counted, and are not known by their names
  std::span<const LabelPattern> labels = {};
  // What paths cannot express; changes the role. Errors: those of the values.
  bool (*adjust)(KubernetesReading& reading, const PodMaker& maker, PodRole& role) = nullptr;
};

// Which controller makes a gang for Volcano or for the coscheduling plugin.
enum class GangMaker : std::uint8_t { kNone, kVolcanoJob, kOperator, kRay, kLeaderWorkerSet, kRuntime };

// What an object says about its gang.
struct GangPolicy {
  std::optional<std::int32_t> min_available;
  std::string_view queue, priority_class;
  json::JsonValue min_resources, network_topology, timeout;
  std::string_view system;  // "volcano" or "coscheduling", if a runtime says so
  bool is_set = false;      // there is such a policy
  bool starts_leader_first = false, is_elastic = false;
};

// A kind that makes an object of another kind, which makes the pods.
struct ActingRow {
  std::string_view as = {};  // the other kind; empty: the object makes its pods itself
  std::string_view at = {};  // path of that object in the spec, or only of its spec
  bool has_metadata = false;
  std::string_view suffix = {};  // what is added to the name of the object
  bool makes_another = false;    // one more of them each time, whatever exists
  // What paths cannot express: where the object is described; all of several objects.
  bool (*act)(KubernetesReading& reading, const FindObject& find, PodMaker& maker) = nullptr;
  bool (*split)(KubernetesReading& reading, const PodMaker& whole, std::vector<PodMaker>& out) = nullptr;
};

// When an object makes no more pods. Lists have a space before and after each word.
struct EndRow {
  std::string_view conditions = {};         // types of conditions, one of which is true
  std::string_view phase = {}, words = {};  // path in the status, and what it says
};

struct MakerRow {
  std::string_view group = {}, kind = {};
  std::span<const RoleRow> roles = {};
  ActingRow acting = {};
  std::string_view suspend = {};  // path of a flag
  EndRow end = {};
  GangMaker gang = GangMaker::kNone;
  std::string_view policy = {};  // path of `minAvailable`, `queue`, ...; "." is the spec
  // Annotations that require domains of the object's own, which the import holds.
  std::span<const std::string_view> exclusive = {};
  std::string_view name_label = {};  // by which its pods name it, if the objects between them are not in the input
  bool (*read)(KubernetesReading& reading, PodMaker& maker) = nullptr;  // what is left once its roles are read
  std::string_view cannot = {};                                         // why it cannot be expanded
};

struct PodNames {
  std::string_view pattern;
  std::span<const LabelPattern> labels;
  bool is_counted = false;  // as in RoleRow
};

// What the controller changes of a template.
struct PodChanges {
  std::string spec_text;        // JSON in place of the spec; empty: none
  std::string more_containers;  // JSON, each with a comma before it
  json::JsonValue resources;    // in place of those of the container of this name
  std::string_view resources_of;
};

struct PodRole {
  const RoleRow* row = nullptr;
  std::string name;
  json::JsonValue value;           // where the object describes it
  json::JsonValue metadata, spec;  // of its pods
  std::int64_t sets = 1, size = 1, first_pod = 0;
  std::optional<std::int64_t> minimum;  // of its pods, if its gang may start with fewer
  std::string gang;                     // with several gangs of one object: which
  PodNames names;
  PodChanges changes;
  bool is_outside = false;  // it starts after the gang
  std::string_view held;

  std::int64_t pods() const { return sets * size; }
  std::int64_t least() const { return minimum.value_or(pods()); }
};

struct PodMaker {
  const MakerRow* row = nullptr;
  KubernetesObject object;       // as it acts: of a RayJob, its RayCluster; without a name
  KubernetesObject source;       // the object of the input
  std::string name;              // of the object as it acts
  json::JsonValue runtime_spec;  // of a TrainJob
  std::vector<PodRole> roles;
  GangPolicy policy;
  bool is_done = false, is_suspended = false;
  std::string cannot;  // why it cannot be expanded; empty: it can

  std::int64_t pods() const;   // of all roles
  std::int64_t least() const;  // the pods that the gang needs; those outside of it do not count
};

// The row of a kind; no group: of any group. None: it makes no pods, as far as is known.
const MakerRow* find_maker_row(std::string_view group, std::string_view kind);

// What templates make at most, in one document.
inline constexpr std::int64_t kMostMadePods = 1'000'000;

// All rows.
std::span<const MakerRow> maker_rows();

// What the object makes, in parts that each have their own gangs; mostly one. Requires a kind with a row. Errors: those
// of the values. Cost: O(what the object says), not of the number of pods.
[[nodiscard]] bool read_pod_makers(KubernetesReading& reading, const KubernetesObject& object, const FindObject& find,
                                   std::vector<PodMaker>& out);

// The place of one pod of a role.
struct PodPlace {
  std::int64_t set = 0, pod = 0;
};

// Replaces {name}, {role}, {gang}, {set}, {pod} and {sets}.
std::string fill_pattern(std::string_view pattern, const PodMaker& maker, const PodRole& role, PodPlace place);

// Whether all pods of a role have the same value.
bool is_of_role(std::string_view pattern);

// The roles, suspension and gang of what `maker` acts as, by its row. Errors: those of the values.
[[nodiscard]] bool read_pods_of(KubernetesReading& reading, PodMaker& maker);
// Whether its own conditions or its phase say that the object makes no more pods.
[[nodiscard]] bool read_is_done(KubernetesReading& reading, const MakerRow& row, json::JsonValue status, bool& out);

// The text of a label of a pod; those that are added come first. Empty: there is none. Cost: O(labels).
std::string_view find_label(const PodLabels& labels, std::string_view key);

// The value at the end of a path; absent if any part of it is. Errors: WrongType, DuplicateKey.
[[nodiscard]] bool take_path(KubernetesReading& reading, json::JsonValue object, std::string_view path,
                             json::JsonValue& out);
[[nodiscard]] bool take_count(KubernetesReading& reading, json::JsonValue object, std::string_view path,
                              std::optional<std::int32_t>& out);
[[nodiscard]] bool take_text(KubernetesReading& reading, json::JsonValue object, std::string_view path,
                             std::string_view& out);
// metadata.annotations or metadata.labels: the text of a key that may contain dots.
std::string_view text_in(json::JsonValue metadata, std::string_view part, std::string_view key);

}  // namespace muster::kubernetes
