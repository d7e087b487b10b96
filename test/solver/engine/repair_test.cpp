#include "solver/engine/repair.h"

#include <string>

#include <gtest/gtest.h>

#include "heuristics/state/candidate.h"
#include "heuristics/state/plan_of.h"
#include "model/referee/referee.h"
#include "test/solver/master_case.h"

namespace muster::engine {
namespace {

// What the repairs make of a state: two nodes of four GPUs; `a` and `b` of a gang that needs both of them run on the
// first, `w` waits.
struct TwoNodes {
  TwoNodes()
      : cluster(test::nodes_with({{"m", 4}, {"n", 4}})
                    .policy(R"("actions":["place","preempt"])")
                    .gang("g", R"("minMember":2)")
                    .gang("h", R"("priority":9)")
                    .gang("i", R"("priority":5)")
                    .running("a", "m", 2, R"("gang":"g","gpus":[0,1],"started":0)")
                    .running("b", "m", 2, R"("gang":"g","gpus":[2,3],"started":0)")
                    .pod("w", 4, R"("gang":"h")")
                    .pod("v", 3, R"("gang":"i")")),
        state(cluster.problem(), ClusterState::Releasing::kFreed),
        before(state),
        rules(cluster.problem(), cluster.shares(), before),
        setting{cluster.problem(), cluster.shares(), rules},
        demand(formulation::collect_demand(cluster.problem(),
                                           formulation::find_candidates(cluster.problem(), rules, before), before)),
        bounds(queue_bounds(cluster.problem(), before)),
        repair(setting, demand, bounds) {}

  test::Case cluster;
  ClusterState state, before;
  preemption::EvictionRules rules;
  column_generation::Setting setting;
  formulation::Demand demand;
  QueueBounds bounds;
  Repair repair;
};
constexpr PodIndex kA{0}, kB{1}, kW{2}, kV{3};
constexpr NodeIndex kM{0}, kN{1};
constexpr GangIndex kH{1};
const std::vector<PlannedEviction> kBothGo = {{kA, EvictionReason::kPreempt, kH}, {kB, EvictionReason::kPreempt, kH}};

TEST(BringBack, KeepsAnEvictedPodIfItsPlaceIsFree) {
  TwoNodes two;
  for (const PodIndex pod : {kA, kB}) two.state.take(pod);
  two.state.put(kW, kN, {0, 1, 2, 3});
  two.repair.bring_back(two.state, kBothGo, Deadline(Deadline::Clock::now() + std::chrono::hours(1), false));
  ASSERT_TRUE(two.state.is_present(kA) && two.state.is_present(kB));
  EXPECT_EQ(two.state.node_of(kA), kM);
}

// One of its two pods could come back; with one alone the gang has not its minimum.
TEST(BringBack, BringsNoPartOfAGangThatIsLessThanItsMinimum) {
  TwoNodes two;
  for (const PodIndex pod : {kA, kB}) two.state.take(pod);
  two.state.put(kV, kM, {0, 1, 2});
  two.repair.bring_back(two.state, kBothGo, Deadline(Deadline::Clock::now() + std::chrono::hours(1), false));
  EXPECT_FALSE(two.state.is_present(kA) || two.state.is_present(kB));
}

// The node n has room for one of the two that wait: the higher priority, although it asks for more.
TEST(FillUp, PlacesWhatIsLeftOutByPriority) {
  TwoNodes two;
  two.repair.fill_up(two.state, Deadline(Deadline::Clock::now(), true));
  ASSERT_TRUE(two.state.is_present(kW));
  EXPECT_EQ(two.state.node_of(kW), kN);
  EXPECT_FALSE(two.state.is_present(kV));
}

}  // namespace
}  // namespace muster::engine
