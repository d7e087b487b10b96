// What a cycle is asked for, and what it answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/explain/report.h"
#include "model/objective/possibilities.h"
#include "model/referee/referee.h"
#include "model/snapshot/plan.h"
#include "solver/budget/deadline.h"
#include "solver/budget/time_plan.h"

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
  std::string write_model;     // what CBC is given, see cbc::ModelFiles; empty: nothing
  // Stages that are not run, for measuring what each is worth (bench/ablation.cpp). Of a cycle: "still" (a choice
  // without moves), "milp", "gather" (repacking), "search". Of the MILP engine: "choice", "earlier" (choices, for their
  // places), "slots" (the model of places), "list" (of all configurations), "whole" (models of all nodes), "aggregate"
  // (first prices by sums), "grids" (plans by prices), "blocks". Of its plans: "back" (pods that need not leave),
  // "fill" (what is free), "reprieve".
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

}  // namespace muster::portfolio
