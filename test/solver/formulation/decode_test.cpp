// Solutions written by hand, as plans.
#include "solver/formulation/decode.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/exact_formulation.h"
#include "test/solver/master_case.h"

namespace muster::formulation {
namespace {

using test::Cluster;
using test::ExactFormulation;
using test::nodes_with;

// A cluster, a solution that says nothing yet, and what becomes of it.
struct Solved {
  explicit Solved(const Cluster& made) : cluster(made), f(cluster), state(f.base) {
    solution.gangs.assign(f.demand.gang_classes.size(), 0);
    solution.by_zone = Indexed<CellIndex, std::vector<std::int64_t>>(f.demand.cells.size());
    solution.pods = Indexed<CellIndex, std::int64_t>(f.demand.cells.size(), 0);
    solution.configurations.resize(f.supply.residuals.size());
    solution.evicted =
        Indexed<RunningCellIndex, std::vector<std::pair<std::size_t, std::int64_t>>>(f.demand.running.size());
  }

  // So many nodes of the first residual class with those pods on each: counts by demand class.
  void choose(std::int64_t nodes, const std::vector<std::pair<DemandIndex, std::int32_t>>& counts) {
    const std::vector<Configuration>& all = f.pool.configurations()[ResidualClassIndex(0)];
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (all[j].counts != counts) continue;
      solution.configurations[0].emplace_back(j, nodes);
      return;
    }
    ADD_FAILURE() << "no such configuration";
  }
  void run() {
    decoded =
        decode({f.problem, f.demand, f.zones, f.supply, f.bounds, f.pool.configurations(), f.formulation.channels()},
               solution, state);
  }
  // Node and devices of a pod; none: it is nowhere.
  std::optional<Place> place(std::size_t pod) const {
    if (!state.is_present(PodIndex(pod))) return std::nullopt;
    return state.place_of(PodIndex(pod));
  }

