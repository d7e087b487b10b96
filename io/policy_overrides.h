// What a command says of the policy of every snapshot that it reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/snapshot.h"

namespace muster {

struct PolicyOverrides {
  std::vector<std::string> schedulers;    // in place of the policy's; empty: the policy's
  std::optional<Actions> actions;         // in place of the policy's
  bool no_evictions = false;              // nothing that runs is evicted or moved, whatever the actions say
  std::optional<std::int64_t> max_moves;  // the policy's where that is less
  std::vector<std::string> protect;       // label selectors, beside the policy's
};

// Requires selectors in `protect` that parse_label_selector takes.
void apply(const PolicyOverrides& overrides, Snapshot& snapshot);

// Where pods of several schedulers wait and the policy names none: a sentence that names them; else empty.
std::string remark_on_schedulers(const Snapshot& snapshot);

// "place,preempt" and "kai-scheduler,default-scheduler". Errors: InvalidValue; the message names what is wrong, and the
// actions that there are.
Result<Actions> parse_actions(std::string_view text);
Result<std::vector<std::string>> parse_scheduler_names(std::string_view text);

}  // namespace muster
