#include "cli/line/verify_line.h"

#include <utility>

#include <fmt/format.h>

#include "cli/line/claims.h"
#include "io/kubernetes/object/slim.h"
#include "io/muster_v1/plan_line.h"
#include "model/build/build_problem.h"
#include "model/referee/referee.h"
#include "model/snapshot/unread.h"

namespace muster::cli {
namespace {

using Findings = std::vector<Finding>;

Finding false_claim(FalseClaim claim) { return {{}, std::move(claim.subject), std::move(claim.message)}; }

// A line that cannot be read must have an error record, with the same code.
void verify_error(const InputError& error, std::string_view plan_text, Findings& findings) {
  const Result<muster_v1::ReadPlan> read = muster_v1::read_plan(plan_text, nullptr);
  if (!read) {
    findings.push_back({"answers", read.error().path, read.error().message});
  } else if (!read->is_error) {
    findings.push_back({"answers", error.path, "a plan for an invalid snapshot: " + error.message});
  } else if (read->error.code != muster_v1::Claimed<ErrorCode>(error.code)) {
    findings.push_back(
        {{},
         "error",
         fmt::format("claimed code {}, actual {}", muster_v1::claimed_text(read->error.code, error_code_text),
                     error_code_text(error.code))});
  }
}

void check_warnings(const Anomalies& anomalies, const muster_v1::ReadPlan& read, Findings& findings) {
  const std::vector<Warning> warnings = sorted_warnings(anomalies);
  if (read.warnings_omitted != static_cast<std::int64_t>(anomalies.more) || read.warnings.size() != warnings.size()) {
    findings.push_back(
        {{},
         "warnings",
         fmt::format("claimed {}, actual {}", static_cast<std::int64_t>(read.warnings.size()) + read.warnings_omitted,
                     anomalies.count())});
    return;
  }
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    const Warning& is = warnings[i];
    const muster_v1::WarningClaim truth{is.object, is.name, is.code, is.message};
    if (read.warnings[i] == truth) continue;
    const auto text = [](const muster_v1::WarningClaim& w) {
      return w.object + " " + w.name + " " + muster_v1::claimed_text(w.code, error_code_text);
    };
    findings.push_back({{}, "warnings", fmt::format("claimed {}, actual {}", text(read.warnings[i]), text(truth))});
  }
}

void verify_plan(const Snapshot& snapshot, const Problem& problem, std::string_view plan_text, Findings& findings) {
  const Result<muster_v1::ReadPlan> read = muster_v1::read_plan(plan_text, &problem);
  if (!read) {
    findings.push_back({"plan", read.error().path, read.error().message});
    return;
  }
  if (read->id != snapshot.id) {
    findings.push_back({{}, "id", fmt::format("claimed '{}', actual '{}'", read->id, snapshot.id)});
  }
  if (read->time && *read->time != snapshot.time) {
    findings.push_back({{}, "time", "the time of the plan differs from the time of the snapshot"});
  }
  if (read->is_error) {
    findings.push_back({"answers", read->error.path, "an error record for a valid snapshot: " + read->error.message});
    return;
  }
  check_warnings(snapshot.anomalies, *read, findings);
  if (read->solver.of_what_was_read != has_unread(snapshot.anomalies))
    findings.push_back({{}, "solver", "proofOf is not what the warnings about unread keys say"});
  const FairShares shares = compute_fair_shares(problem);
  const std::vector<referee::Violation> violations = referee::check_plan(snapshot, problem, shares, read->plan);
  for (const referee::Violation& violation : violations) {
    findings.push_back({std::string(referee::rule_name(violation.rule)), violation.subject, violation.message});
  }
  if (!violations.empty()) return;  // what a plan that breaks rules is worth is not defined
  for (FalseClaim& claim : check_gang_claims(problem, *read)) findings.push_back(false_claim(std::move(claim)));
  for (FalseClaim& claim : check_level_claims(problem, shares, *read))
    findings.push_back(false_claim(std::move(claim)));
}

}  // namespace

namespace {

// A plan of Kubernetes objects gives the time that it was made for, unless an option does.
kubernetes::KubernetesOptions with_time_of(std::string_view plan_text, std::string_view snapshot_text,
                                           kubernetes::KubernetesOptions options) {
  if (options.time || !kubernetes::begins_as_kubernetes(snapshot_text)) return options;
  const Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(plan_text, nullptr);
  if (plan) options.time = plan->time;
  return options;
}

}  // namespace

VerifiedLine verify_line(muster_v1::SnapshotReader& reader, std::string_view snapshot_text,
                         std::string_view plan_text) {
  VerifiedLine verified;
  Result<Snapshot> snapshot = reader.read(snapshot_text, with_time_of(plan_text, snapshot_text, reader.kubernetes()));
  if (!snapshot) {
    verify_error(snapshot.error(), plan_text, verified.findings);
    return verified;
  }
  verified.id = std::string(snapshot->id);
  muster_v1::fill_in_histories(plan_text, *snapshot);
  const Result<Problem> problem = build_problem(*snapshot);
  if (!problem) {
    verify_error(problem.error(), plan_text, verified.findings);
    return verified;
  }
  verified.is_valid_snapshot = true;
  verify_plan(*snapshot, *problem, plan_text, verified.findings);
  return verified;
}

}  // namespace muster::cli
