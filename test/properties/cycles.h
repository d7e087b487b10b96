// Cycles on end: a snapshot, its plan, the snapshot after it, and so on; and why a later plan disturbs what runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/objective/levels.h"
#include "solver/portfolio/portfolio.h"
#include "test/support/case.h"

namespace muster::properties {

using test::Case;

// Why a plan evicts or moves although the cycle before left nothing new but time.
enum class Disturbance : std::uint8_t {
  kTime,        // the plan before did nothing, and could not have: minimum run times passed, or gangs aged
  kStale,       // a gang that is stale goes, or what went as stale comes back
  kMissed,      // both plans in one would have been allowed the cycle before, and better: that plan was not the best
  kUnprovable,  // the same although the cycle before called its plan optimal: a defect
  kTurned,      // both in one would have been allowed, and not better: the levels have changed their mind
  kTwoSteps,    // both in one break a rule: only what the first plan made of the cluster allows the second
  kRationed,    // the same, and the rule is one that spreads evictions and moves over several plans
};
std::string_view disturbance_name(Disturbance kind);

struct Finding {
  Disturbance kind = Disturbance::kMissed;
  int cycle = 0;          // of the plan that disturbs; the first plan is of cycle 0
  std::string why;        // the rule that is broken, or the level that differs
  std::string decisions;  // evictions of both plans, for people
  bool undoes = false;    // it evicts or moves what an earlier plan has placed
  bool returns = false;   // the pods that run, and where, are as they were after an earlier cycle
};

// Whether the solution is proven best in all levels up to that one.
bool is_proven_up_to(LevelKind last, const portfolio::Solution& solution);

// What an engine answers; none: it gives up on so large a snapshot.
struct EngineAnswer {
  Plan plan;
  std::string proof;                 // "optimal": claimed to be the best
  bool is_proven = false;            // in all levels that determine what runs: those up to `seniority`
  std::vector<std::string> defects;  // of engines on the way
};
using Answering = std::function<std::optional<EngineAnswer>(const Case&)>;

// The portfolio without clocks. `portfolio` outlives it.
Answering answers_of(portfolio::Portfolio& portfolio, portfolio::Engine engine);

struct CycleOptions {
  int cycles = 6;  // plans; the first may evict and move
  Nanoseconds later = 60 * kNanosecondsPerSecond;
};

struct Carried {
  std::vector<Finding> findings;
  std::vector<std::string> faults;    // plans that break a rule, snapshots that cannot be built: defects
  std::vector<std::string> rejected;  // plans that an engine made, and the referee kept from leaving: defects, too
  int plans = 0, proven = 0;
  bool first_evicts = false;  // or moves
};

// Feeds each plan back for this many cycles, or until the engine gives up. A line that is refused has no plans.
Carried carry_on(const std::string& line, const Answering& answer, const CycleOptions& options);

}  // namespace muster::properties