  test::Case cluster;
  ExactFormulation f;
  ClusterState state;
  FormulationSolution solution;
  Decoded decoded;
};

void expect_at(const Solved& s, std::size_t pod, std::size_t node, const std::vector<std::int32_t>& devices) {
  const std::optional<Place> place = s.place(pod);
  ASSERT_TRUE(place) << pod;
  EXPECT_EQ(place->node, NodeIndex(node));
  EXPECT_EQ(std::vector<std::int32_t>(place->devices.begin(), place->devices.end()), devices);
}

Cluster gang_of_pairs() {
  return nodes_with({{"a", 2}, {"b", 2}, {"c", 2}}).gang("g", R"("minMember":2)").pods("p", 2, 2, R"("gang":"g")");
}
constexpr DemandIndex kFirst{0};

TEST(Decode, PutsAGangOnTheNodesThatTheSolutionFills) {
  Solved s(gang_of_pairs());
  s.solution.gangs[0] = 1;
  s.solution.pods[CellIndex(0)] = 2;
  s.choose(2, {{kFirst, 1}});
  s.run();
  EXPECT_EQ(s.decoded.missed, 0);
  expect_at(s, 0, 0, {0, 1});
  expect_at(s, 1, 1, {0, 1});
}

// One node is not enough for the minimum of two pods: neither is placed, and both are missed.
TEST(Decode, PlacesAGangWholeOrNotAtAll) {
  Solved s(gang_of_pairs());
  s.solution.gangs[0] = 1;
  s.solution.pods[CellIndex(0)] = 2;
  s.choose(1, {{kFirst, 1}});
  s.run();
  EXPECT_EQ(s.decoded.missed, 2);
  EXPECT_FALSE(s.place(0) || s.place(1));
}

TEST(Decode, PlacesNothingThatTheSolutionDoesNotAdmit) {
  Solved s(gang_of_pairs());
  s.choose(2, {{kFirst, 1}});
  s.run();
  EXPECT_EQ(s.decoded.missed, 0);
  EXPECT_FALSE(s.place(0) || s.place(1));
}

// Three gangs of one pod each, of which one is admitted: the one that has waited longest.
TEST(Decode, TakesTheGangsOfAClassByAge) {
  Cluster cluster = nodes_with({{"a", 1}});
  cluster.gang("x", R"("created":900)").gang("y", R"("created":100)").gang("z", R"("created":500)");
  Solved s(cluster.pod("x", 1, R"("gang":"x")").pod("y", 1, R"("gang":"y")").pod("z", 1, R"("gang":"z")"));
  s.solution.gangs[0] = 1;
  s.solution.pods[CellIndex(0)] = 1;
  s.choose(1, {{kFirst, 1}});
  s.run();
  EXPECT_FALSE(s.place(0));
  expect_at(s, 1, 0, {0});
  EXPECT_FALSE(s.place(2));
}

// A minimum of one and three pods: the second pod is the surplus that the solution has beside the minimum.
TEST(Decode, PlacesWhatIsElasticBesideTheMinimum) {
  Solved s(nodes_with({{"a", 8}}).pods("p", 3, 1, R"("gang":"g")").with(R"("gangs":[{"name":"g","minMember":1}])"));
  s.solution.gangs[0] = 1;
  s.solution.pods[CellIndex(0)] = 2;
  s.choose(1, {{kFirst, 2}});
  s.run();
  EXPECT_EQ(s.decoded.missed, 0);
  EXPECT_TRUE(s.place(0) && s.place(1));
  EXPECT_FALSE(s.place(2));
}

// The two devices of the node are in use by a pod that may leave for the one that waits.
struct OneMustGo : Solved {
  OneMustGo()
      : Solved(nodes_with({{"a", 2}})
                   .gang("low")
                   .gang("high", R"("priority":5)")
                   .running("r", "a", 2, R"("gang":"low","gpus":[0,1],"started":0)")
                   .pod("w", 2, R"("gang":"high")")
                   .policy(R"("actions":["place","preempt"])")) {}
};
constexpr DemandIndex kStays{0}, kComes{1};

TEST(Decode, KeepsThePodsThatTheSolutionKeeps) {
  OneMustGo s;
  s.choose(1, {{kStays, 1}});
  s.run();
  expect_at(s, 0, 0, {0, 1});
  EXPECT_TRUE(s.decoded.evictions.empty());
}

TEST(Decode, LeavesANodeAsItIsOfWhichTheSolutionSaysNothing) {
  OneMustGo s;
  s.run();
  expect_at(s, 0, 0, {0, 1});
  EXPECT_TRUE(s.decoded.evictions.empty());
}

TEST(Decode, EvictsForTheGangThatTakesTheRoom) {
  OneMustGo s;
  ASSERT_EQ(s.f.formulation.channels().size(), 1U);
  ASSERT_EQ(s.f.formulation.channels()[0].reason, EvictionReason::kPreempt);
  s.choose(1, {{kComes, 1}});
  for (const CellIndex cell : s.f.demand.cells.indices()) {
    if (!s.f.demand.cells[cell].moves.is_none()) continue;
    s.solution.pods[cell] = 1;
    s.solution.gangs[s.f.demand.cells[cell].gang_class.value()] = 1;
  }
  s.solution.evicted[RunningCellIndex(0)] = {{0, 1}};
  s.run();
  EXPECT_EQ(s.decoded.missed, 0);
  expect_at(s, 1, 0, {0, 1});
  ASSERT_EQ(s.decoded.evictions.size(), 1U);
  EXPECT_EQ(s.decoded.evictions[0].pod, PodIndex(0));
  EXPECT_EQ(s.decoded.evictions[0].reason, EvictionReason::kPreempt);
  EXPECT_EQ(s.decoded.evictions[0].for_gang, s.cluster->pods[PodIndex(1)].gang);
}

}  // namespace
}  // namespace muster::formulation
