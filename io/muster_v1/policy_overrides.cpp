#include "io/muster_v1/policy_overrides.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/base/require.h"

namespace muster::muster_v1 {

namespace {

std::vector<std::string_view> names_of(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string_view name = text.substr(at, end - at);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    names.push_back(name);
    at = end + 1;
  }
  return names;
}

}  // namespace

void apply(const PolicyOverrides& overrides, Snapshot& snapshot) {
  Policy& policy = snapshot.policy;
  if (!overrides.schedulers.empty()) policy.schedulers.clear();
  for (const std::string& name : overrides.schedulers) policy.schedulers.push_back(snapshot.text.store(name));
  if (overrides.actions) policy.actions = *overrides.actions;
  if (overrides.no_evictions) policy.actions = {policy.actions.place, false, false, false, false};
  if (overrides.max_moves)
    policy.max_moves = std::min(*overrides.max_moves, policy.max_moves.value_or(*overrides.max_moves));
  if (overrides.order) policy.over_time.order = *overrides.order;
  for (const std::string& text : overrides.protect) {
    Result<LabelSelector> selector = parse_label_selector(snapshot.text.store(text));
    MUSTER_REQUIRE(selector);
    policy.protect.push_back(*std::move(selector));
  }
}

std::string remark_on_schedulers(const Snapshot& snapshot) {
  if (!snapshot.policy.schedulers.empty()) return "";
  std::map<std::string_view, std::int64_t> waiting;
  for (const SnapshotPod& pod : snapshot.pods) {
    if (pod.status == PodStatus::kPending || pod.status == PodStatus::kGated) ++waiting[scheduler_of(pod)];
  }
  if (waiting.size() < 2) return "";
  std::string names;
  for (const auto& [name, pods] : waiting) {
    names.append(names.empty() ? "" : ", ").append(name).append(" (").append(std::to_string(pods)).append(")");
  }
  return "pods of several schedulers are pending, and Muster plans all of them: " + names +
         "; select schedulers with --scheduler-name";
}

Result<Actions> parse_actions(std::string_view text) {
  Actions actions{false, false, false, false, false};
  for (const std::string_view name : names_of(text)) {
    const auto known = std::ranges::find(kActionNames, name, [](const auto& action) { return action.first; });
    if (known == kActionNames.end()) {
      return InputError{ErrorCode::kInvalidValue, "",
                        "unknown action \"" + std::string(name) +
                            "\"; the actions are place, consolidate, reclaim, preempt and stale"};
    }
    actions.*known->second = true;
  }
  return actions;
}

Result<std::vector<std::string>> parse_scheduler_names(std::string_view text) {
  std::vector<std::string> schedulers;
  for (const std::string_view name : names_of(text)) {
    if (name.empty())
      return InputError{ErrorCode::kInvalidValue, "", "a name is empty; separate names with single commas"};
    schedulers.emplace_back(name);
  }
  return schedulers;
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

}  // namespace muster::muster_v1
