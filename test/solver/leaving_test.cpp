#include "solver/formulation/leaving.h"

#include <string>

#include <gtest/gtest.h>

#include "random_cluster.h"

namespace muster {
namespace {

// A node of 4 GPUs in use by `low` (priority 1, 2 GPUs), `fixed` (may not be evicted, 1) and `top` (priority 9, 1);
// what waits is up to each test.
struct Found {
  Found(const std::string& policy, const std::string& waiting)
      : cluster(*test::build_cluster(
            R"({"format":"muster/v1","time":1000,"nodes":[{"name":"n","resources":{"cpu":64,"memory":"64Gi"},)"
            R"("gpus":{"count":4}}],"policy":)" +
            policy + R"(,"gangs":[{"name":"low","priority":1},{"name":"fixed","priority":1,"preemptible":false},
            {"name":"top","priority":9},{"name":"high","priority":5},{"name":"equal","priority":1}],"pods":[
            {"name":"l","gang":"low","gpu":{"count":2},"node":"n","gpus":[0,1],"started":0},
            {"name":"f","gang":"fixed","gpu":{"count":1},"node":"n","gpus":[2],"started":0},
            {"name":"t","gang":"top","gpu":{"count":1},"node":"n","gpus":[3],"started":0})" +
            waiting + "]}")),
        before(cluster.problem, ClusterState::Releasing::kFreed),
        rules(cluster.problem, cluster.shares, before),
        leavers(find_leavers(cluster.problem, rules, before)) {}

  const Leaving& low() const { return leavers.gangs[GangIndex(0)]; }
  const Leaving& fixed() const { return leavers.gangs[GangIndex(1)]; }
  const Leaving& top() const { return leavers.gangs[GangIndex(2)]; }

  test::Cluster cluster;
  ClusterState before;
  EvictionRules rules;
  Leavers leavers;
};

const std::string kPreempt = R"({"actions":["place","preempt"]})";
const std::string kHighWaits = R"(,{"name":"w","gang":"high","gpu":{"count":2}})";

TEST(FindLeavers, EvictsLowerPrioritiesForOneThatWaits) {
  const Found found(kPreempt, kHighWaits);
  EXPECT_TRUE(found.leavers.any);
  EXPECT_TRUE(found.low().evicted);
  EXPECT_FALSE(found.low().moved) << "the policy does not name consolidate";
  EXPECT_FALSE(found.fixed().any()) << "it is not preemptible";
  EXPECT_FALSE(found.top().any()) << "its priority is higher";
  EXPECT_TRUE(found.leavers.complete);
}

TEST(FindLeavers, EvictsNobodyForAnEqualPriority) {
  EXPECT_FALSE(Found(kPreempt, R"(,{"name":"w","gang":"equal","gpu":{"count":2}})").leavers.any);
}

TEST(FindLeavers, EvictsNobodyWhereNobodyWaits) {
  EXPECT_FALSE(Found(kPreempt, "").leavers.any);
  EXPECT_FALSE(Found(kPreempt, R"(,{"name":"w","gang":"high","status":"gated","gpu":{"count":2}})").leavers.any);
}

TEST(FindLeavers, DoesNothingThatThePolicyDoesNotName) {
  EXPECT_FALSE(Found(R"({"actions":["place"]})", kHighWaits).leavers.any);
}

TEST(FindLeavers, MovesWhateverIsPreemptibleWhereThePolicyConsolidates) {
  const Found found(R"({"actions":["place","consolidate"]})", kHighWaits);
  EXPECT_TRUE(found.low().moved && !found.low().evicted);
  EXPECT_TRUE(found.top().moved && !found.top().evicted) << "a move is for any priority";
  EXPECT_FALSE(found.fixed().any());
  EXPECT_FALSE(Found(R"({"actions":["place","consolidate"],"maxMoves":0})", kHighWaits).leavers.any);
}

TEST(NoLeavers, AreNobody) {
  const Found found(kPreempt, kHighWaits);
  const Leavers nobody = no_leavers(found.cluster.problem);
  EXPECT_FALSE(nobody.any);
  EXPECT_TRUE(nobody.complete);
  for (const Leaving& leaving : nobody.gangs) EXPECT_FALSE(leaving.any());
}

}  // namespace
}  // namespace muster
