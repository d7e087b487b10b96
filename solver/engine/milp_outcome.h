// What the MILP engine came to.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heuristics/state/candidate.h"
#include "model/referee/referee.h"

namespace muster::engine {

struct MilpOutcome {
  Candidate best;                                                       // the incumbent, or something better
  bool improved = false;                                                // by this engine
  std::optional<std::chrono::steady_clock::time_point> first_improved;  // when it was for the first time
  std::vector<std::optional<std::int64_t>> bounds;  // by level, in its scale; each given the plan's values before it
  std::vector<std::string> defects;                 // what went wrong on the way: workers that died
  std::map<referee::Rule, std::int64_t> refused;    // better plans that broke a rule: how often they broke which
};

}  // namespace muster::engine
