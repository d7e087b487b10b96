#include "io/kubernetes/templates/pod_maker.h"

#include <algorithm>
#include <numeric>

#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

bool is_listed(std::string_view list, std::string_view word) {
  return !word.empty() && list.find(std::string(" ").append(word).append(" ")) != std::string_view::npos;
}

bool read_policy_of_gang(KubernetesReading& in, const PodMaker& maker, GangPolicy& out) {
  static constexpr std::array<std::string_view, 7> kKeys = {
      "minAvailable",      "minResources", "networkTopology",       "priorityClass",
      "priorityClassName", "queue",        "scheduleTimeoutSeconds"};
  const std::string_view path = maker.row->policy;
  if (path.empty()) return true;
  json::JsonValue policy = maker.object.spec;
  std::array<json::JsonValue, 7> found;
  if ((path != "." && !take_path(in, policy, path, policy)) || !in.take(policy, kKeys, found) ||
      !in.count(found[0], out.min_available) || !in.text(found[3], out.priority_class) ||
      !in.text(found[4], out.priority_class) || !in.text(found[5], out.queue)) {
    return false;
  }
  out.is_set = static_cast<bool>(policy);
  out.min_resources = found[1];
  out.network_topology = found[2];
  out.timeout = found[6];
  return true;
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

bool read_role(KubernetesReading& in, PodMaker& maker, const RoleRow& row, std::string name, json::JsonValue value) {
  static constexpr std::array<std::string_view, 2> kKeys = {"metadata", "spec"};
  PodRole role;
  json::JsonValue pod_template;
  std::array<json::JsonValue, 2> parts;
  std::optional<std::int32_t> sets, size;
  if (!in.expect(value, json::JsonKind::kObject) || !take_path(in, value, row.pod_template, pod_template) ||
      !in.take(pod_template, kKeys, parts) || !take_count(in, value, row.sets, sets) ||
      !take_count(in, value, row.size, size)) {
    return false;
  }
  role.row = &row;
  role.name = std::move(name);
  role.value = value;
  role.metadata = parts[0];
  role.spec = parts[1];
  role.sets = sets.value_or(1);
  role.size = size.value_or(1);
  role.names.pattern = row.pod_name;
  role.names.labels = row.labels;
  role.names.is_counted = row.is_counted;
  if (row.adjust != nullptr && !row.adjust(in, maker, role)) return false;
  if (role.pods() == 0) role.sets = role.size = 0;
  if (role.pods() > 0 && !role.spec && role.changes.spec_text.empty())
    return in.fail_missing(pod_template ? pod_template : value, pod_template ? "spec" : "template");
  maker.roles.push_back(std::move(role));
  return true;
}

bool read_roles(KubernetesReading& in, PodMaker& maker, const RoleRow& row) {
  json::JsonValue place = maker.object.spec;
  if (!row.at.empty() && !take_path(in, place, row.at, place)) return false;
  if (!place) return true;
  if (row.shape == RoleShape::kOne) return read_role(in, maker, row, std::string(row.name), place);
  if (row.shape == RoleShape::kMap) {
    if (!in.expect(place, json::JsonKind::kObject)) return false;
    for (const json::JsonMember member : place.members()) {
      if (member.value.is(json::JsonKind::kNull)) continue;
      if (!read_role(in, maker, row, in_small_letters(member.key), member.value)) return false;
    }
    return true;
  }
  bool has_any = false;
  if (!in.has_elements(place, has_any)) return false;
  std::int64_t index = 0;
  if (!has_any) return true;
  for (const json::JsonValue element : place.elements()) {
    std::string_view name;
    if (!in.expect(element, json::JsonKind::kObject) || !take_text(in, element, row.name, name)) return false;
    if (!read_role(in, maker, row, name.empty() ? "default" + std::to_string(index) : std::string(name), element))
      return false;
    ++index;
  }
  return true;
}

// The annotations count on the object and on the templates of its pods.
void hold_exclusive(PodMaker& maker) {
  for (const std::string_view key : maker.row->exclusive) {
    for (PodRole& role : maker.roles) {
      const bool is_set =
          !text_in(maker.object.metadata, "annotations", key).empty() ||
          !text_in(maker.source.metadata, "annotations", key).empty() ||
          !text_in(role.metadata, "annotations", key).empty() ||
          !text_in(member_of(member_of(role.value, "template"), "metadata"), "annotations", key).empty();
      if (is_set && role.held.empty()) role.held = key;
    }
  }
}

}  // namespace

bool read_is_done(KubernetesReading& in, const MakerRow& row, json::JsonValue status, bool& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"status", "type"};
  std::string_view phase;
  json::JsonValue conditions;
  bool has_any = false;
  if (!row.end.phase.empty() && !take_text(in, status, row.end.phase, phase)) return false;
  out = is_listed(row.end.words, phase);
  if (row.end.conditions.empty()) return true;
  if (!in.take(status, "conditions", conditions) || !in.has_elements(conditions, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue condition : conditions.elements()) {
    std::array<json::JsonValue, 2> found;
    std::string_view is_true, type;
    if (!in.expect(condition, json::JsonKind::kObject) || !in.take(condition, kKeys, found) ||
        !in.text(found[0], is_true) || !in.text(found[1], type)) {
      return false;
    }
    out = out || (is_true == "True" && is_listed(row.end.conditions, type));
  }
  return true;
}

