// Settings of a command that override the policy of every snapshot it reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {

struct PolicyOverrides {
  std::vector<std::string> schedulers;    // in place of the policy's; empty: the policy's
  std::optional<Actions> actions;         // in place of the policy's
  bool no_evictions = false;              // no running pod is evicted or moved, whatever the actions are
  std::optional<std::int64_t> max_moves;  // the policy's if that is less
  std::optional<SeniorityRule> order;     // in place of overTime.order
  std::vector<std::string> protect;       // label selectors, in addition to the policy's
};

// Requires selectors in `protect` that parse_label_selector accepts.
void apply(const PolicyOverrides& overrides, Snapshot& snapshot);

// If pods of several schedulers wait and the policy names none: a sentence that names them; else empty.
std::string remark_on_schedulers(const Snapshot& snapshot);

// "place,preempt" and "kai-scheduler,default-scheduler". Errors: InvalidValue; the message names what is wrong, and the
// actions that there are.
Result<Actions> parse_actions(std::string_view text);
Result<std::vector<std::string>> parse_scheduler_names(std::string_view text);

// The names of a policy's actions.
inline constexpr std::array<std::pair<std::string_view, bool Actions::*>, 5> kActionNames = {
    {{"place", &Actions::place},
     {"consolidate", &Actions::consolidate},
     {"reclaim", &Actions::reclaim},
     {"preempt", &Actions::preempt},
     {"stale", &Actions::stale}}};

// A label selector in the syntax of kubectl: "team=infra,tier in (prod, edge),!spot".
//
// Requirements between commas: `key=value`, `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key`,
// `!key`. The selector's words are views of `text`. Errors: InvalidValue; the message names the requirement.
Result<LabelSelector> parse_label_selector(std::string_view text);

}  // namespace muster::muster_v1
