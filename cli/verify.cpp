#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/line/verify_line.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/base/words.h"

namespace muster::cli {

const CommandSyntax& verify_syntax() {
  static const CommandSyntax syntax{
      "muster verify SNAPSHOTS PLANS [OPTION...]",
      "Checks that line n of PLANS is a plan for line n of SNAPSHOTS, breaks no rule and makes no false claim. "
      "One of the\n"
      "files may be - (stdin). Blank lines do not count. Findings go to stdout, one per line.",
      with_policy_options(with_shard_options(
          {{"lenient", "", "ignore keys that the format does not define"},
           {"strict", "", "treat an inconsistent object as an error of its whole line, not as a warning"},
           duration_annotation_row(),
           {"time", "INSTANT", "current time for lines of Kubernetes objects (default: the time of the plan)"},
           {"quiet", "", "print only the last line, the counts"},
           {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}})),
      2, 2};
  return syntax;
}

namespace {

// The findings so far. Findings are written as they arise.
class Findings {
 public:
  explicit Findings(bool is_quiet) : is_quiet_(is_quiet) {}

  void add(std::int64_t line, const Finding& finding) {
    ++(finding.rule.empty() ? false_claims_ : violations_);
    const std::string what = finding.rule.empty() ? "false claim" : "violation of " + finding.rule;
    tell(fmt::format("line {}: {}: {}: {}\n", line, what, escaped(finding.subject), escaped(finding.message)));
  }
  void count_plan() { ++plans_; }
  void count_valid_snapshot() { ++valid_snapshots_; }

  bool has_any() const { return violations_ + false_claims_ > 0; }
  std::int64_t plans() const { return plans_; }
  std::int64_t valid_snapshots() const { return valid_snapshots_; }
  std::string total() const {
    return fmt::format("{}, {}, {}\n", counted(plans_, "plan"), counted(violations_, "violation"),
                       counted(false_claims_, "false claim"));
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

void verify_pair(const LineSource::Line& line, std::string_view plan_text, muster_v1::SnapshotReader& reader,
                 Findings& findings) {
  findings.count_plan();
  const VerifiedLine verified = verify_line(reader, line.text, plan_text);
  for (const Finding& finding : verified.findings) findings.add(line.number, finding);
  if (verified.is_valid_snapshot) findings.count_valid_snapshot();
}

void verify_all(LineSource& snapshots, LineSource& plans, const muster_v1::ReaderOptions& options, Findings& findings) {
  muster_v1::SnapshotReader reader(options);
  while (true) {
    const auto snapshot = snapshots.next();
    const auto plan = plans.next();
    if (findings.output_code() != kExitAnswered || !snapshots.failure().empty() || !plans.failure().empty()) return;
    if (snapshot && plan) {
      verify_pair(*snapshot, plan->text, reader, findings);
    } else if (snapshot) {
      findings.add(snapshot->number, {"answers", "snapshot", "it has no plan"});
    } else if (plan) {
      findings.add(plan->number, {"answers", "plan", "it has no snapshot"});
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
  if (files[0] == "-" && files[1] == "-") throw UsageError("SNAPSHOTS and PLANS cannot both be read from stdin");
  const muster_v1::ReaderOptions options = reader_options(settings);
  const Shard shard = shard_of(settings);
  LineSource snapshots({files[0]}, {.max_line_bytes = options.max_line_bytes, .shard = shard});
  LineSource plans({files[1]}, {.max_line_bytes = options.max_line_bytes, .shard = shard});
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
  if (findings.plans() == 0) return shard.is_whole() ? kExitNoInput : kExitAnswered;
  return findings.valid_snapshots() == 0 ? kExitNoValidLine : kExitAnswered;
}

}  // namespace muster::cli
