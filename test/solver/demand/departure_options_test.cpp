#include "solver/demand/departure_options.h"

#include <string>

#include <gtest/gtest.h>

#include "test/solver/random_cluster.h"

namespace muster::formulation {
namespace {

// A node of 4 GPUs in use by `low` (priority 1, 2 GPUs), `fixed` (may not be evicted, 1) and `top` (priority 9, 1);
// what waits is up to each test.
struct Found {
  Found(const std::string& policy, const std::string& waiting)
      : cluster(test::Case::of_line(test::line_of(
            R"("nodes":[{"name":"n","resources":{"cpu":64,"memory":"64Gi"},"gpus":{"count":4}}],"policy":)" + policy +
                R"(,"gangs":[{"name":"low","priority":1},{"name":"fixed","priority":1,"preemptible":false},
            {"name":"top","priority":9},{"name":"high","priority":5},{"name":"equal","priority":1}],"pods":[
            {"name":"l","gang":"low","gpu":{"count":2},"node":"n","gpus":[0,1],"started":0},
            {"name":"f","gang":"fixed","gpu":{"count":1},"node":"n","gpus":[2],"started":0},
            {"name":"t","gang":"top","gpu":{"count":1},"node":"n","gpus":[3],"started":0})" +
                waiting + "]",
            1000))),
        before(cluster.problem(), ClusterState::Releasing::kFreed),
        rules(cluster.problem(), cluster.shares(), before),
        candidates(find_candidates(cluster.problem(), rules, before)) {}

  const DepartureOptions& low() const { return candidates.gangs[GangIndex(0)]; }
  const DepartureOptions& fixed() const { return candidates.gangs[GangIndex(1)]; }
  const DepartureOptions& top() const { return candidates.gangs[GangIndex(2)]; }

  test::Case cluster;
  ClusterState before;
  preemption::EvictionRules rules;
  EvictionCandidates candidates;
};

const std::string kPreempt = R"({"actions":["place","preempt"]})";
const std::string kHighWaits = R"(,{"name":"w","gang":"high","gpu":{"count":2}})";

TEST(FindEvictionCandidates, EvictsLowerPrioritiesForOneThatWaits) {
  const Found found(kPreempt, kHighWaits);
  EXPECT_TRUE(found.candidates.any);
  EXPECT_TRUE(found.low().evicted);
  EXPECT_FALSE(found.low().moved) << "the policy does not name consolidate";
  EXPECT_FALSE(found.fixed().any()) << "it is not preemptible";
  EXPECT_FALSE(found.top().any()) << "its priority is higher";
  EXPECT_TRUE(found.candidates.complete);
}

TEST(FindEvictionCandidates, LeavesOutMovesOnRequest) {
  const Found found(R"({"actions":["place","preempt","consolidate"]})", kHighWaits);
  ASSERT_TRUE(found.low().moved && found.top().moved);
  const EvictionCandidates still = without_moves(found.candidates);
  EXPECT_TRUE(still.any);
  EXPECT_TRUE(still.gangs[GangIndex(0)].evicted);
  EXPECT_FALSE(still.gangs[GangIndex(0)].moved);
  EXPECT_FALSE(still.gangs[GangIndex(2)].any());
  EXPECT_FALSE(still.complete) << "bounds of what remains do not hold for all plans";
  const EvictionCandidates same = without_moves(Found(kPreempt, kHighWaits).candidates);
  EXPECT_TRUE(same.any && same.complete);
}

TEST(FindEvictionCandidates, EvictsNoPodForAnEqualPriority) {
  EXPECT_FALSE(Found(kPreempt, R"(,{"name":"w","gang":"equal","gpu":{"count":2}})").candidates.any);
}

TEST(FindEvictionCandidates, EvictsNoPodIfNonePends) {
  EXPECT_FALSE(Found(kPreempt, "").candidates.any);
  EXPECT_FALSE(Found(kPreempt, R"(,{"name":"w","gang":"high","status":"gated","gpu":{"count":2}})").candidates.any);
}

TEST(FindEvictionCandidates, DoesNothingThatThePolicyDoesNotName) {
  EXPECT_FALSE(Found(R"({"actions":["place"]})", kHighWaits).candidates.any);
}

TEST(FindEvictionCandidates, MovesWhateverIsPreemptibleWhereThePolicyConsolidates) {
  const Found found(R"({"actions":["place","consolidate"]})", kHighWaits);
  EXPECT_TRUE(found.low().moved && !found.low().evicted);
  EXPECT_TRUE(found.top().moved && !found.top().evicted) << "a move is for any priority";
  EXPECT_FALSE(found.fixed().any());
  EXPECT_FALSE(Found(R"({"actions":["place","consolidate"],"maxMoves":0})", kHighWaits).candidates.any);
}

TEST(NoEvictionCandidates, AreEmpty) {
  const Found found(kPreempt, kHighWaits);
  const EvictionCandidates none = no_candidates(found.cluster.problem());
  EXPECT_FALSE(none.any);
  EXPECT_TRUE(none.complete);
  for (const DepartureOptions& leaving : none.gangs) EXPECT_FALSE(leaving.any());
}

}  // namespace
}  // namespace muster::formulation
