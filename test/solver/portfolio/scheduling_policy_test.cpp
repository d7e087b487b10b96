#include "solver/portfolio/scheduling_policy.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/referee/referee.h"
#include "test/solver/master_case.h"
#include "test/support/paths.h"

namespace muster::portfolio {
namespace {

// Two nodes of 8 GPUs, and pods of 8, 4 and 4: whatever the policy, each finds room.
test::Case all_fits() {
  return test::Case(test::nodes_with({{"a", 8}, {"b", 8}}).pods("eight", 1, 8).pods("four", 2, 4));
}

TEST(SchedulingPolicy, PlacesWhatFitsWhicheverItIs) {
  ASSERT_GE(policy_names().size(), 3U);
  for (const std::string_view name : policy_names()) {
    const test::Case cluster = all_fits();
    SchedulingPolicy policy({.name = std::string(name)}, test::program());
    std::vector<std::string> defects;
    const Plan plan = policy.decide(cluster.snapshot(), *cluster, cluster.shares(), defects);
    EXPECT_TRUE(defects.empty()) << name << ": " << (defects.empty() ? "" : defects.front());
    EXPECT_TRUE(cluster.check(plan).empty()) << name;
    if (name.find("one-by-one") == std::string_view::npos) {
      EXPECT_GE(plan.placements.size(), 2U) << name;
    }
  }
}

TEST(SchedulingPolicy, DecidesTheSameAgain) {
  const test::Case cluster = all_fits();
  for (const std::string_view name : policy_names()) {
    std::vector<std::string> defects;
    SchedulingPolicy once({.name = std::string(name)}, test::program()),
        again({.name = std::string(name)}, test::program());
    EXPECT_EQ(once.decide(cluster.snapshot(), *cluster, cluster.shares(), defects),
              again.decide(cluster.snapshot(), *cluster, cluster.shares(), defects))
        << name;
  }
}

TEST(SchedulingPolicy, OnlyTheClairvoyantKnowsWhatIsToCome) {
  for (const std::string_view name : policy_names())
    EXPECT_EQ(known_durations(name) == KnownDurations::kExact, name == "clairvoyant") << name;
  EXPECT_EQ(known_durations("greedy"), KnownDurations::kByRules);
  EXPECT_EQ(known_durations("easy"), KnownDurations::kExpected);
  EXPECT_EQ(known_durations("backfill"), KnownDurations::kNone);
}

}  // namespace
}  // namespace muster::portfolio
