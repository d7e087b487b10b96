#include "io/kubernetes/object/object.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>

#include "model/base/require.h"

namespace muster::kubernetes {

std::string KubernetesObject::title() const {
  std::string text(kind.empty() ? std::string_view("object") : kind);
  text += ' ';
  if (!namespace_name.empty()) text.append(namespace_name).append("/");
  text += name.empty() ? std::string_view("without a name") : name;
  return text;
}

std::string KubernetesObject::full_name() const {
  std::string text(namespace_name);
  if (!text.empty()) text += '/';
  return text.append(name);
}

void KubernetesRemarks::add(std::string_view what, const KubernetesObject& object) {
  const auto known = std::ranges::find(remarks_, what, &Remark::what);
  if (known == remarks_.end()) return add(what, object.title());
  ++known->count;
}

void KubernetesRemarks::add(std::string_view what, std::string_view title) {
  const auto known = std::ranges::find(remarks_, what, &Remark::what);
  if (known == remarks_.end()) {
    remarks_.push_back({std::string(what), 1, std::string(title)});
  } else {
    ++known->count;
  }
}

std::vector<std::string> KubernetesRemarks::sentences() const {
  std::vector<std::string> all;
  for (const Remark& remark : remarks_) {
    std::string sentence = std::to_string(remark.count) + (remark.count == 1 ? " time: " : " times: ");
    all.push_back(sentence.append(remark.what).append("; first: ").append(remark.first));
  }
  return all;
}

namespace {

// The place of an error in an object; empty: it is the object itself, or unknown.
std::string place_in(json::JsonValue object, const InputError& error) {
  if (error.path.empty() || !object) return {};
  const std::string root = path_of(object);
  const bool is_inside = error.path.size() > root.size() + 1 && error.path.starts_with(root);
  return is_inside ? error.path.substr(root.size() + (error.path[root.size()] == '.' ? 1 : 0)) : std::string();
}

}  // namespace

std::string reason_in(json::JsonValue object, const InputError& error) {
  const std::string place = place_in(object, error);
  return place.empty() ? error.message : place + ": " + error.message;
}

std::string KubernetesReading::take_reason(const KubernetesObject& object) {
  constexpr std::size_t kMostCharacters = 80;
  InputError wrong = std::exchange(error, {});
  std::string place = place_in(object.value, wrong);
  if (place.empty()) return std::move(wrong.message);
  const bool is_known = culprit && path_of(culprit) == wrong.path && culprit.is(json::JsonKind::kString);
  if (is_known && culprit.string().size() <= kMostCharacters)
    place.append(" is \"").append(culprit.string()).append("\"");
  return place + ": " + wrong.message;
}

void KubernetesReading::look_for_unread(KubernetesObject& object) {
  std::vector<known::Unread> found;
  known::find_unread(object.keys(), found);
  if (!found.empty()) object.hold = unread.add(object.kind, object.full_name(), found);
}

void KubernetesReading::warn(const KubernetesObject& object, std::string_view outcome) {
  std::string kind(object.kind), name(object.namespace_name);
  if (!kind.empty()) kind[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(kind[0])));
  if (!name.empty()) name += '/';
  name += object.name;
  if (object.name.empty()) name = error.path;
  warnings.push_back({error.code, std::move(kind), std::move(name), error.message.append("; ").append(outcome)});
  with_paths = warnings.size() < Anomalies::kMostWarnings;
  error = {};
}

bool KubernetesReading::take(json::JsonValue object, std::string_view key, json::JsonValue& out) {
  std::array<json::JsonValue, 1> found;
  if (!take(object, std::array<std::string_view, 1>{key}, found)) return false;
  out = found[0];
  return true;
}

bool KubernetesReading::text(json::JsonValue value, std::string_view& out) {
  if (!value) return true;
  if (!expect(value, json::JsonKind::kString)) return false;
  out = value.string();
  return true;
}

bool KubernetesReading::flag(json::JsonValue value, bool& out) { return !value || read(value, out); }

bool KubernetesReading::count(json::JsonValue value, std::optional<std::int32_t>& out) {
  return !value || read_count(value, 0, out.emplace());
}

bool KubernetesReading::priority(json::JsonValue value, std::optional<std::int32_t>& out) {
  if (!value) return true;
  using Limits = std::numeric_limits<std::int32_t>;
  std::int64_t wide = 0;
  if (!read_integer(value, Limits::min(), Limits::max(), wide)) return false;
  out = static_cast<std::int32_t>(wide);
  return true;
}

bool KubernetesReading::instant(json::JsonValue value, std::string_view& out) {
  if (!value) return true;
  if (!expect(value, json::JsonKind::kString)) return false;
  const Result<Nanoseconds> parsed = parse_instant(value.string());
  if (!parsed) return fail_value(value, parsed.error().message);
  out = value.string();
  return true;
}

