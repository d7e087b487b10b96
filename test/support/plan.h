// Plans as short text, and what a plan does, by the names of a case.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/case.h"

namespace muster::test {

// Of lines "place POD NODE [gpus N...] [after POD...]" and "evict POD REASON [GANG]". Throws std::runtime_error if a
// line is neither.
Plan plan_of(const Case& of, const std::string& text);
// The way back; each line ends.
std::string text_of(const Case& of, const Plan& plan);

// A line for each.
std::string text_of(const std::vector<referee::Violation>& violations);
// Reports a failure of the test for each rule that the plan breaks.
void expect_legal(const Case& of, const Plan& plan);

// Where the plan places the pod; "" if it does not.
std::string node_of(const Case& of, const Plan& plan, std::string_view pod);
// The node of each pod, in order, "-" if it has none: "a b -".
std::string nodes_of(const Case& of, const Plan& plan, std::initializer_list<const char*> pods);
std::set<std::string> placed_pods(const Case& of, const Plan& plan);
// Pods of the gang that run after the plan.
int running_pods(const Case& of, const Plan& plan, std::string_view gang);

// A case after a plan, which the referee has checked: a failure of the test for each rule that is broken.
class Outcome {
 public:
  Outcome(Case before, Plan plan) : case_(std::move(before)), plan_(std::move(plan)) { expect_legal(case_, plan_); }
  const Plan& plan() const { return plan_; }
  std::string node(std::string_view pod) const { return node_of(case_, plan_, pod); }
  int running(std::string_view gang) const { return running_pods(case_, plan_, gang); }

 private:
  Case case_;
  Plan plan_;
};

}  // namespace muster::test