bool read_pods_of(KubernetesReading& in, PodMaker& maker) {
  json::JsonValue suspend;
  bool is_suspended = false;
  if (!maker.row->suspend.empty() &&
      (!take_path(in, maker.object.spec, maker.row->suspend, suspend) || !in.flag(suspend, is_suspended))) {
    return false;
  }
  maker.is_suspended = maker.is_suspended || is_suspended;
  maker.cannot = std::string(maker.row->cannot);
  if (!maker.cannot.empty()) return true;
  if (!read_policy_of_gang(in, maker, maker.policy)) return false;
  for (const RoleRow& row : maker.row->roles) {
    if (!read_roles(in, maker, row)) return false;
  }
  if (maker.row->read != nullptr && !maker.row->read(in, maker)) return false;
  hold_exclusive(maker);
  return true;
}

std::string_view find_label(const PodLabels& labels, std::string_view key) {
  for (const auto& [name, value] : labels.added) {
    if (name == key) return value;
  }
  const json::JsonValue value = member_of(labels.own, key);
  return value && value.is(json::JsonKind::kString) ? value.string() : std::string_view();
}

bool take_path(KubernetesReading& in, json::JsonValue object, std::string_view path, json::JsonValue& out) {
  json::JsonValue value = object;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    json::JsonValue next;
    if (!in.take(value, path.substr(0, dot), next)) return false;
    value = next;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  out = value;
  return true;
}

bool take_count(KubernetesReading& in, json::JsonValue object, std::string_view path,
                std::optional<std::int32_t>& out) {
  json::JsonValue value;
  if (path.empty()) return true;
  return take_path(in, object, path, value) && in.count(value, out);
}

bool take_text(KubernetesReading& in, json::JsonValue object, std::string_view path, std::string_view& out) {
  json::JsonValue value;
  return take_path(in, object, path, value) && in.text(value, out);
}

std::string_view text_in(json::JsonValue metadata, std::string_view part, std::string_view key) {
  const json::JsonValue value = member_of(member_of(metadata, part), key);
  return value && value.is(json::JsonKind::kString) ? value.string() : std::string_view();
}

bool read_pod_makers(KubernetesReading& in, const KubernetesObject& object, const FindObject& find,
                     std::vector<PodMaker>& out) {
  const MakerRow* row = find_maker_row(object.group, object.kind);
  MUSTER_REQUIRE(row != nullptr);
  PodMaker maker;
  json::JsonValue suspend;
  maker.row = row;
  maker.source = maker.object = object;
  maker.name = object.name;
  maker.name.append(row->acting.suffix);
  if (!read_is_done(in, *row, object.status, maker.is_done)) return false;
  if (!row->acting.as.empty()) {
    if (!row->suspend.empty() &&
        (!take_path(in, object.spec, row->suspend, suspend) || !in.flag(suspend, maker.is_suspended)))
      return false;
    maker.row = find_maker_row({}, row->acting.as);
    maker.object.group = maker.row->group;
    maker.object.kind = row->acting.as;
    if (row->acting.split != nullptr) return row->acting.split(in, maker, out);
    if (!row->acting.at.empty() && !take_path(in, object.spec, row->acting.at, maker.object.spec)) return false;
    if (row->acting.has_metadata && (!in.take(maker.object.spec, "metadata", maker.object.metadata) ||
                                     !in.take(maker.object.spec, "spec", maker.object.spec))) {
      return false;
    }
    if (row->acting.act != nullptr && !row->acting.act(in, find, maker)) return false;
  }
  if (!maker.cannot.empty()) {
    out.push_back(std::move(maker));
    return true;
  }
  if (!read_pods_of(in, maker)) return false;
  if (maker.row != row && row->read != nullptr && !row->read(in, maker)) return false;
  out.push_back(std::move(maker));
  return true;
}

std::int64_t PodMaker::pods() const {
  return std::accumulate(roles.begin(), roles.end(), std::int64_t{0},
                         [](std::int64_t sum, const PodRole& role) { return sum + role.pods(); });
}

std::int64_t PodMaker::least() const {
  return std::accumulate(roles.begin(), roles.end(), std::int64_t{0}, [](std::int64_t sum, const PodRole& role) {
    return sum + (role.is_outside ? 0 : role.least());
  });
}

std::string fill_pattern(std::string_view pattern, const PodMaker& maker, const PodRole& role, PodPlace place) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t open = pattern.find('{', at), close = pattern.find('}', open);
    if (close == std::string_view::npos) return text.append(pattern.substr(at));
    text.append(pattern.substr(at, open - at));
    const std::string_view word = pattern.substr(open + 1, close - open - 1);
    if (word == "name") text.append(maker.name);
    if (word == "role") text.append(role.name);
    if (word == "gang") text.append(role.gang);
    if (word == "set") text.append(std::to_string(place.set));
    if (word == "pod") text.append(std::to_string(place.pod));
    if (word == "sets") text.append(std::to_string(role.sets));
    at = close + 1;
  }
  return text;
}

bool is_of_role(std::string_view pattern) {
  return pattern.find("{set}") == std::string_view::npos && pattern.find("{pod}") == std::string_view::npos;
}

}  // namespace muster::kubernetes
