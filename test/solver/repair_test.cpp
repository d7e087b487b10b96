#include "solver/repair.h"

#include <string>

#include <gtest/gtest.h>

#include "heuristics/greedy.h"
#include "model/referee.h"
#include "random_cluster.h"

namespace muster {
namespace {

using test::Cluster;

// One node of 8 GPUs, all in use by two pods of low priority, and a gang that wants 4.
Cluster full_node(const std::string& actions) {
  return *test::build_cluster(
      R"({"format":"muster/v1","time":1000,"nodes":[{"name":"n","resources":{"cpu":64,"memory":"64Gi"},"gpus":{"count":8}}],
      "policy":{"actions":)" +
      actions + R"(},"queues":[{"name":"q"}],"gangs":[{"name":"g","queue":"q","priority":10,"minMember":2}],"pods":[
      {"name":"a","queue":"q","gpu":{"count":4},"node":"n","gpus":[0,1,2,3],"started":0},
      {"name":"b","queue":"q","gpu":{"count":4},"node":"n","gpus":[4,5,6,7],"started":900},
      {"name":"g-0","gang":"g","gpu":{"count":2}},{"name":"g-1","gang":"g","gpu":{"count":2}}]})");
}

// The plan after more room has been made beside the evictions that there are.
struct Repaired {
  Repaired(const Cluster& cluster, std::vector<PlannedEviction> evictions) {
    const ClusterState before(cluster.problem, ClusterState::Releasing::kFreed);
    const EvictionRules rules(cluster.problem, cluster.shares, before);
    const Setting setting{cluster.problem, cluster.shares, rules};
    const Leavers leavers = find_leavers(cluster.problem, rules, before);
    const std::vector<bool> reserved(cluster.problem.nodes.size(), false);
    const Subproblem sub(setting, before, leavers, reserved);
    const QueueBounds bounds = queue_bounds(cluster.problem, before);
    ClusterState state = before;
    for (const PlannedEviction& eviction : evictions) state.take(eviction.pod);
    Repair(setting, sub.demand, bounds).claim_more(state, evictions, Deadline(Deadline::Clock::now(), true));
    plan = plan_of(cluster.problem, state, evictions);
    violations = check_plan(*cluster.snapshot, cluster.problem, cluster.shares, plan);
  }
  Plan plan;
  std::vector<Violation> violations;
};

// That the gang is placed for the eviction of that pod alone.
void expect_placed_for(PodIndex victim, const std::vector<PlannedEviction>& so_far) {
  const Cluster cluster = full_node(R"(["place","preempt"])");
  const Repaired repaired(cluster, so_far);
  EXPECT_TRUE(repaired.violations.empty());
  EXPECT_EQ(repaired.plan.placements.size(), 2U);
  ASSERT_EQ(repaired.plan.evictions.size(), 1U);
  EXPECT_EQ(repaired.plan.evictions[0].pod, victim);
}

TEST(ClaimMore, EvictsTheOneWhoHasRunLeastForAGangThatIsLeftOut) { expect_placed_for(PodIndex(1), {}); }

TEST(ClaimMore, KeepsTheEvictionsThatThereAre) {
  expect_placed_for(PodIndex(0), {{PodIndex(0), EvictionReason::kPreempt, GangIndex(0)}});
}

TEST(ClaimMore, LeavesAlonePlansWhoseEvictionsAreForNobody) {
  const Cluster cluster = full_node(R"(["place","preempt"])");
  EXPECT_TRUE(Repaired(cluster, {{PodIndex(0), EvictionReason::kReclaim, GangIndex::none()}}).plan.placements.empty());
}

TEST(ClaimMore, DoesNothingThatThePolicyDoesNotName) {
  const Cluster cluster = full_node(R"(["place"])");
  const Repaired repaired(cluster, {});
  EXPECT_TRUE(repaired.plan.placements.empty());
  EXPECT_TRUE(repaired.plan.evictions.empty());
}

}  // namespace
}  // namespace muster
