#include "cli/line/export_line.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/muster_v1/plan_line.h"
#include "model/build/build_problem.h"
#include "model/objective/fair_share.h"
#include "model/referee/referee.h"

namespace muster::cli {
namespace {

constexpr std::array<std::pair<std::string_view, exporting::ExportFormat>, 5> kFormats = {
    {{"bindings", exporting::ExportFormat::kBindings},
     {"patches", exporting::ExportFormat::kPatches},
     {"volcano", exporting::ExportFormat::kVolcano},
     {"kai", exporting::ExportFormat::kKai},
     {"deltas", exporting::ExportFormat::kDeltas}}};
constexpr std::array<std::pair<std::string_view, exporting::ExportPhase>, 4> kPhases = {
    {{"now", exporting::ExportPhase::kNow},
     {"evictions", exporting::ExportPhase::kEvictions},
     {"after-evictions", exporting::ExportPhase::kAfterEvictions},
     {"all", exporting::ExportPhase::kAll}}};

template <class Value, std::size_t N>
Result<Value> choice(std::string_view key, const std::string& word,
                     const std::array<std::pair<std::string_view, Value>, N>& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    names.push_back(name);
  }
  const std::string guess = did_you_mean(word, names);
  std::string all;
  for (const std::string_view name : names) all.append(all.empty() ? "" : ", ").append(name);
  return InputError{ErrorCode::kInvalidValue, std::string(key),
                    fmt::format("'{}' is not one of {}{}", escaped(word), all, guess)};
}

Result<std::vector<std::string>> names_between_commas(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    if (names.back().empty())
      return InputError{ErrorCode::kInvalidValue, "gate", fmt::format("'{}' contains an empty name", escaped(text))};
    at = end + 1;
  }
  return names;
}

// The path in the plan line of the pod that breaks a rule; of all placements if the culprit is a node, gang or queue.
std::string path_of_subject(const muster_v1::NamedPlan& plan, std::string_view subject) {
  for (std::size_t i = 0; i < plan.placements.size(); ++i) {
    if (plan.placements[i].pod == subject) return fmt::format("$.placements[{}]", i);
  }
  for (std::size_t i = 0; i < plan.evictions.size(); ++i) {
    if (plan.evictions[i].pod == subject) return fmt::format("$.evictions[{}]", i);
  }
  return "$.placements";
}

// The referee's objection to the plan as an answer to this problem; none: it has none.
std::optional<InputError> refusal(const Problem& problem, const muster_v1::NamedPlan& named) {
  const Result<Plan> plan = muster_v1::PlanResolver(problem).resolve(named);
  if (!plan) return plan.error();
  const auto violations = referee::check_plan(*problem.snapshot, problem, compute_fair_shares(problem), *plan);
  if (violations.empty()) return std::nullopt;
  const referee::Violation& first = violations.front();
  return InputError{ErrorCode::kInvalidPlan, path_of_subject(named, first.subject),
                    fmt::format("{}: {}: {}", referee::rule_name(first.rule), first.subject, first.message)};
}

// If the plan places pods of several schedulers: a sentence that names them; else empty.
std::string remark_on_schedulers(const Snapshot& snapshot, const muster_v1::NamedPlan& plan) {
  std::set<std::string_view> placed;
  for (const auto& placement : plan.placements) placed.insert(placement.pod);
  std::map<std::string_view, int> schedulers;
  for (const SnapshotPod& pod : snapshot.pods) {
    if (placed.contains(pod.name)) ++schedulers[scheduler_of(pod)];
  }
  if (schedulers.size() < 2) return "";
  std::vector<std::string> names;
  for (const auto& [name, pods] : schedulers) names.push_back(fmt::format("{} ({})", escaped(name), pods));
  return fmt::format("it places pods of several schedulers, {}; plan and export one at a time with --scheduler-name",
                     fmt::join(names, ", "));
}

Result<muster_v1::ReadPlan> read_answer(std::string_view plan_text) {
  Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(plan_text, nullptr);
  if (plan && plan->is_error)
    return InputError{ErrorCode::kNoPlan, "$.status", "the plan is an error record: " + plan->error.message};
  return plan;
}

