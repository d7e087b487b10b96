#include "io/muster_v1/snapshot_input.h"

#include <algorithm>

namespace muster::muster_v1 {

SnapshotInput::SnapshotInput(bool is_lenient, Snapshot& into)
    : json::Reading{is_lenient, &into.text, {}}, snapshot(into) {
  for (const std::string_view name : {"cpu", "memory", "pods"}) {
    resource_index.emplace(name, snapshot.resource_names.push_back(name));
  }
}

SnapshotInput::SnapshotInput(const SnapshotInput& whole, Snapshot& into)
    : json::Reading{whole.lenient, &into.text, {}},
      snapshot(into),
      may_add_resources(false),
      resource_index(whole.resource_index),
      templates(whole.templates),
      earlier_template(whole.earlier_template),
      specs(whole.specs) {
  snapshot.pod_specs = whole.snapshot.pod_specs;
}

std::string_view text_at(json::JsonValue object, std::string_view key) {
  if (!object.is(json::JsonKind::kObject)) return {};
  for (const json::JsonMember member : object.members()) {
    if (member.key == key) return member.value.is(json::JsonKind::kString) ? member.value.string() : std::string_view();
  }
  return {};
}

namespace {

// Of a path like $.pods[3].gpu: where the element ends.
std::size_t end_of_element(std::string_view path) { return std::min(path.find(']'), path.size() - 1) + 1; }

}  // namespace

std::string what_is_wrong(const InputError& error) {
  if (error.code == ErrorCode::kUnclear || error.path.empty()) return error.message;
  std::string where = error.path.substr(end_of_element(error.path));
  if (where.starts_with('.')) where.erase(0, 1);
  return where.empty() ? error.message : where + ": " + error.message;
}

void warn_of(SnapshotInput& input, const OddObject& odd, InputError error, std::string_view outcome) {
  std::string name(text_at(odd.element, "name"));
  if (name.empty()) name = error.path.empty() ? error.path : error.path.substr(0, end_of_element(error.path));
  std::string message = what_is_wrong(error).append("; ").append(outcome);
  Anomalies& anomalies = input.snapshot.anomalies;
  anomalies.tell({error.code, std::string(odd.object), std::move(name), std::move(message)});
  input.with_paths = anomalies.more == 0;
}

bool read_unclear(SnapshotInput& input, json::JsonValue value) {
  if (!input.expect(value, json::JsonKind::kString)) return false;
  return input.settling || input.fail(value, ErrorCode::kUnclear, std::string(value.string()));
}

bool SnapshotInput::read_shared_name(json::JsonValue value, std::string_view& previous, std::string_view& out) {
  if (!expect(value, json::JsonKind::kString)) return false;
  out = keep(value.string(), previous);
  if (out.empty()) return fail_value(value, "must not be empty; omit the key instead");
  return true;
}

bool SnapshotInput::find_resource(std::string_view name, json::JsonValue culprit, ResourceIndex& out) {
  const auto found = resource_index.find(name);
  if (found != resource_index.end()) {
    out = found->second;
    return true;
  }
  if (!may_add_resources)
    return fail(culprit, ErrorCode::kUnknownName, "unknown resource: the snapshot does not use it");
  if (name.empty()) return fail_value(culprit, "a resource must have a name");
  if (resource_index.size() == kMostResources) {
    return fail(culprit, ErrorCode::kTooLarge, "more than " + std::to_string(kMostResources) + " different resources");
  }
  out = snapshot.resource_names.push_back(keep(name));
  resource_index.emplace(snapshot.resource_names[out], out);
  return true;
}

bool SnapshotInput::sort_resources(std::vector<ResourceAmount>& amounts, json::JsonValue culprit) {
  std::ranges::sort(amounts, {}, &ResourceAmount::resource);
  const auto twice = std::ranges::adjacent_find(amounts, {}, &ResourceAmount::resource);
  return twice == amounts.end() ||
         fail(culprit, ErrorCode::kDuplicateKey,
              "the resource " + std::string(snapshot.resource_names[twice->resource]) + " is there twice");
}

bool SnapshotInput::read_resource(const json::JsonMember& member, Rounding rounding, ResourceAmount& out) {
  if (!find_resource(member.key, member.value, out.resource)) return false;
  const QuantityUnit unit = out.resource == kCpu ? QuantityUnit::kThousandth : QuantityUnit::kOne;
  return read_amount(member.value, {unit, rounding}, out.amount);
}

bool SnapshotInput::read_resources(json::JsonValue value, Rounding rounding, std::vector<ResourceAmount>& out) {
  if (!expect(value, json::JsonKind::kObject)) return false;
  out.reserve(value.size() + 1);
  for (const json::JsonMember member : value.members()) {
    ResourceAmount amount;
    if (!read_resource(member, rounding, amount)) return false;
    out.push_back(amount);
  }
  std::ranges::sort(out, {}, &ResourceAmount::resource);
  if (std::ranges::adjacent_find(out, {}, &ResourceAmount::resource) == out.end()) return true;
  return check_duplicates(value);
}

}  // namespace muster::muster_v1
