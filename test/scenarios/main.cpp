// Without own arguments: the tests. With `--cases FILE`: every case of the file, as a table on standard output.
//
//   test_scenarios --cases FILE [--engine greedy|milp|auto] [--only-actions place,stale] [--budget MS] [--name PART]
//   [--quiet]
//
// MUSTER_CASES=FILE does the same as `--cases FILE`. Exit status: 0 all cases pass, 1 some do not, 64 usage.
#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "test/scenarios/case_file.h"
#include "test/scenarios/judge.h"
#include "test/support/paths.h"

namespace muster::scenarios {
namespace {

constexpr int kUsage = 64;

struct TableOptions {
  std::string cases, name_part;
  std::vector<std::string> engines{"auto"}, only_actions;
  double budget_ms = 1000;
  bool quiet = false;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

portfolio::Engine engine_named(const std::string& name) {
  return name == "greedy" ? portfolio::Engine::kGreedy
                          : (name == "milp" ? portfolio::Engine::kMilp : portfolio::Engine::kAuto);
}

bool is_selected(const Scenario& scenario, const TableOptions& options) {
  if (scenario.name.find(options.name_part) == std::string::npos) return false;
  return options.only_actions.empty() || std::ranges::all_of(scenario.actions, [&](const std::string& action) {
           return std::ranges::find(options.only_actions, action) != options.only_actions.end();
         });
}

int print_table(const TableOptions& options) {
  portfolio::Portfolio portfolio(test::program());
  int failed = 0;
  for (const std::string& engine : options.engines) {
    std::map<std::string, int> tally;
    int passed = 0, total = 0;
    for (const Scenario& scenario : read_scenarios(options.cases)) {
      if (!is_selected(scenario, options)) continue;
      const Judgement judgement = judge(scenario, portfolio, {engine_named(engine), options.budget_ms, false});
      const bool passes = judgement.passes(scenario);
      ++tally[std::string(outcome_name(judgement.outcome))];
      ++total;
      passed += passes ? 1 : 0;
      if (options.quiet && passes && judgement.defects.empty()) continue;
      std::cout << std::left << std::setw(7) << engine << std::setw(34) << scenario.name << std::setw(8)
                << (passes ? "pass" : "FAIL") << std::setw(9) << outcome_name(judgement.outcome) << std::setw(8)
                << judgement.origin << std::setw(10) << judgement.proof << std::right << std::setw(8) << std::fixed
                << std::setprecision(1) << judgement.milliseconds << " ms";
      for (const std::string& remark : judgement.remarks) std::cout << "\n          " << remark;
      for (const std::string& defect : judgement.defects) std::cout << "\n          defect: " << defect;
      std::cout << "\n";
    }
    std::cout << engine << ": " << passed << " of " << total << " pass;";
    for (const auto& [outcome, count] : tally) std::cout << " " << outcome << " " << count;
    std::cout << "\n";
    failed += total - passed;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace muster::scenarios

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  muster::scenarios::TableOptions options;
  if (const char* cases = std::getenv("MUSTER_CASES")) options.cases = cases;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--quiet") {
      options.quiet = true;
      continue;
    }
    if (i + 1 == argc) return muster::scenarios::kUsage;
    const std::string value = argv[++i];
    if (flag == "--cases") {
      options.cases = value;
    } else if (flag == "--engine") {
      options.engines = muster::scenarios::split(value);
    } else if (flag == "--only-actions") {
      options.only_actions = muster::scenarios::split(value);
    } else if (flag == "--budget") {
      options.budget_ms = std::atof(value.c_str());
    } else if (flag == "--name") {
      options.name_part = value;
    } else {
      return muster::scenarios::kUsage;
    }
  }
  return options.cases.empty() ? RUN_ALL_TESTS() : muster::scenarios::print_table(options);
}
