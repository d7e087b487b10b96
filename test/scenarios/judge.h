// Whether an engine's plan for a scenario is what the scenario expects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "solver/portfolio/portfolio.h"
#include "test/scenarios/case_file.h"

namespace muster::scenarios {

enum class Outcome : std::uint8_t {
  kExact,   // all that is expected
  kAsGood,  // other counts, at least as good by share, quota, work and evicted
  kWorse,   // short of what is expected
  kInvalid  // a broken rule, a false claim, or an answer of the wrong kind
};
std::string_view outcome_name(Outcome outcome);

struct Judgement {
  Outcome outcome = Outcome::kInvalid;
  std::vector<std::string> remarks;  // what differs
  std::vector<std::string> defects;  // of engines on the way: rejected plans, dead workers
  std::string origin, proof;
  Levels levels;
  double milliseconds = 0;
  // Whether the scenario accepts it.
  bool passes(const Scenario& scenario) const {
    return outcome == Outcome::kExact || (outcome == Outcome::kAsGood && scenario.as_good_suffices);
  }
};

struct JudgeOptions {
  portfolio::Engine engine = portfolio::Engine::kAuto;
  double budget_ms = 1000;
  bool deterministic = false;
};

Judgement judge(const Scenario& scenario, portfolio::Portfolio& portfolio, const JudgeOptions& options);

// Compares share, quota, work and evicted; positive: a is better.
int compare_up_to_evicted(const Levels& a, const Levels& b, const std::vector<LevelId>& ids);

}  // namespace muster::scenarios
