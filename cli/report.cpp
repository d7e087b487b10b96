// `muster report`: files in, one HTML page out.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/json/json_writer.h"
#include "io/kubernetes/object/slim.h"
#include "io/muster_v1/plan_line.h"
#include "io/report/block.h"
#include "io/report/cluster.h"
#include "io/report/line.h"
#include "io/report/simulation.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/referee/referee.h"

namespace muster::cli {

const CommandSyntax& report_syntax() {
  static const CommandSyntax syntax{
      "muster report [FILE...] [OPTION...]",
      "Writes one self-contained HTML page: what plans do with a cluster, how good they are, and why gangs wait.\n"
      "Each FILE (- is stdin) contains plans, the trace of a solve, a simulation's events or summary, or benchmark "
      "results,\n"
      "one object per line. Line n of plans answers line n of the snapshots. Several files of plans are compared.",
      with_policy_options(
          {{"snapshot", "FILE", "the snapshots of the plans"},
           {"output", "FILE", "write the page to FILE [stdout]"},
           {"title", "TEXT", "the heading of the page [Muster report]"},
           {"lenient", "", "ignore keys of snapshots that the format does not define"},
           {"strict", "", "treat an inconsistent object as an error of its whole line, not as a warning"},
           duration_annotation_row(),
           {"time", "INSTANT", "current time for lines of Kubernetes objects (default: the time of the plan)"},
           {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}}),
      0, 1000};
  return syntax;
}

namespace {

constexpr std::size_t kMostFaultsTold = 20;

// A snapshot with the plans that answer it.
struct Cluster {
  std::unique_ptr<Snapshot> snapshot;  // none: the line could not be read
  Problem problem;
  FairShares shares;
  std::vector<reporting::ReportedPlan> plans;
  bool has_no_time = false;  // Kubernetes objects, and no option or plan has set the time yet
};

class Reporter {
 public:
  Reporter(muster_v1::ReaderOptions options, std::string title)
      : options_(std::move(options)), title_(std::move(title)) {}

  // Each returns whether the file could be read at all; faults of single lines are reported and skipped.
  bool read_snapshots(const std::string& file);
  bool read_file(const std::string& file);

  bool has_content() const;
  bool has_faults() const { return fault_count_ > 0; }
  // Reports the number of faults that were not reported one by one.
  void tell_rest();
  std::string page() const;

 private:
  template <class Take>
  bool read_lines(const std::string& file, const Take& take);
  void take_snapshot(const std::string& place, std::string_view line, muster_v1::SnapshotReader& reader);
  void take_line(const std::string& place, const std::string& label, const LineSource::Line& line);
  void take_plan(const std::string& place, const std::string& label, std::string_view line);
  void complete_by_plan(Cluster& cluster, std::string_view line);
  void take_event(const std::string& place, const std::string& label);
  void refuse(const std::string& place, const InputError& error);
  void write_data(std::string& out) const;