bool KubernetesReading::has_elements(json::JsonValue list, bool& out) {
  if (!list) return true;
  if (!expect(list, json::JsonKind::kArray)) return false;
  out = list.size() > 0;
  return true;
}

bool KubernetesReading::digits(json::JsonValue value, std::int64_t& out) {
  if (!expect(value, json::JsonKind::kString)) return false;
  const std::string_view written = value.string();
  const auto [end, code] = std::from_chars(written.data(), written.data() + written.size(), out);
  if (code == std::errc() && end == written.data() + written.size() && out >= 0) return true;
  return fail_value(value, "must be a whole number of at least 0, in digits");
}

bool read_controller(KubernetesReading& in, json::JsonValue owners, std::string_view& kind, std::string_view& name) {
  static constexpr std::array<std::string_view, 3> kKeys = {"controller", "kind", "name"};
  bool has_any = false, found_controller = false, is_first = true;
  if (!in.has_elements(owners, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue owner : owners.elements()) {
    std::array<json::JsonValue, 3> found;
    std::string_view one_kind, one_name;
    bool is_controller = false;
    if (!in.expect(owner, json::JsonKind::kObject) || !in.take(owner, kKeys, found) ||
        !in.flag(found[0], is_controller) || !in.text(found[1], one_kind) || !in.text(found[2], one_name)) {
      return false;
    }
    if (is_first || (is_controller && !found_controller)) {
      kind = one_kind;
      name = one_name;
    }
    found_controller = found_controller || is_controller;
    is_first = false;
  }
  return true;
}

json::JsonValue member_of(json::JsonValue object, std::string_view key) {
  if (!object || !object.is(json::JsonKind::kObject)) return {};
  for (const json::JsonMember member : object.members()) {
    if (member.key == key) return member.value;
  }
  return {};
}

void split_api_version(std::string_view api_version, KubernetesObject& object) {
  const std::size_t slash = api_version.rfind('/');
  object.group = slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  object.version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
}

bool is_earlier(std::string_view a, std::string_view b) {
  constexpr std::size_t kWholeSeconds = std::string_view("2026-03-01T10:00:00Z").size();
  MUSTER_REQUIRE_SLOW(parse_instant(a) && parse_instant(b));
  if (a.size() == kWholeSeconds && b.size() == kWholeSeconds) return a < b;  // both in UTC
  const auto instant_a = parse_instant(a), instant_b = parse_instant(b);
  MUSTER_REQUIRE(instant_a && instant_b);
  return *instant_a < *instant_b;
}

void write_json(json::JsonWriter& writer, json::NumberCursor& numbers, json::JsonValue value) {
  bool first = true;
  switch (value.kind()) {
    case json::JsonKind::kObject:
      writer.raw("{");
      for (const json::JsonMember member : value.members()) {
        if (member.value.is(json::JsonKind::kNull)) continue;
        writer.separate(first).string(member.key).raw(":");
        write_json(writer, numbers, member.value);
      }
      writer.raw("}");
      return;
    case json::JsonKind::kArray:
      writer.raw("[");
      for (const json::JsonValue element : value.elements()) {
        writer.separate(first);
        write_json(writer, numbers, element);
      }
      writer.raw("]");
      return;
    case json::JsonKind::kString:
      writer.string(value.string());
      return;
    case json::JsonKind::kInteger:
      writer.integer(value.integer());
      return;
    case json::JsonKind::kUnsigned:
    case json::JsonKind::kDouble:
      writer.raw(json::number_text(value, numbers));
      return;
    case json::JsonKind::kTrue:
      writer.raw("true");
      return;
    case json::JsonKind::kFalse:
      writer.raw("false");
      return;
    case json::JsonKind::kNull:
      writer.raw("null");
      return;
  }
}

void configure(const KubernetesOptions& options, KubernetesReading& reading) {
  reading.strict = options.strict;
  if (!options.duration_annotation.empty()) reading.duration_annotation = options.duration_annotation;
  if (!options.kai_scheduler.empty()) reading.kai.scheduler = options.kai_scheduler;
  if (!options.kai_queue_label.empty()) reading.kai.queue_label = options.kai_queue_label;
  reading.planned_gate = options.planned_gate;
}

bool reads_alike(const KubernetesOptions& one, const KubernetesOptions& other) {
  const auto of = [](const KubernetesOptions& options) {
    return std::tie(options.strict, options.duration_annotation, options.kai_scheduler, options.kai_queue_label,
                    options.planned_gate);
  };
  return of(one) == of(other);
}

}  // namespace muster::kubernetes
