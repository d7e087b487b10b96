#include "cli/agent/rbac.h"

#include <string>

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(AgentRoles, OfAdviceChangeNothingButEvents) {
  const std::string yaml = rbac_yaml(ApplyMode::kNone);
  EXPECT_TRUE(has(yaml, R"("pods")"));
  EXPECT_TRUE(has(yaml, R"("leaderworkersets")"));
  EXPECT_TRUE(has(yaml, R"("priorityclasses")"));
  EXPECT_TRUE(has(yaml, R"("storageclasses")"));
  EXPECT_FALSE(has(yaml, "eviction"));
  EXPECT_FALSE(has(yaml, "binding\""));
  EXPECT_FALSE(has(yaml, "patch"));
  EXPECT_FALSE(has(yaml, "\"*\""));
}

TEST(AgentRoles, OfEachModeHaveItsWrites) {
  EXPECT_TRUE(has(rbac_yaml(ApplyMode::kBindings), "pods/binding"));
  EXPECT_TRUE(has(rbac_yaml(ApplyMode::kGates), "patch"));
  EXPECT_TRUE(has(rbac_yaml(ApplyMode::kKai), R"("bindrequests"])"));
  EXPECT_TRUE(has(rbac_yaml(ApplyMode::kKai), "resources: [\"podgroups\"]\n    verbs: [\"patch\"]"));
  for (const ApplyMode mode : {ApplyMode::kGates, ApplyMode::kKai, ApplyMode::kBindings})
    EXPECT_TRUE(has(rbac_yaml(mode), "pods/eviction"));
  EXPECT_FALSE(has(rbac_yaml(ApplyMode::kGates), "pods/binding"));
}

TEST(AgentRoles, OfTheExtenderBindAndNominate) {
  const std::string yaml = rbac_yaml(ApplyMode::kExtender);
  for (const char* right : {"pods/binding", "pods/status", "pods/eviction"}) EXPECT_TRUE(has(yaml, right)) << right;
  EXPECT_FALSE(has(rbac_yaml(ApplyMode::kKai), "pods/status"));
}

TEST(AgentRoles, HaveThoseOfGroupsOnDemand) {
  EXPECT_TRUE(has(rbac_yaml(ApplyMode::kNone, GroupMarking::kMarked), R"(resources: ["podgroups/status"])"));
  EXPECT_TRUE(has(rbac_yaml(ApplyMode::kNone, GroupMarking::kMarked), R"(verbs: ["patch"])"));
}

}  // namespace
}  // namespace muster::cli
