#include "solver/demand/demand.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solver/demand/departure_options.h"
#include "test/solver/random_cluster.h"

namespace muster::formulation {
namespace {

const std::string kNode = R"({"name":"n","resources":{"cpu":64,"memory":"64Gi"},"gpus":{"count":8}})";

struct Collected {
  explicit Collected(const std::string& members)
      : cluster(test::Case::of_line(test::line_of(R"("nodes":[)" + kNode + "]," + members, 1000))),
        before(cluster.problem(), ClusterState::Releasing::kFreed),
        rules(cluster.problem(), cluster.shares(), before),
        demand(collect_demand(cluster.problem(), find_candidates(cluster.problem(), rules, before), before)) {}

  std::vector<std::string> names(const std::vector<GangIndex>& gangs) const {
    std::vector<std::string> names;
    for (const GangIndex gang : gangs) {
      const PodIndex first = cluster.problem().gangs[gang].pods.front();
      names.emplace_back(cluster.snapshot().pods[first.value()].name);
    }
    return names;
  }

  test::Case cluster;
  ClusterState before;
  preemption::EvictionRules rules;
  Demand demand;
};

TEST(CollectDemand, CountsPodsThatAreAlikeAsOneClass) {
  const Collected c(R"("pods":[{"name":"a","gpu":{"count":1}},{"name":"b","gpu":{"count":2}},
      {"name":"c","gpu":{"count":1}}])");
  ASSERT_EQ(c.demand.classes.size(), 2U);
  EXPECT_EQ(c.demand.classes[DemandIndex(0)].count, 2);
  EXPECT_EQ(c.demand.classes[DemandIndex(0)].weighted_work, 1000) << "thousandths of a GPU";
  EXPECT_EQ(c.demand.classes[DemandIndex(1)].count, 1);
  EXPECT_EQ(c.demand.classes[DemandIndex(1)].weighted_work, 2000);
  ASSERT_EQ(c.demand.gang_classes.size(), 2U);
  EXPECT_EQ(c.demand.gang_classes[GangClassIndex(0)].size(), 2);
}

TEST(CollectDemand, PutsTheGangThatHasWaitedLongestFirst) {
  const Collected c(R"("gangs":[{"name":"g","created":900},{"name":"h","created":100},{"name":"i","created":500}],
      "pods":[{"name":"a","gang":"g","gpu":{"count":1}},{"name":"b","gang":"h","gpu":{"count":1}},
      {"name":"c","gang":"i","gpu":{"count":1}}])");
  ASSERT_EQ(c.demand.gang_classes.size(), 1U);
  EXPECT_EQ(c.names(c.demand.gang_classes[GangClassIndex(0)].gangs), (std::vector<std::string>{"b", "c", "a"}));
}

TEST(CollectDemand, TellsGangsApartThatDifferInMoreThanAge) {
  const Collected c(R"("gangs":[{"name":"g","priority":1},{"name":"h","priority":2},{"name":"i","minMember":2},
      {"name":"j","weight":3}],
      "pods":[{"name":"g0","gang":"g","gpu":{"count":1}},{"name":"h0","gang":"h","gpu":{"count":1}},
      {"name":"i0","gang":"i","gpu":{"count":1}},{"name":"i1","gang":"i","gpu":{"count":1}},
      {"name":"j0","gang":"j","gpu":{"count":1}}])");
  EXPECT_EQ(c.demand.gang_classes.size(), 4U);
  ASSERT_EQ(c.demand.classes.size(), 2U) << "pods of a weight of 3 are worth three times as much";
  EXPECT_EQ(c.demand.classes[DemandIndex(0)].count, 4);
  EXPECT_EQ(c.demand.classes[DemandIndex(1)].weighted_work, 3000);
}

// Each gang of the class needs two of its three pods.
TEST(CollectDemand, KnowsTheMinimumAndThePodsOfEachGangOfAClass) {
  const Collected c(R"("gangs":[{"name":"g","minMember":2}],"pods":[{"name":"a","gang":"g","gpu":{"count":1}},
      {"name":"b","gang":"g","gpu":{"count":1}},{"name":"c","gang":"g","gpu":{"count":1}}])");
  ASSERT_EQ(c.demand.gang_classes.size(), 1U);
  EXPECT_EQ(c.demand.gang_classes[GangClassIndex(0)].minimum, 2);
  ASSERT_EQ(c.demand.cells.size(), 1U);
  EXPECT_EQ(c.demand.cells[CellIndex(0)].count(), 3);
}

TEST(CollectDemand, LeavesOutWhatTheRulesExclude) {
  const Collected c(R"("gangs":[{"name":"big","minResources":{"gpu":9}}],"pods":[{"name":"waits","gpu":{"count":1}},
      {"name":"gated","status":"gated","gpu":{"count":1}},{"name":"done","status":"succeeded","gpu":{"count":1}},
      {"name":"of-big","gang":"big","gpu":{"count":1}}])");
  ASSERT_EQ(c.demand.gang_classes.size(), 1U);
  EXPECT_EQ(c.names(c.demand.gang_classes[GangClassIndex(0)].gangs), std::vector<std::string>{"waits"});
}

const std::string kRunsAndWaits = R"("gangs":[{"name":"low","priority":1},{"name":"high","priority":9}],"pods":[
      {"name":"runs","gang":"low","gpu":{"count":8},"node":"n","gpus":[0,1,2,3,4,5,6,7],"started":400},
      {"name":"waits","gang":"high","gpu":{"count":8}}])";

// 8 GPUs for 600 s: evicting the pod costs 8000 x 600.
TEST(CollectDemand, HasAClassOfStayingPodsForEvictionCandidates) {
  const Collected c(R"("policy":{"actions":["place","preempt"]},)" + kRunsAndWaits);
  ASSERT_EQ(c.demand.running.size(), 1U);
  const RunningCell& cell = c.demand.running[RunningCellIndex(0)];
  EXPECT_EQ(cell.stay, DemandIndex(0)) << "classes that stay come first";
  EXPECT_EQ(c.demand.classes[cell.stay].stays, RunningCellIndex(0));
  EXPECT_EQ(cell.cost, 8000 * 600);
  EXPECT_TRUE(cell.move.is_none()) << "it may be evicted, not moved";
  EXPECT_EQ(c.demand.classes.size(), 2U);
}

TEST(CollectDemand, OmitsPodsThatCannotLeave) {
  const Collected c(R"("policy":{"actions":["place"]},)" + kRunsAndWaits);
  EXPECT_TRUE(c.demand.running.empty());
  ASSERT_EQ(c.demand.classes.size(), 1U);
  EXPECT_EQ(c.demand.classes[DemandIndex(0)].count, 1);
}

TEST(RemoveEvictionCandidates, RemovesExactlyTheEvictionCandidates) {
  const Collected c(R"("policy":{"actions":["place","preempt"]},"gangs":[{"name":"low","priority":1},
      {"name":"high","priority":9},{"name":"fixed","priority":1,"preemptible":false}],"pods":[
      {"name":"runs","gang":"low","gpu":{"count":4},"node":"n","gpus":[0,1,2,3],"started":400},
      {"name":"stays","gang":"fixed","gpu":{"count":4},"node":"n","gpus":[4,5,6,7],"started":400},
      {"name":"waits","gang":"high","gpu":{"count":4}}])");
  ClusterState state = c.before;
  remove_candidates(c.demand, state);
  EXPECT_FALSE(state.is_present(PodIndex(0)));
  EXPECT_TRUE(state.is_present(PodIndex(1)));
}

}  // namespace
}  // namespace muster::formulation
