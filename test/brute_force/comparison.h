// One tiny instance: the results of brute force, the greedy engine and the MILP engine, and their differences.
#pragma once

#include <string>
#include <vector>

#include "solver/portfolio/portfolio.h"

namespace muster::brute_force {

enum class Finding : std::uint8_t {
  kAgrees,      // all levels are equal, bounds hold
  kTooLarge,    // brute force gave up
  kUnreadable,  // the generator's line is refused
  kBruteForce,  // brute force itself breaks a rule, or miscounts its levels
  kThrows,      // an engine throws
  kRule,        // an engine's plan breaks a rule, or a plan was rejected on the way
  kBeyond,      // an engine is better than the best: brute force misses something, or the referee does
  kFalseProof,  // short of the best, yet called optimal; or a bound that the best exceeds
  kShort        // below the best, without a claim
};
std::string_view finding_name(Finding finding);

struct Comparison {
  Finding finding = Finding::kAgrees;
  bool greedy_is_best = false, is_proven = false;
  bool evicts = false, moves = false;  // the best plan
  std::string first_level;             // of the shortfall
  bool is_relaxed = false;  // it is short by rules that the integer program knows in part: Affinity, Spread and Price
  std::vector<std::string> remarks;
  std::int64_t states = 0;
};

struct ComparisonOptions {
  std::int64_t most_states = 3'000'000;
  bool with_milp = true;
  bool with_evictions = false;  // all actions, compared on the levels down to `moved`; else `place` alone, on all
};

Comparison compare_engines(const std::string& line, portfolio::Portfolio& portfolio, const ComparisonOptions& options);

}  // namespace muster::brute_force
