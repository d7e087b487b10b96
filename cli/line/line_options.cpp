#include "cli/line/line_options.h"

#include <cstdint>
#include <limits>
#include <string>

#include "model/base/parallel.h"

namespace muster::cli {
namespace {

// Empty: the annotation of Muster's own.
std::string duration_annotation(const Settings& settings) {
  const auto key = settings.text("duration-annotation");
  if (key && key->empty())
    throw UsageError("--duration-annotation: the key is empty; give one such as example.com/limit");
  return key.value_or("");
}

}  // namespace

LineOptions line_options(const Settings& settings) {
  LineOptions options;
  options.budget = settings.duration("budget").value_or(options.budget);
  options.remedies = settings.integer("remedies", 0, std::numeric_limits<std::int32_t>::max()).value_or(0);
  portfolio::SolveOptions& solve = options.solve;
  const std::string engine = settings.choice("engine");
  solve.engine = engine == "greedy" ? portfolio::Engine::kGreedy
                 : engine == "milp" ? portfolio::Engine::kMilp
                                    : portfolio::Engine::kAuto;
  solve.threads = static_cast<std::int32_t>(settings.integer("threads", 1, 1024).value_or(usable_cores()));
  solve.seed =
      static_cast<std::uint64_t>(settings.integer("seed", 0, std::numeric_limits<std::int64_t>::max()).value_or(1));
  solve.gap = settings.fraction("gap").value_or(0);
  solve.deterministic = settings.is_on("deterministic");
  solve.write_model = settings.text("write-model").value_or("");
  return options;
}

std::vector<OptionRow> with_policy_options(std::vector<OptionRow> others) {
  std::vector<OptionRow> rows = {
      {"scheduler-name", "NAMES", "plan only pods of these schedulers, separated by commas (default: the policy's)"},
      {"actions", "NAMES",
       "allow these of place, consolidate, reclaim, preempt, stale, separated by commas (default: the policy's)"},
      {"no-evictions", "", "evict and move no running pod"},
      {"max-moves", "N", "move at most N running pods per plan; a smaller maxMoves of the policy applies"},
      {"order", "RULE", "by which gangs are senior: expected-duration, waited (default: overTime.order of the policy)",
       kNoLetter, "expected-duration waited"},
      planned_gate_row(),
      {"protect", "SELECTOR", "never evict or move pods with these labels: \"team=infra,tier in (prod)\""}};
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

muster_v1::PolicyOverrides policy_overrides(const Settings& settings) {
  const auto refuse = [](const char* flag, const InputError& error) {
    throw UsageError(std::string(flag) + ": " + error.message);
  };
  muster_v1::PolicyOverrides overrides;
  if (const auto names = settings.text("scheduler-name")) {
    auto parsed = muster_v1::parse_scheduler_names(*names);
    parsed ? void(overrides.schedulers = *std::move(parsed)) : refuse("--scheduler-name", parsed.error());
  }
  if (const auto names = settings.text("actions")) {
    const auto parsed = muster_v1::parse_actions(*names);
    parsed ? void(overrides.actions = *parsed) : refuse("--actions", parsed.error());
  }
  overrides.no_evictions = settings.is_on("no-evictions");
  overrides.max_moves = settings.integer("max-moves", 0, std::numeric_limits<std::int64_t>::max());
  if (settings.text("order")) {
    const bool is_waited = settings.choice("order") == "waited";
    overrides.order = is_waited ? SeniorityRule::kWaited : SeniorityRule::kExpectedDuration;
  }
  if (const auto selector = settings.text("protect")) {
    const auto parsed = muster_v1::parse_label_selector(*selector);
    parsed ? void(overrides.protect = {std::string(*selector)}) : refuse("--protect", parsed.error());
  }
  return overrides;
}

OptionRow remedies_row() {
  return {"remedies", "N",
          "find what would start the first N gangs that wait, if the plan is ready before its time (default 0)"};
}

OptionRow planned_gate_row() {
  return {"planned-gate", "NAME",
          "plan the pods with this scheduling gate, and leave all others that wait to their schedulers"};
}

kubernetes::KubernetesOptions kubernetes_options(const Settings& settings) {
  kubernetes::KubernetesOptions options;
  options.time = settings.instant("time");
  options.strict = settings.is_on("strict");
  options.duration_annotation = duration_annotation(settings);
  options.planned_gate = settings.text("planned-gate").value_or("");
  return options;
}

OptionRow duration_annotation_row() {
  return {"duration-annotation", "KEY",
          "the annotation of pods that tells how long they run (default muster/expected-duration)"};
}

muster_v1::ReaderOptions reader_options(const Settings& settings) {
  muster_v1::ReaderOptions options;
  options.lenient = settings.is_on("lenient");
  options.kubernetes = kubernetes_options(settings);
  options.strict = options.kubernetes.strict;
  options.policy = policy_overrides(settings);
  const auto max_line = settings.integer("max-line-bytes", 1, std::int64_t{1} << 32);
  if (max_line) options.max_line_bytes = static_cast<std::size_t>(*max_line);
  return options;
}

}  // namespace muster::cli
