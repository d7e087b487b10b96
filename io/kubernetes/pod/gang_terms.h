// Gangs in the words of Koordinator and YuniKorn: what their labels and annotations say, and the texts in them.
//
// Sources: Koordinator apis/extension/coscheduling.go and pkg/scheduler/plugins/coscheduling; YuniKorn
// pkg/common/constants and pkg/cache/gang_utils.go of yunikorn-k8shim (July and August 2026).
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// Of a pod or a PodGroup; empty: not set.
struct DialectLabels {
  std::string_view gang_groups;        // Koordinator: the gangs that start together, a JSON list of names
  std::string_view match_policy;       // Koordinator: which pods count towards the minimum
  std::string_view task_groups;        // YuniKorn: the minimums of an application, a JSON list
  std::string_view task_group;         // YuniKorn: that of the pod
  std::string_view policy_parameters;  // YuniKorn: style and timeout
  bool is_koordinator = false;         // a PodGroup has annotations of Koordinator, or a pod its scheduler
  bool is_placeholder = false;         // YuniKorn: the pod keeps room for another one of its task group
  std::optional<bool> allows_preemption;
};

struct TaskGroup {
  std::string name;
  std::int32_t min_member = 0;
};

// YuniKorn's list of task groups. None: YuniKorn rejects the text.
std::optional<std::vector<TaskGroup>> read_task_groups(std::string_view text);

// Koordinator's list of gangs, each `namespace/name`; a name alone is in `namespace_name`. Sorted, each once. None: no
// list of names.
std::optional<std::vector<std::string>> read_gang_list(std::string_view text, std::string_view namespace_name);

// YuniKorn's `key=value` pairs with a space between them; unknown ones are passed over, as YuniKorn does.
struct PolicyParameters {
  bool is_hard = false;  // absent: soft, so that after the timeout each pod starts by itself
  Nanoseconds timeout = 0;
};
PolicyParameters read_policy_parameters(std::string_view text);

// Texts in annotations: lists with separators, and JSON.
inline constexpr std::int64_t kBytesOfMib = std::int64_t{1} << 20;

// The text before the first of the separators, or all of it; taken from `text` with the separator.
inline std::string_view next_part(std::string_view& text, std::string_view separators) {
  const std::size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// Decimal digits alone. None: anything else.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// A value of this kind, with its document.
class AnnotationJson {
 public:
  AnnotationJson(std::string_view text, json::JsonKind kind) {
    constexpr std::size_t kMostAnnotationDepth = 16;
    is_valid_ = !document_.parse(text, {text.size(), kMostAnnotationDepth}) && document_.root().is(kind);
  }
  explicit operator bool() const { return is_valid_; }
  // Requires that it is one. Valid as long as this object.
  json::JsonValue root() const { return document_.root(); }

 private:
  json::JsonDocument document_;
  bool is_valid_ = false;
};

}  // namespace muster::kubernetes
