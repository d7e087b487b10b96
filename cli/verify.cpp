#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/claims.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/line_source.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "io/plan_line.h"
#include "io/snapshot_reader.h"
#include "model/referee.h"

namespace muster {
namespace {

const CommandSyntax& verify_syntax() {
  static const CommandSyntax syntax{
      "muster verify SNAPSHOTS PLANS [OPTION...]",
      "Checks that line n of PLANS is a plan for line n of SNAPSHOTS that breaks no rule, and is what it claims to be. "
      "One of\n"
      "the files may be -, stdin. Blank lines do not count. What is found goes to stdout, one finding a line.",
      {{"lenient", "", "pass over keys that the format does not know"},
       {"time", "INSTANT", "as told to solve, for lines of Kubernetes objects"},
       {"quiet", "", "only the last line, which counts"},
       {"config", "FILE", "flags as NAME = VALUE lines; MUSTER_NAME variables and flags come before"}},
      2,
      2};
  return syntax;
}

// What has been found so far. Findings go out as they come.
class Findings {
 public:
  explicit Findings(bool is_quiet) : is_quiet_(is_quiet) {}

  void violation(std::int64_t line, std::string_view rule, std::string_view subject, std::string_view message) {
    ++violations_;
    tell(fmt::format("line {}: violation of {}: {}: {}\n", line, rule, escaped(subject), escaped(message)));
  }
  void false_claim(std::int64_t line, const FalseClaim& claim) {
    ++false_claims_;
    tell(fmt::format("line {}: false claim: {}: {}\n", line, escaped(claim.subject), escaped(claim.message)));
  }
  void count_plan() { ++plans_; }
  void count_valid_snapshot() { ++valid_snapshots_; }

  bool has_any() const { return violations_ + false_claims_ > 0; }
  std::int64_t plans() const { return plans_; }
  std::int64_t valid_snapshots() const { return valid_snapshots_; }
  std::string total() const {
    return fmt::format("{} plans, {} violations, {} false claims\n", plans_, violations_, false_claims_);
  }
  int output_code() const { return output_code_; }

 private:
  void tell(std::string_view text) {
    if (!is_quiet_ && output_code_ == kExitAnswered) output_code_ = print(text, kExitAnswered);
  }

  bool is_quiet_;
  int output_code_ = kExitAnswered;
  std::int64_t plans_ = 0, violations_ = 0, false_claims_ = 0, valid_snapshots_ = 0;
};

// A line that cannot be read must have an error record, with the same code.
void verify_error(std::int64_t line, const InputError& error, std::string_view plan_text, Findings& findings) {
  const Result<ReadPlan> read = read_plan(plan_text, nullptr);
  if (!read) {
    findings.violation(line, "answers", read.error().path, read.error().message);
  } else if (!read->is_error) {
    findings.violation(line, "answers", error.path, "a plan for a snapshot that cannot be read: " + error.message);
  } else if (read->error.code != error.code) {
    findings.false_claim(line, {"error", fmt::format("code {} is claimed, {} it is", read->error.code, error.code)});
  }
}

void verify_plan(std::int64_t line, const Snapshot& snapshot, const Problem& problem, std::string_view plan_text,
                 Findings& findings) {
  const Result<ReadPlan> read = read_plan(plan_text, &problem);
  if (!read) {
    findings.violation(line, "plan", read.error().path, read.error().message);
    return;
  }
  if (read->id != snapshot.id) {
    findings.false_claim(line, {"id", fmt::format("'{}' is claimed, '{}' it is", read->id, snapshot.id)});
  }
  if (read->is_error) {
    findings.violation(line, "answers", read->error.path,
                       "an error record for a snapshot that can be read: " + read->error.message);
    return;
  }
  const FairShares shares = compute_fair_shares(problem);
  const std::vector<Violation> violations = check_plan(snapshot, problem, shares, read->plan);
  for (const Violation& violation : violations) {
    findings.violation(line, rule_name(violation.rule), violation.subject, violation.message);
  }
  if (!violations.empty()) return;  // what a plan that breaks rules is worth is not defined
  for (const FalseClaim& claim : check_gang_claims(problem, *read)) findings.false_claim(line, claim);
  for (const FalseClaim& claim : check_level_claims(problem, shares, *read)) findings.false_claim(line, claim);
}

void verify_pair(const LineSource::Line& line, std::string_view plan_text, SnapshotReader& reader, Findings& findings) {
  findings.count_plan();
  Result<Snapshot> snapshot = reader.read(line.text);
  if (!snapshot) return verify_error(line.number, snapshot.error(), plan_text, findings);
  const Result<Problem> problem = build_problem(*snapshot);
  if (!problem) return verify_error(line.number, problem.error(), plan_text, findings);
  findings.count_valid_snapshot();
  verify_plan(line.number, *snapshot, *problem, plan_text, findings);
}

void verify_all(LineSource& snapshots, LineSource& plans, const ReaderOptions& options, Findings& findings) {
  SnapshotReader reader(options);
  while (true) {
    const auto snapshot = snapshots.next();
    const auto plan = plans.next();
    if (findings.output_code() != kExitAnswered || !snapshots.failure().empty() || !plans.failure().empty()) return;
    if (snapshot && plan) {
      verify_pair(*snapshot, plan->text, reader, findings);
    } else if (snapshot) {
      findings.violation(snapshot->number, "answers", "snapshot", "it has no answer");
    } else if (plan) {
      findings.violation(plan->number, "answers", "plan", "it answers no snapshot");
    } else {
      return;
    }
  }
}

}  // namespace

int run_verify(int argc, const char* const* argv) {
  const Settings settings(verify_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(verify_syntax()), kExitAnswered);
  const std::vector<std::string>& files = settings.arguments();
  if (files[0] == "-" && files[1] == "-") throw UsageError("SNAPSHOTS and PLANS cannot both be stdin");
  ReaderOptions options;
  options.lenient = settings.is_on("lenient");
  options.kubernetes.time = settings.instant("time");
  LineSource snapshots({files[0]}, {.max_line_bytes = options.max_line_bytes});
  LineSource plans({files[1]}, {.max_line_bytes = options.max_line_bytes});
  Findings findings(settings.is_on("quiet"));
  verify_all(snapshots, plans, options, findings);
  for (const LineSource* source : {&snapshots, &plans}) {
    if (source->failure().empty()) continue;
    write_all(STDERR_FILENO, fmt::format("muster verify: {}\n", source->failure()));
    return kExitNoInput;
  }
  if (findings.output_code() != kExitAnswered) return findings.output_code();
  const int output = print(findings.total(), kExitAnswered);
  if (output != kExitAnswered) return output;
  if (findings.has_any()) return kExitSomeErrors;
  if (findings.plans() == 0) return kExitNoInput;
  return findings.valid_snapshots() == 0 ? kExitNoValidLine : kExitAnswered;
}

}  // namespace muster
