#include "cli/agent/log.h"

#include <fmt/format.h>

#include "cli/terminal/terminal.h"

namespace muster::cli {

void AgentLog::say(Severity severity, const std::string& sentence) { console_.say(severity, escaped(sentence)); }

void AgentLog::warn(const std::string& sentence) {
  ++counts_.messages;
  last_warning_ = sentence;
  say(Severity::kWarning, sentence);
}

void AgentLog::note(const Act& act, const std::string& error) {
  if (act.kind == ActKind::kTakeBack) {
    ++counts_.taken_back;
    return say(Severity::kWarning, fmt::format("the BindRequest {} has failed and is taken back{}{}", act.pod(),
                                               error.empty() ? "" : ": ", error));
  }
  if (act.kind == ActKind::kNominate) {
    if (!error.empty()) warn(fmt::format("the node of {} cannot be named: {}", act.pod(), error));
    return;
  }
  const bool is_start = act.kind == ActKind::kStart;
  ++(!error.empty() ? counts_.refused : is_start ? counts_.started : counts_.evicted);
  const std::string gang = act.object.gang.empty() ? "" : (is_start ? ", of " : ", for ") + act.object.gang;
  const std::string what = fmt::format("{} {} {} {}{}", is_start ? "start" : "evict", act.pod(),
                                       is_start ? "on" : "from", act.object.node, gang);
  if (error.empty()) return say(Severity::kInformation, what + (dry_run_ ? " (dry run)" : ""));
  say(Severity::kWarning, fmt::format("{}: refused: {}", what, error));
}

void AgentLog::remark(const std::string& remark) {
  if (remarks_.insert(remark).second) say(Severity::kInformation, "of the plan: " + remark);
}

}  // namespace muster::cli
