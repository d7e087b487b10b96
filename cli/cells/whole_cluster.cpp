#include "cli/cells/whole_cluster.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/line/line.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/terminal.h"
#include "io/muster_v1/plan_line.h"
#include "model/build/build_problem.h"

namespace muster::cli {
namespace {

void report_fault(const std::string& file, const InputError& error, Console& console) {
  console.say(Severity::kError, fmt::format("{}: {} at {}: {}", escaped(file), error_code_text(error.code),
                                            escaped(error.path), escaped(error.message)));
}

}  // namespace

WholeCluster::WholeCluster(const Settings& settings) : options_(reader_options(settings)) {
  options_.threads = line_options(settings).solve.threads;
}

int WholeCluster::read(const std::string& file, Console& console) {
  LineSource source({file}, {.max_line_bytes = options_.max_line_bytes});
  const auto line = source.next();
  if (!line) {
    console.say(Severity::kError,
                source.failure().empty() ? fmt::format("{}: no line", escaped(file)) : source.failure());
    return kExitNoInput;
  }
  muster_v1::SnapshotReader reader(options_);
  Result<Snapshot> snapshot = reader.read(line->text);
  if (!snapshot) {
    report_fault(file, snapshot.error(), console);
    return kExitNoValidLine;
  }
  snapshot_ = std::make_unique<Snapshot>(std::move(*snapshot));
  Result<Problem> problem = build_problem(*snapshot_, options_.threads);
  if (!problem) {
    report_fault(file, problem.error(), console);
    return kExitNoValidLine;
  }
  problem_.emplace(std::move(*problem));
  return kExitAnswered;
}

std::optional<Plan> WholeCluster::read_plan(const std::string& file, Console& console) const {
  LineSource source({file}, {});
  const auto line = source.next();
  if (!line) {
    console.say(Severity::kError,
                source.failure().empty() ? fmt::format("{}: no line", escaped(file)) : source.failure());
    return std::nullopt;
  }
  Result<muster_v1::ReadPlan> read = muster_v1::read_plan(line->text, &*problem_);
  if (!read) {
    report_fault(file, read.error(), console);
    return std::nullopt;
  }
  return std::move(read->plan);
}

}  // namespace muster::cli
