// The instances of the quality table, their budgets, and their targets.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace muster::bench {

struct QualityGoal {
  double budget_ms = 0;
  double gap_percent = 0;  // wanted: at most this, proven
  // The best mean gap that throw-away prototypes of the same ideas reached on similarly generated instances, in about
  // that time. Their objective was a single weighted sum and their draws were others, so the ratio is for orientation.
  std::optional<double> prototype_percent = {};
};

struct QualityCase {
  std::string name;
  std::string command;  // of `muster`: prints the instance; the seed goes behind it
  std::vector<QualityGoal> goals;
};

// Pods of the OpenB cases are drawn from the trace `default` in gangs of 1..64, weights 1/size^2; running pods are
// single, placed by random fit, and may not be evicted. Only "contended" has more than one queue and priority, and only
// there are actions other than placing.
inline const std::vector<QualityCase>& quality_cases() {
  static const std::vector<QualityCase> cases = {
      {"openb-empty",
       "import openb --gangs 64 --falling-sizes --load 1.2 --place-only",
       {{200, 1, 0.53}, {1'000, 0.4, 0.53}, {10'000, 0.1, 0.38}}},
      {"openb-half",
       "import openb --gangs 64 --falling-sizes --occupy 0.5 --load 1.5 --place-only",
       {{1'000, 0.5, 1.98}, {10'000, 0.3, 1.33}}},
      {"openb8-empty",
       "import openb --tile 8 --gangs 64 --falling-sizes --load 1.2 --place-only",
       {{1'000, 1, 0.87}, {10'000, 0.3, 0.79}}},
      {"openb8-half",
       "import openb --tile 8 --gangs 64 --falling-sizes --occupy 0.5 --load 1.5 --place-only",
       {{1'000, 1.6, 3.66}, {10'000, 0.5, 3.66}}},
      {"openb80-half",
       "import openb --tile 80 --gangs 64 --falling-sizes --occupy 0.5 --load 1.5 --place-only",
       {{10'000, 1.6}}},
      {"synth",
       "generate --preset synth --nodes 10000 --load 1.2 --place-only",
       {{200, 0.2, 0.13}, {1'000, 0.2, 0.13}}},
      {"contended", "generate --preset contended", {{1'000, 2}, {10'000, 0.5}}}};
  return cases;
}

}  // namespace muster::bench
