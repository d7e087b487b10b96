#include "cli/agent/planning/options.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

AgentOptions options_of(std::vector<const char*> words) {
  words.insert(words.begin(), {"muster", "--kube-api", "http://127.0.0.1:1"});
  return agent_options(Settings(agent_syntax(), static_cast<int>(words.size()), words.data()));
}

// Reading a large cluster may take more than the budget of a plan.
TEST(OptionsOfTheAgent, LeaveTheSolverTimeHoweverLongReadingTakes) {
  const AgentOptions options = options_of({"--period", "2s"});
  EXPECT_EQ(options.line.budget, 1'000'000'000);
  EXPECT_GT(options.line.least_share, 0);
}

TEST(OptionsOfTheAgent, NameTheSchedulerOfBindingsAndTheGate) {
  EXPECT_EQ(options_of({"--apply", "bindings"}).reader.policy.schedulers, std::vector<std::string>{"muster"});
  EXPECT_EQ(options_of({"--apply", "gates"}).reader.kubernetes.planned_gate, "muster/planned");
  EXPECT_TRUE(options_of({"--apply", "kai"}).reader.policy.schedulers.empty());
}

}  // namespace
}  // namespace muster::cli
