// Valid plans of small snapshots, both as text, so that a test can break either by replacing one phrase.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/referee/referee.h"
#include "test/support/case.h"
#include "test/support/plan.h"

namespace muster::test {

// A valid plan of a snapshot.
struct Scenario {
  std::string name, snapshot, plan;
};

// Breaks a scenario in one way: `from`, a phrase that occurs once in the plan or else in the snapshot, becomes `to`.
struct Breach {
  std::string name;
  referee::Rule rule;
  std::string from, to;
};

inline void replace_once(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("the phrase is not there: " + from);
  if (text.find(from, at + 1) != std::string::npos) throw std::runtime_error("the phrase is there twice: " + from);
  text.replace(at, from.size(), to);
}

inline void expect_valid(const Scenario& scenario) {
  const Case valid = Case::of_line(scenario.snapshot);
  EXPECT_EQ(text_of(valid.check(plan_of(valid, scenario.plan))), "") << scenario.name;
}

inline void expect_found(const Scenario& scenario, const Breach& breach) {
  Scenario broken = scenario;
  replace_once(broken.plan.find(breach.from) != std::string::npos ? broken.plan : broken.snapshot, breach.from,
               breach.to);
  const Case changed = Case::of_line(broken.snapshot);
  const std::vector<referee::Violation> violations = changed.check(plan_of(changed, broken.plan));
  const bool found = std::ranges::any_of(
      violations, [&](const referee::Violation& violation) { return violation.rule == breach.rule; });
  EXPECT_TRUE(found) << scenario.name << ", " << breach.name << ": " << referee::rule_name(breach.rule)
                     << " is not among\n"
                     << text_of(violations);
  EXPECT_TRUE(std::ranges::is_sorted(violations, {}, &referee::Violation::rule)) << breach.name;
}

}  // namespace muster::test
