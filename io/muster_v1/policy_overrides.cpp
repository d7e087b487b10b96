#include "io/muster_v1/policy_overrides.h"

#include <algorithm>
#include <map>
#include <utility>

#include "io/muster_v1/label_selector_text.h"
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

}  // namespace muster::muster_v1