  muster_v1::ReaderOptions options_;
  std::string title_;
  std::vector<Cluster> clusters_;
  std::vector<reporting::ReportedSimulation> simulations_;
  std::vector<std::pair<std::string, std::string>> traces_, summaries_, figures_;  // label, line
  json::JsonDocument document_;
  std::size_t plans_of_file_ = 0, events_of_file_ = 0;
  std::vector<std::string> faults_;  // the first of them
  std::size_t fault_count_ = 0;
};

void Reporter::refuse(const std::string& place, const InputError& error) {
  if (++fault_count_ > kMostFaultsTold) return;
  faults_.push_back(fmt::format("{}: {}: {}", place, error.path, error.message));
  write_all(STDERR_FILENO, fmt::format("muster report: {}\n", escaped(faults_.back())));
}

void Reporter::tell_rest() {
  if (fault_count_ <= kMostFaultsTold) return;
  faults_.push_back(fmt::format("and {} more", fault_count_ - kMostFaultsTold));
  write_all(STDERR_FILENO, fmt::format("muster report: {}\n", faults_.back()));
}

template <class Take>
bool Reporter::read_lines(const std::string& file, const Take& take) {
  LineSource source({file}, {.max_line_bytes = options_.max_line_bytes});
  while (const auto line = source.next()) take(fmt::format("{}: line {}", file, line->number), *line);
  if (source.failure().empty()) return true;
  write_all(STDERR_FILENO, fmt::format("muster report: {}\n", source.failure()));
  return false;
}

bool Reporter::read_snapshots(const std::string& file) {
  muster_v1::SnapshotReader reader(options_);
  return read_lines(
      file, [&](const std::string& place, const LineSource::Line& line) { take_snapshot(place, line.text, reader); });
}

void Reporter::take_snapshot(const std::string& place, std::string_view line, muster_v1::SnapshotReader& reader) {
  Cluster& cluster = clusters_.emplace_back();
  Result<Snapshot> snapshot = reader.read(line);
  if (!snapshot) return refuse(place, snapshot.error());
  auto kept = std::make_unique<Snapshot>(std::move(*snapshot));
  Result<Problem> problem = build_problem(*kept);
  if (!problem) return refuse(place, problem.error());
  cluster.has_no_time = !options_.kubernetes.time && kubernetes::begins_as_kubernetes(line);
  cluster.snapshot = std::move(kept);
  cluster.problem = std::move(*problem);
  cluster.shares = compute_fair_shares(cluster.problem);
}

bool Reporter::read_file(const std::string& file) {
  plans_of_file_ = events_of_file_ = 0;
  const std::string label = file == "-" ? "stdin" : std::filesystem::path(file).stem().string();
  return read_lines(file,
                    [&](const std::string& place, const LineSource::Line& line) { take_line(place, label, line); });
}

void Reporter::take_line(const std::string& place, const std::string& label, const LineSource::Line& line) {
  const Result<reporting::ReportLineKind> kind = reporting::read_report_line(line.text, document_);
  if (!kind) return refuse(place, kind.error());
  switch (*kind) {
    case reporting::ReportLineKind::kPlan:
      return take_plan(place, label, line.text);
    case reporting::ReportLineKind::kSnapshot:
      return refuse(place, {ErrorCode::kInvalidValue, "$", "this is a snapshot; name its file with --snapshot"});
    case reporting::ReportLineKind::kTrace:
      traces_.emplace_back(label, line.text);
      return;
    case reporting::ReportLineKind::kTimePlan:
      return;  // the page draws what was reached, not what was planned
    case reporting::ReportLineKind::kEvent:
      return take_event(place, label);
    case reporting::ReportLineKind::kSummary:
      summaries_.emplace_back(label, line.text);
      return;
    case reporting::ReportLineKind::kFailedExperiment: {
      const json::JsonValue error = reporting::member_of(document_.root(), "error");
      return refuse(place, {ErrorCode::kNoPlan, std::string(reporting::member_of(error, "path").string()),
                            std::string(reporting::member_of(error, "message").string())});
    }
    case reporting::ReportLineKind::kFigures:
      figures_.emplace_back(label, line.text);
      return;
  }
}

// For Kubernetes objects, the first plan gives the time that it was made for; for all, the histories that a server
// filled in.
void Reporter::complete_by_plan(Cluster& cluster, std::string_view line) {
  const Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line, nullptr);
  if (!plan) return;
  const bool tells_time = cluster.has_no_time && plan->time;
  if (!tells_time && plan->histories.empty()) return;
  if (tells_time) cluster.snapshot->time = *plan->time;
  if (tells_time) cluster.has_no_time = false;
  muster_v1::fill_in(plan->histories, *cluster.snapshot);
  Result<Problem> problem = build_problem(*cluster.snapshot);
  if (!problem) return;
  cluster.problem = std::move(*problem);
  cluster.shares = compute_fair_shares(cluster.problem);
}

void Reporter::take_plan(const std::string& place, const std::string& label, std::string_view line) {
  const std::size_t at = plans_of_file_++;
  if (at >= clusters_.size()) {
    return refuse(place, {ErrorCode::kUnknownName, "$", "--snapshot has no line for this plan"});
  }
  Cluster& cluster = clusters_[at];
  if (cluster.snapshot == nullptr) return;  // reported already
  if (cluster.has_no_time || line.find(R"("histories")") != std::string_view::npos) complete_by_plan(cluster, line);
  Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line, &cluster.problem);
  if (!plan) return refuse(place, plan.error());
  if (plan->is_error) return refuse(place, {ErrorCode::kNoPlan, plan->error.path, plan->error.message});
  if (plan->id != cluster.snapshot->id) {
    return refuse(place, {ErrorCode::kInvalidValue, "$.id",
                          fmt::format("the plan is for snapshot '{}', but the snapshot of this line is '{}'", plan->id,
                                      cluster.snapshot->id)});
  }
  reporting::ReportedPlan reported{label, std::move(*plan), {}};
  reported.violations = referee::check_plan(*cluster.snapshot, cluster.problem, cluster.shares, reported.plan.plan);
  if (!referee::is_well_formed(*cluster.snapshot, cluster.problem, reported.plan.plan)) {
    const referee::Violation& violation = reported.violations.front();
    return refuse(place, {ErrorCode::kInvalidValue, "$.placements", violation.subject + ": " + violation.message});
  }
  if (!reported.violations.empty()) {
    write_all(STDERR_FILENO, fmt::format("muster report: {}: the plan breaks rules; see the page\n", place));
  }
  cluster.plans.push_back(std::move(reported));
}

