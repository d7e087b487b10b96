#include "io/state/delta_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "io/json/reading.h"
#include "io/muster_v1/snapshot_input.h"
#include "model/base/require.h"

namespace muster::state {
namespace {

using muster_v1::SnapshotInput;

constexpr std::string_view kFormat = "muster/v1";

// The values of a delta's keys.
struct DeltaKeys {
  json::JsonValue format, from, to, set, remove;
};

template <json::JsonValue DeltaKeys::*Member>
bool note(json::Reading&, json::JsonValue value, DeltaKeys& keys) {
  keys.*Member = value;
  return true;
}

constexpr std::array<json::Field<json::Reading, DeltaKeys>, 5> kDeltaFields = {{{"format", note<&DeltaKeys::format>},
                                                                                {"from", note<&DeltaKeys::from>, true},
                                                                                {"to", note<&DeltaKeys::to>, true},
                                                                                {"set", note<&DeltaKeys::set>},
                                                                                {"remove", note<&DeltaKeys::remove>}}};

template <std::vector<std::string_view> DeltaRemovals::*Member>
bool read_removed(json::Reading& in, json::JsonValue value, DeltaRemovals& removals) {
  return in.read_names(value, removals.*Member);
}

constexpr std::array<json::Field<json::Reading, DeltaRemovals>, 8> kRemovalFields = {
    {{"nodes", read_removed<&DeltaRemovals::nodes>},
     {"namespaces", read_removed<&DeltaRemovals::namespaces>},
     {"queues", read_removed<&DeltaRemovals::queues>},
     {"priorityClasses", read_removed<&DeltaRemovals::priority_classes>},
     {"podTemplates", read_removed<&DeltaRemovals::pod_templates>},
     {"gangs", read_removed<&DeltaRemovals::gangs>},
     {"pods", read_removed<&DeltaRemovals::pods>},
     {"disruptionBudgets", read_removed<&DeltaRemovals::disruption_budgets>}}};

bool read_sequence(json::Reading& in, json::JsonValue value, std::uint64_t& out) {
  std::int64_t number = 0;
  if (!in.read_integer(value, 0, std::numeric_limits<std::int64_t>::max(), number)) return false;
  out = static_cast<std::uint64_t>(number);
  return true;
}

bool read_keys(json::Reading& in, json::JsonValue root, DeltaKeys& keys) {
  json::KeyOrder order;
  return json::read_fields(in, root, kDeltaFields, keys, order);
}

// The keys of a snapshot that have one value: the delta sets those that are there.
void note_values(json::JsonValue object, SnapshotDelta& delta) {
  for (const json::JsonMember member : object.members()) {
    if (member.key == "id") delta.sets_id = true;
    if (member.key == "time") delta.sets_time = true;
    if (member.key == "policy") delta.sets_policy = true;
    if (member.key == "topology" || member.key == "topologies") delta.sets_topology = true;
    if (member.key == "remarks" || member.key == "unread") delta.sets_remarks = true;
  }
}

void take_templates(const SnapshotInput& input, json::JsonValue object, SnapshotDelta& delta) {
  for (const json::JsonMember member : object.members()) {
    if (member.key != "podTemplates") continue;
    for (const json::JsonMember named : member.value.members())
      delta.templates.push_back({delta.set.text.store(named.key), input.templates.at(named.key).spec});
  }
}

// Whether an object has a key that all objects and lists of Kubernetes have, and no snapshot.
DeltaForm form_of_set(json::JsonValue set) {
  static constexpr std::array<std::string_view, 6> kKeys = {"apiVersion", "items",  "kind",
                                                            "metadata",   "object", "type"};
  if (!set) return DeltaForm::kNone;
  if (!set.is(json::JsonKind::kObject)) return DeltaForm::kSnapshot;
  DeltaForm form = DeltaForm::kNone;
  for (const json::JsonMember member : set.members()) {
    if (std::ranges::find(kKeys, member.key) != kKeys.end()) return DeltaForm::kKubernetes;
    form = DeltaForm::kSnapshot;
  }
  return form;
}

DeltaForm form_of_removals(json::JsonValue remove) {
  if (!remove) return DeltaForm::kNone;
  if (remove.is(json::JsonKind::kArray)) return DeltaForm::kKubernetes;
  return remove.is(json::JsonKind::kObject) && remove.size() == 0 ? DeltaForm::kNone : DeltaForm::kSnapshot;
}

void know_resources(SnapshotInput& input, const KeptSnapshot& state) {
  const auto& names = state.snapshot().resource_names.raw();
  for (std::size_t at = input.snapshot.resource_names.size(); at < names.size(); ++at)
    input.resource_index.emplace(names[at], input.snapshot.resource_names.push_back(names[at]));
}

}  // namespace

Result<SnapshotDelta> DeltaReader::read_whole(std::string_view text) {
  has_step_ = false;
  if (auto error = document_.parse(text, options_.limits)) return *std::move(error);
  SnapshotDelta delta;
  SnapshotInput input(options_.lenient, delta.set);
  input.threads = options_.threads;
  const json::JsonValue root = document_.root();
  if (!muster_v1::read_snapshot(input, root)) return std::move(input.error);
  note_values(root, delta);
  take_templates(input, root, delta);
  return delta;
}

Result<SequenceStep> DeltaReader::read_step(std::string_view text) {
  has_step_ = false;
  if (auto error = document_.parse(text, options_.limits)) return *std::move(error);
  json::Reading reading{options_.lenient, nullptr, {}};
  DeltaKeys keys;
  SequenceStep step;
  if (!read_keys(reading, document_.root(), keys)) return std::move(reading.error);
  if (keys.format) {
    if (!reading.expect(keys.format, json::JsonKind::kString)) return std::move(reading.error);
    if (keys.format.string() != kFormat) {
      return InputError{ErrorCode::kUnsupportedFormat, "$.format",
                        "the format is \"" + std::string(keys.format.string()) + "\"; it must be \"muster/v1\""};
    }
  }
  if (!read_sequence(reading, keys.from, step.from) || !read_sequence(reading, keys.to, step.to))
    return std::move(reading.error);
  if (step.to <= step.from) return InputError{ErrorCode::kInvalidValue, "$.to", "must be greater than \"from\""};
  has_step_ = true;
  set_ = keys.set;
  remove_ = keys.remove;
  return step;
}

Result<DeltaForm> DeltaReader::read_form() {
  MUSTER_REQUIRE(has_step_);
  const DeltaForm set = form_of_set(set_), remove = form_of_removals(remove_);
  if (set == DeltaForm::kNone) return remove;
  if (remove == DeltaForm::kNone || remove == set) return set;
  const bool is_snapshot = set == DeltaForm::kSnapshot;
  return InputError{ErrorCode::kInvalidValue, "$.remove",
                    is_snapshot ? "\"set\" is in the form of a snapshot; \"remove\" must be an object of lists of names"
                                : "\"set\" holds Kubernetes objects; \"remove\" must be a list of such objects"};
}

std::optional<InputError> DeltaReader::change(ClusterObjects& objects) {
  MUSTER_REQUIRE(has_step_);
  const json::JsonValue none;
  return objects.change(form_of_set(set_) == DeltaForm::kNone ? none : set_,
                        form_of_removals(remove_) == DeltaForm::kNone ? none : remove_);
}

Result<SnapshotDelta> DeltaReader::read_delta(const KeptSnapshot& state) {
  MUSTER_REQUIRE(has_step_);
  SnapshotDelta delta;
  SnapshotInput input(options_.lenient, delta.set);
  input.threads = options_.threads;
  input.earlier_template = [&state](std::string_view name) { return state.find_template(name); };
  know_resources(input, state);
  DeltaKeys keys;
  if (!read_keys(input, document_.root(), keys)) return std::move(input.error);
  if (keys.set) {
    if (!muster_v1::read_snapshot_part(input, keys.set)) return std::move(input.error);
    note_values(keys.set, delta);
    take_templates(input, keys.set, delta);
  }
  json::KeyOrder order;
  json::Reading& reading = input;
  if (keys.remove && !json::read_fields(reading, keys.remove, kRemovalFields, delta.remove, order))
    return std::move(input.error);
  return delta;
}

}  // namespace muster::state
