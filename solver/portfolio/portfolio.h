// One cycle: every engine that the budget has room for, and the best plan that the referee passes when time is up.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/explain/report.h"
#include "model/objective/fair_share.h"
#include "model/objective/possibilities.h"
#include "model/problem/problem.h"
#include "model/referee/referee.h"
#include "model/snapshot/plan.h"
#include "solver/budget/deadline.h"
#include "solver/budget/time_plan.h"
#include "solver/cbc/backend.h"
#include "solver/portfolio/plan_memory.h"

namespace muster::portfolio {

using TimePlanSink = std::function<void(const TimeAllotments&)>;

enum class Engine : std::uint8_t { kAuto, kGreedy, kMilp };

using Clock = std::chrono::steady_clock;

struct SolveOptions {
  Engine engine = Engine::kAuto;
  // When the plan must be ready to be written. One that is not proven takes until then, if the engine searches.
  Clock::time_point deadline = Clock::time_point::max();
  std::int32_t threads = 1;
  std::uint64_t seed = 1;
  double gap = 0;              // good enough: stop when the gap of the first short level is at most this
  bool deterministic = false;  // work limits in place of clocks
  TraceSink trace;             // receives better plans and bounds on the way; empty: no trace
  TimePlanSink time_plan;      // receives the time plan before the first engine begins; may be empty
  std::string write_model;     // a path: what CBC is given first, as an MPS file; empty: no
  // Stages that are not run, for measuring what each is worth (bench/ablation.cpp). Of a cycle: "still" (a choice
  // without moves), "milp", "gather" (repacking), "search". Of the MILP engine: "choice", "earlier" (choices, for their
  // places), "slots" (the model of places), "list" (of all configurations), "whole" (models of all nodes), "aggregate"
  // (first prices by sums), "branch" (on gangs, for bounds), "cbc" (on priced columns), "grids" (plans by prices),
  // "blocks", "places" (with the evictions settled). Of its plans: "back" (pods that need not leave), "fill" (what is
  // free), "reprieve".
  std::set<std::string_view> left_out;
};

struct Solution {
  Plan plan;
  explain::Report report;
  Origin origin = Origin::kNone;
  Proof proof = Proof::kHeuristic;
  double gap = 0;
  std::vector<std::pair<std::string_view, double>> phases_ms;  // greedy, milp, search, verify
  std::vector<std::string> defects;  // plans that the referee rejected, and workers that died: counted and logged
  std::int64_t rejected_plans = 0;   // by the referee
  // Better plans that engines made and gave up, as the referee found them to break a rule: how often which.
  std::map<referee::Rule, std::int64_t> refused;
};

// Owns what outlives a cycle: the worker process. One for each solving thread. Never throws because of a worker.
class Portfolio {
 public:
  explicit Portfolio(std::string worker_program);   // path of the `muster` binary, run as `muster worker`
  explicit Portfolio(cbc::BackendOptions options);  // for tests of workers that fail
  ~Portfolio();
  Portfolio(const Portfolio&) = delete;
  Portfolio& operator=(const Portfolio&) = delete;

  Solution solve(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options);

  // The next call of `solve` starts from what still fits of this plan, if that is better than its own beginning.
  void start_from(const StartPlan& plan);
  // The same, of a plan of another problem.
  void start_from(const Problem& problem, const Plan& plan);

  // Between two calls of `solve`: reaps dead workers. Returns immediately.
  void tidy();

  // Workers that died or had to be killed since the beginning; each was replaced.
  std::int64_t worker_failures() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::portfolio
