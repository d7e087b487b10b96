#include "solver/portfolio/scheduling_policy.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/referee/referee.h"
#include "test/solver/scene.h"

namespace muster::portfolio {
namespace {

using test::cluster_of;
using test::node_line;
using test::pod_lines;

// Two nodes of 8 GPUs, and pods of 8, 4 and 4: whatever the policy, each finds room.
test::Cluster all_fits() {
  return cluster_of(node_line("a", 8) + "," + node_line("b", 8),
                    pod_lines("eight", 1, R"("gpu":{"count":8})") + "," + pod_lines("four", 2, R"("gpu":{"count":4})"));
}

TEST(SchedulingPolicy, PlacesWhatFitsWhicheverItIs) {
  ASSERT_GE(policy_names().size(), 3U);
  for (const std::string_view name : policy_names()) {
    const test::Cluster cluster = all_fits();
    SchedulingPolicy policy({.name = std::string(name)}, MUSTER_BINARY);
    std::vector<std::string> defects;
    const Plan plan = policy.decide(*cluster.snapshot, cluster.problem, cluster.shares, defects);
    EXPECT_TRUE(defects.empty()) << name << ": " << (defects.empty() ? "" : defects.front());
    EXPECT_TRUE(referee::check_plan(*cluster.snapshot, cluster.problem, cluster.shares, plan).empty()) << name;
    if (name.find("one-by-one") == std::string_view::npos) {
      EXPECT_GE(plan.placements.size(), 2U) << name;
    }
  }
}

TEST(SchedulingPolicy, DecidesTheSameAgain) {
  const test::Cluster cluster = all_fits();
  for (const std::string_view name : policy_names()) {
    std::vector<std::string> defects;
    SchedulingPolicy once({.name = std::string(name)}, MUSTER_BINARY),
        again({.name = std::string(name)}, MUSTER_BINARY);
    EXPECT_EQ(once.decide(*cluster.snapshot, cluster.problem, cluster.shares, defects),
              again.decide(*cluster.snapshot, cluster.problem, cluster.shares, defects))
        << name;
  }
}

}  // namespace
}  // namespace muster::portfolio
