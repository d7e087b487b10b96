// The plan line of `muster/v1`: written as output, read back by `muster verify`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/muster_v1/histories.h"
#include "io/muster_v1/named_plan.h"
#include "model/base/error_code.h"
#include "model/explain/report.h"
#include "model/objective/possibilities.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::muster_v1 {

// The part of a plan line about the solver.
struct SolverStatement {
  Origin origin = Origin::kNone;
  Proof proof = Proof::kHeuristic;
  double gap = 0;
  double budget_ms = 0, elapsed_ms = 0;
  bool deadline_missed = false;
  std::vector<std::pair<std::string_view, double>> phases_ms;  // in the order of the work
};

// What would start a gang that waits: `remedy` of docs/format.md.
struct RemedyRecord {
  GangIndex gang;
  std::string kind;  // "never": nothing that was tried; then all else is empty
  std::int64_t size = 0;
  std::string text, options;
  bool smallest = false;  // proven
};

// One line, without the line feed; lists sorted by name, so that equal plans are equal bytes, except for timings.
// Timings (budgetMs, elapsedMs, phasesMs) are left out if `with_timings` is false. Cost: 500 MB/s or more.
struct PlanLine {
  const Problem& problem;
  const Plan& plan;
  const explain::Report& report;
  SolverStatement solver;
  bool with_timings = true;
  int threads = 1;                          // that may write at the same time
  const Histories* histories = nullptr;     // what was filled into the snapshot; none, or empty: nothing
  std::vector<RemedyRecord> remedies = {};  // each gang at most once
};
void write_plan(const PlanLine& line, std::string& out);

// The same in three parts, one after the other, each of which reads only what it is named after: the decisions, which
// are most of the line; the report on them; and the solver statement, which ends the line, because the times in it are
// known last.
void write_decisions(const PlanLine& line, std::string& out);
void write_report(const PlanLine& line, std::string& out);
void write_statement(const PlanLine& line, std::string& out);

// The answer to a line that could not be read. `line_number` counts from 1.
void write_error(std::string_view id, const InputError& error, std::int64_t line_number, std::string& out);

// What a plan line says about the solver; times are absent in a plan without timings.
struct SolverClaim {
  Origin origin = Origin::kNone;
  Proof proof = Proof::kHeuristic;
  double gap = 0;
  std::optional<double> budget_ms, elapsed_ms;
  bool deadline_missed = false;
  bool of_what_was_read = false;  // the proof is no more than that
};

// A code as a plan line states it. Another version of Muster may have written the line: of a code that is unknown here,
// only the text is kept.
template <class Code>
using Claimed = std::variant<Code, std::string>;

// `text_of`: the text of a known code.
template <class Code, class TextOf>
std::string claimed_text(const Claimed<Code>& claim, TextOf text_of) {
  const Code* known = std::get_if<Code>(&claim);
  return known != nullptr ? std::string(text_of(*known)) : std::get<std::string>(claim);
}

// As InputError, but claimed.
struct ErrorClaim {
  Claimed<ErrorCode> code;
  std::string path, message;
};

// As Warning, but claimed.
struct WarningClaim {
  std::string object, name;
  Claimed<ErrorCode> code;
  std::string message;
  friend bool operator==(const WarningClaim&, const WarningClaim&) = default;
};

// What a plan line says about a gang, as explain::GangReport.
struct GangClaim {
  struct Blocker {
    Claimed<explain::Filter> filter;
    std::int64_t nodes = 0;
  };
  std::string name;
  explain::GangPhase phase = explain::GangPhase::kUnschedulable;
  Claimed<explain::Reason> reason;
  Claimed<explain::MakeRoomCode> make_room;
  std::string message;
  std::int64_t running = 0, placed = 0, evicted = 0, pending = 0;
  std::vector<Blocker> blockers;
  std::optional<Nanoseconds> expected_start;
  Claimed<forecast::StartObstacle> waits_for;  // if a start is expected
  struct Remedy {
    std::string kind, text, options;
    std::int64_t size = 0;
    bool smallest = false;
  };
  std::optional<Remedy> remedy;
};

// The claims of a plan line, names resolved against the problem that it answers.
struct ReadPlan {
  std::string id;
  std::optional<Nanoseconds> time;  // of the snapshot
  bool is_error = false;            // status "error": nothing else is filled in but `error`
  ErrorClaim error;
  NamedPlan named;
  Plan plan;  // by indices of the problem that it was read for; of none: empty
  struct LevelClaim {
    std::string level;
    std::optional<std::int32_t> priority;
    std::string value;  // the decimal text, exact
    std::optional<std::string> bound;
  };
  std::vector<LevelClaim> objective;
  std::vector<GangClaim> gangs;
  struct QueueClaim {
    std::string name;
    struct Amounts {
      std::string quota, fair_share, allocated;  // decimal texts, exact; no quota: unlimited
    };
    Amounts gpu, cpu, memory;
  };
  std::vector<QueueClaim> queues;
  SolverClaim solver;
  std::vector<WarningClaim> warnings;
  std::int64_t warnings_omitted = 0;
  Histories histories;
};

// Errors: those of SnapshotReader and, with a problem, of PlanResolver; UnknownName, of a gang that it does not have.
// `problem`: whose indices `plan` gets; may be null.
Result<ReadPlan> read_plan(std::string_view line, const Problem* problem);

// As fill_in(), with the histories that the plan line states; a line that cannot be read states none. Cost: that of
// read_plan if there are any.
void fill_in_histories(std::string_view line, Snapshot& snapshot);

}  // namespace muster::muster_v1