void Reporter::take_event(const std::string& place, const std::string& label) {
  if (events_of_file_++ == 0 || reporting::ReportedSimulation::is_header(document_)) simulations_.emplace_back(label);
  if (const auto error = simulations_.back().take(document_)) refuse(place, *error);
}

bool Reporter::has_content() const {
  const bool has_cluster =
      std::ranges::any_of(clusters_, [](const Cluster& cluster) { return cluster.snapshot != nullptr; });
  return has_cluster || std::ranges::any_of(simulations_, &reporting::ReportedSimulation::has_header) ||
         !traces_.empty() || !summaries_.empty() || !figures_.empty();
}

void write_labelled(json::JsonWriter& json, std::string_view key,
                    const std::vector<std::pair<std::string, std::string>>& lines) {
  json.key(key).array();
  for (const auto& [label, line] : lines) json.object().member("label", label).key("line").raw(line).end();
  json.end();
}

void Reporter::write_data(std::string& out) const {
  json::JsonWriter json(out);
  json.object().member("version", 1).member("title", title_).key("clusters").array();
  for (const Cluster& cluster : clusters_) {
    if (cluster.snapshot != nullptr) reporting::write_cluster({cluster.problem, cluster.shares, cluster.plans}, out);
  }
  json.end().key("simulations").array();
  for (const reporting::ReportedSimulation& simulation : simulations_) {
    if (simulation.has_header()) simulation.write(json);
  }
  json.end();
  write_labelled(json, "traces", traces_);
  write_labelled(json, "summaries", summaries_);
  write_labelled(json, "figures", figures_);
  json.key("faults").array();
  for (const std::string& fault : faults_) json.value(fault);
  json.end().end();
}

std::string Reporter::page() const {
  std::string data;
  write_data(data);
  return reporting::report_page(data);
}

int write_page(const std::optional<std::string>& path, std::string_view page, int success) {
  if (!path) return print(page, success);
  const int file = open(path->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int error = file < 0 ? errno : write_all(file, page);
  if (file >= 0) close(file);
  if (error == 0) return success;
  write_all(STDERR_FILENO, fmt::format("muster report: {}: {}\n", escaped(*path), std::strerror(error)));
  return file < 0 ? kExitCannotCreate : kExitCannotWrite;
}

}  // namespace

int run_report(int argc, const char* const* argv) {
  const Settings settings(report_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(report_syntax()), kExitAnswered);
  const std::optional<std::string> snapshots = settings.text("snapshot"), output = settings.text("output");
  if (!snapshots && settings.arguments().empty()) throw UsageError("nothing to report: name at least one file");
  std::vector<std::string> inputs = settings.arguments();
  if (snapshots) inputs.push_back(*snapshots);
  if (output && reads_from(inputs, *output)) throw UsageError(fmt::format("--output: {} is also read from", *output));
  if (std::ranges::count(inputs, "-") > 1) throw UsageError("stdin can be read only once");
  Reporter reporter(reader_options(settings), settings.text("title").value_or("Muster report"));
  if (snapshots && !reporter.read_snapshots(*snapshots)) return kExitNoInput;
  for (const std::string& file : settings.arguments()) {
    if (!reporter.read_file(file)) return kExitNoInput;
  }
  reporter.tell_rest();
  if (!reporter.has_content()) return reporter.has_faults() ? kExitNoValidLine : kExitNoInput;
  return write_page(output, reporter.page(), reporter.has_faults() ? kExitSomeErrors : kExitAnswered);
}

}  // namespace muster::cli
