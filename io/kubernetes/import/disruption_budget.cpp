#include "io/kubernetes/import/disruption_budget.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::kubernetes {

namespace {

bool whole_number(KubernetesReading& in, json::JsonValue value, std::int64_t& out) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return !value || in.read_integer(value, std::numeric_limits<std::int64_t>::min(), kMost, out);
}

}  // namespace

bool import_disruption_budget(KubernetesReading& in, const KubernetesObject& object, json::JsonWriter& writer) {
  static constexpr std::array<std::string_view, 2> kSpecKeys = {"selector", "unhealthyPodEvictionPolicy"};
  static constexpr std::array<std::string_view, 2> kStatusKeys = {"disruptionsAllowed", "observedGeneration"};
  std::array<json::JsonValue, 2> spec, status;
  json::JsonValue generation;
  std::int64_t allowed = 0, observed = 0, current = 0;
  std::string_view unhealthy;
  if (!in.take(object.spec, kSpecKeys, spec) || !in.take(object.status, kStatusKeys, status) ||
      !in.take(object.metadata, "generation", generation) || !in.text(spec[1], unhealthy) ||
      !whole_number(in, status[0], allowed) || !whole_number(in, status[1], observed) ||
      !whole_number(in, generation, current)) {
    return false;
  }
  if (unhealthy == "AlwaysAllow")
    in.remarks.add("unhealthyPodEvictionPolicy AlwaysAllow is ignored: pods that are not ready count as well", object);
  if (!status[0]) {
    in.remarks.add("a PodDisruptionBudget has no status yet, so none of its pods may be evicted", object);
  } else if (observed < current) {
    in.remarks.add(
        "the status of a PodDisruptionBudget is behind its specification, so none of its pods may be evicted", object);
    allowed = 0;
  }
  writer.raw(R"({"name":)").string(object.name).raw(R"(,"namespace":)").string(object.namespace_name);
  if (spec[0]) {
    writer.raw(R"(,"selector":)");
    write_json(writer, in.numbers, spec[0]);
  }
  writer.raw(R"(,"allowed":)").integer(std::max<std::int64_t>(0, allowed)).raw(R"(,"exclusive":true})");
  return true;
}

void write_unclear_budget(KubernetesReading& in, const KubernetesObject& object, std::string_view why,
                          json::JsonWriter& writer) {
  writer.raw(R"({"name":)").string(object.name).raw(R"(,"namespace":)").string(object.namespace_name);
  json::JsonValue selector;
  const bool has_spec = object.spec && object.spec.is(json::JsonKind::kObject);
  if (has_spec && in.tried(in.take(object.spec, "selector", selector)) && selector) {
    writer.raw(R"(,"selector":)");
    write_json(writer, in.numbers, selector);
  }
  writer.raw(R"(,"allowed":0,"exclusive":true,"unclear":)").string(why).raw("}");
}

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

// The parts between the commas that are in no parentheses.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '(') ++depth;
    if (at < text.size() && text[at] == ')') --depth;
    if (at < text.size() && (text[at] != ',' || depth != 0)) continue;
    parts.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  return parts;
}

bool is_word(std::string_view text, std::string_view also) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}
bool is_key(std::string_view text) { return !text.empty() && is_word(text, "-_./"); }
bool is_value(std::string_view text) { return is_word(text, "-_."); }

// `key in (a,b)`; none: it is not of that form.
std::optional<SelectorRequirement> set_requirement(std::string_view part) {
  const std::size_t open = part.find('(');
  if (open == std::string_view::npos || !part.ends_with(')')) return std::nullopt;
  const std::string_view head = trimmed(part.substr(0, open));
  const std::size_t space = head.find_last_of(" \t");
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = head.substr(space + 1);
  if (word != "in" && word != "notin") return std::nullopt;
  SelectorRequirement made{
      trimmed(head.substr(0, space)), word == "in" ? SelectorOperator::kIn : SelectorOperator::kNotIn, {}};
  made.values = parts_of(part.substr(open + 1, part.size() - open - 2));
  return made;
}

SelectorRequirement requirement_of(std::string_view part) {
  if (auto set = set_requirement(part)) return *std::move(set);
  if (part.starts_with('!')) return {trimmed(part.substr(1)), SelectorOperator::kDoesNotExist, {}};
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return {part, SelectorOperator::kExists, {}};
  const bool is_not = equals > 0 && part[equals - 1] == '!';
  const std::size_t value = part.substr(equals).starts_with("==") ? equals + 2 : equals + 1;
  return {trimmed(part.substr(0, is_not ? equals - 1 : equals)),
          is_not ? SelectorOperator::kNotIn : SelectorOperator::kIn,
          {trimmed(part.substr(value))}};
}

}  // namespace

Result<LabelSelector> parse_label_selector(std::string_view text) {
  LabelSelector selector;
  for (const std::string_view part : parts_of(text)) {
    SelectorRequirement made = requirement_of(part);
    if (!is_key(made.key) || !std::ranges::all_of(made.values, is_value)) {
      return InputError{ErrorCode::kInvalidValue, "",
                        "\"" + std::string(part) +
                            "\" is not a label requirement; write key=value, key!=value, key in (a,b), "
                            "key notin (a,b), key or !key, separated by commas"};
    }
    selector.requirements.push_back(std::move(made));
  }
  return selector;
}

}  // namespace muster::kubernetes
