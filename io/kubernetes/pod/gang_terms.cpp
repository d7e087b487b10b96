#include "io/kubernetes/pod/gang_terms.h"

#include <algorithm>
#include <limits>

namespace muster::kubernetes {

namespace {

constexpr Nanoseconds kNanosecondsOfSecond = 1'000'000'000;
constexpr Nanoseconds kDefaultTimeout = 15 * 60 * kNanosecondsOfSecond;  // of YuniKorn's placeholders

std::optional<TaskGroup> read_task_group(json::JsonValue object) {
  TaskGroup group;
  bool has_resources = false;
  if (!object.is(json::JsonKind::kObject)) return std::nullopt;
  for (const json::JsonMember member : object.members()) {
    if (member.key == "name" && member.value.is(json::JsonKind::kString)) group.name = member.value.string();
    if (member.key == "minResource") has_resources = member.value.is(json::JsonKind::kObject);
    if (member.key != "minMember" || !member.value.is(json::JsonKind::kInteger)) continue;
    if (member.value.integer() > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    group.min_member = static_cast<std::int32_t>(std::max<std::int64_t>(0, member.value.integer()));
  }
  if (group.name.empty() || group.min_member == 0 || !has_resources) return std::nullopt;
  return group;
}

}  // namespace

std::optional<std::vector<TaskGroup>> read_task_groups(std::string_view text) {
  const AnnotationJson list(text, json::JsonKind::kArray);
  if (!list) return std::nullopt;
  std::vector<TaskGroup> groups;
  for (const json::JsonValue element : list.root().elements()) {
    auto group = read_task_group(element);
    if (!group || std::ranges::find(groups, group->name, &TaskGroup::name) != groups.end()) return std::nullopt;
    groups.push_back(*std::move(group));
  }
  return groups;
}

std::optional<std::vector<std::string>> read_gang_list(std::string_view text, std::string_view namespace_name) {
  const AnnotationJson list(text, json::JsonKind::kArray);
  if (!list) return std::nullopt;
  std::vector<std::string> names;
  for (const json::JsonValue element : list.root().elements()) {
    if (!element.is(json::JsonKind::kString) || element.string().empty()) return std::nullopt;
    const bool has_namespace = element.string().find('/') != std::string_view::npos;
    std::string name = has_namespace ? std::string() : std::string(namespace_name).append("/");
    names.push_back(std::move(name.append(element.string())));
  }
  std::ranges::sort(names);
  const auto rest = std::ranges::unique(names);
  names.erase(rest.begin(), rest.end());
  return names;
}

PolicyParameters read_policy_parameters(std::string_view text) {
  PolicyParameters parameters;
  while (!text.empty()) {
    std::string_view value = next_part(text, " ");
    const std::string_view key = next_part(value, "=");
    if (key == "gangSchedulingStyle") parameters.is_hard = value == "Hard";
    if (key != "placeholderTimeoutInSeconds") continue;
    constexpr std::int64_t kMostSeconds = std::numeric_limits<Nanoseconds>::max() / kNanosecondsOfSecond;
    parameters.timeout = std::min(whole_number(value).value_or(0), kMostSeconds) * kNanosecondsOfSecond;
  }
  if (parameters.timeout == 0) parameters.timeout = kDefaultTimeout;
  return parameters;
}

}  // namespace muster::kubernetes