Result<exporting::ExportedPlan> export_checked(const Result<Problem>& problem, const muster_v1::NamedPlan& plan,
                                               Result<exporting::ObjectIdentities> identities,
                                               const exporting::ExportOptions& options) {
  if (!problem) return problem.error();
  if (auto error = refusal(*problem, plan)) return *std::move(error);
  return export_passed(*problem, plan, std::move(identities), options);
}

}  // namespace

Result<exporting::ExportOptions> export_options(const ExportWords& words) {
  if (!words.format)
    return InputError{ErrorCode::kMissingKey, "format", "is missing; use bindings, patches, volcano, kai or deltas"};
  exporting::ExportOptions options;
  const auto format = choice("format", *words.format, kFormats);
  if (!format) return format.error();
  options.format = *format;
  const auto phase = choice("phase", words.phase.value_or("now"), kPhases);
  if (!phase) return phase.error();
  options.phase =
      options.format == exporting::ExportFormat::kDeltas && !words.phase ? exporting::ExportPhase::kAll : *phase;
  if (words.allows_shared) options.shared = exporting::SharedDevices::kAllow;
  if (words.gate) {
    if (options.format != exporting::ExportFormat::kPatches)
      return InputError{ErrorCode::kInvalidValue, "gate", "applies only to the format patches"};
    auto names = names_between_commas(*words.gate);
    if (!names) return names.error();
    options.gates = *std::move(names);
  }
  const bool needs_snapshot =
      options.format == exporting::ExportFormat::kKai || options.format == exporting::ExportFormat::kVolcano;
  if (needs_snapshot && !words.has_snapshot) {
    return InputError{ErrorCode::kMissingKey, "snapshot",
                      fmt::format("the format {} needs the snapshot of the plan", *words.format)};
  }
  return options;
}

Result<exporting::ExportedPlan> export_line(muster_v1::SnapshotReader& reader, std::string_view plan_text,
                                            std::optional<std::string_view> snapshot_text,
                                            const exporting::ExportOptions& options) {
  const Result<muster_v1::ReadPlan> plan = read_answer(plan_text);
  if (!plan) return plan.error();
  if (!snapshot_text) return exporting::export_plan(plan->id, plan->named, exporting::ExportCluster(), options);
  Result<exporting::ObjectIdentities> identities =
      exporting::read_identities(*snapshot_text);  // first, as it needs most memory
  kubernetes::KubernetesOptions kubernetes = reader.kubernetes();
  if (!kubernetes.time) kubernetes.time = plan->time;
  Result<Snapshot> snapshot = reader.read(*snapshot_text, kubernetes);
  if (!snapshot) return snapshot.error();
  if (plan->id != snapshot->id) {
    return InputError{ErrorCode::kOtherSnapshot, "$.id",
                      fmt::format("the plan is for snapshot '{}', but the snapshot is '{}'", plan->id, snapshot->id)};
  }
  muster_v1::fill_in(plan->histories, *snapshot);
  return export_checked(build_problem(*snapshot), plan->named, std::move(identities), options);
}

Result<exporting::ExportedPlan> export_objects(muster_v1::SnapshotReader& reader, const muster_v1::NamedPlan& plan,
                                               const kubernetes::KeptObjects& objects,
                                               const kubernetes::KubernetesOptions& kubernetes,
                                               const exporting::ExportOptions& options) {
  Result<Snapshot> snapshot = reader.read(objects, kubernetes);
  if (!snapshot) return snapshot.error();
  return export_checked(build_problem(*snapshot), plan, exporting::identities_of(objects, plan), options);
}

Result<exporting::ExportedPlan> export_passed(const Problem& problem, const muster_v1::NamedPlan& plan,
                                              Result<exporting::ObjectIdentities> identities,
                                              const exporting::ExportOptions& options) {
  if (!identities) return identities.error();
  Result<exporting::ExportedPlan> exported = exporting::export_plan(
      problem.snapshot->id, plan, exporting::ExportCluster(*std::move(identities), problem), options);
  const bool binds =
      options.format != exporting::ExportFormat::kPatches && options.format != exporting::ExportFormat::kDeltas;
  std::string remark = exported && !binds ? remark_on_schedulers(*problem.snapshot, plan) : "";
  if (!remark.empty()) exported->remarks.push_back(std::move(remark));
  return exported;
}

}  // namespace muster::cli
