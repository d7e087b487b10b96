// Clusters that are divided into cells, planned cell by cell, and put together again.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "io/snapshot_writer/write_snapshot.h"
#include "model/objective/evaluation.h"
#include "solver/cells/bounds.h"
#include "solver/cells/budgets.h"
#include "solver/cells/cell_snapshot.h"
#include "solver/cells/dealing.h"
#include "solver/cells/merging.h"
#include "test/solver/random_cluster.h"
#include "test/support/case.h"
#include "test/support/paths.h"
#include "test/support/plan.h"

namespace muster::cells {
namespace {

using test::Case, test::Cluster;

std::vector<Case> cells_of(const Case& whole, const Dealing& dealing) {
  const CellSnapshots snapshots(whole.problem(), dealing);
  std::vector<Case> parts;
  for (std::size_t cell = 0; cell < dealing.size(); ++cell) {
    std::string line;
    snapshot_writer::write_snapshot(snapshots.of(CellIndex(cell)), line);
    parts.push_back(Case::of_line(line));
  }
  return parts;
}

// By the names of the cell.
Plan plan_of_whole(const Case& whole, const Case& part, const Plan& plan) {
  const auto pod = [&](PodIndex index) { return whole.pod(part.snapshot().pods[index.value()].name); };
  Plan out;
  for (Placement placement : plan.placements) {
    placement.pod = pod(placement.pod);
    placement.node = whole.node(part.snapshot().nodes[placement.node.value()].name);
    for (PodIndex& after : placement.after) after = pod(after);
    std::ranges::sort(placement.after);
    out.placements.push_back(placement);
  }
  for (Eviction eviction : plan.evictions) {
    eviction.pod = pod(eviction.pod);
    if (!eviction.for_gang.is_none()) eviction.for_gang = whole.gang(part->gangs[eviction.for_gang].name);
    out.evictions.push_back(eviction);
  }
  normalise(out);
  return out;
}

CellPlans solve_cells(const Case& whole, const Dealing& dealing) {
  CellPlans plans;
  for (const Case& part : cells_of(whole, dealing))
    plans.push_back(plan_of_whole(whole, part, greedy::solve_greedy(part.problem(), part.shares(), {}).plan));
  return plans;
}

Merged merge_all(const Case& whole, const Dealing& dealing, const CellPlans& plans, const Plan* before = nullptr) {
  return merge(whole.problem(), whole.shares(), dealing, plans, {.before = before});
}

Merged fill_all(const Case& whole, const Dealing& dealing, const CellPlans& plans, const Plan* before = nullptr) {
  Merged merged = merge(whole.problem(), whole.shares(), dealing, plans,
                        {before, std::chrono::steady_clock::now() + std::chrono::hours(1), 1});
  EXPECT_TRUE(whole.check(merged.plan).empty()) << test::text_of(whole.check(merged.plan));
  EXPECT_EQ(merged.levels, evaluate(whole.problem(), whole.shares(), merged.plan));
  return merged;
}

Cluster four_nodes() {
  Cluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.node(name, 4);
  return cluster;
}

TEST(Cells, PlansOfRandomClustersObeyAllRulesTogether) {
  std::size_t refused = 0, placed = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Case whole = test::random_cluster(seed, {.may_evict = seed % 2 == 0, .most_nodes = 6});
    SCOPED_TRACE(whole.line());
    const Dealing dealing = deal(whole.problem(), {.cells = 2 + seed % 2});
    const Merged merged = merge_all(whole, dealing, solve_cells(whole, dealing));
    EXPECT_TRUE(whole.check(merged.plan).empty()) << test::text_of(whole.check(merged.plan));
    EXPECT_EQ(merged.levels, evaluate(whole.problem(), whole.shares(), merged.plan));
    refused += merged.refused.size();
    placed += merged.plan.placements.size();
    for (const std::string& reason : merged.reasons) ADD_FAILURE() << reason;
    if (HasFailure()) return;
  }
  EXPECT_EQ(refused, 0U);
  EXPECT_GT(placed, 300U);
}

TEST(Cells, ASecondRoundIsNeverWorse) {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    const Case whole = test::any_cluster(seed);
    SCOPED_TRACE(whole.line());
    const Dealing dealing = deal(whole.problem(), {.cells = 2});
    const Merged first = merge_all(whole, dealing, solve_cells(whole, dealing));
    const Dealing again = deal(whole.problem(), {.cells = 2, .plan = &first.plan, .round = 2});
    EXPECT_EQ(again.cell_of_node, dealing.cell_of_node);
    const Merged second = merge_all(whole, again, solve_cells(whole, again), &first.plan);
    EXPECT_TRUE(whole.check(second.plan).empty());
    EXPECT_TRUE(compare(second.levels, first.levels, level_ids(whole.problem())) >= 0);
  }
}

TEST(Cells, BoundsHoldForThePlansOfTheWhole) {
  std::size_t tighter = 0;  // than by sums, where pods may leave
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    const Case whole = test::any_cluster(seed);
    SCOPED_TRACE(whole.line());
    const Levels best =
        greedy::solve_greedy(whole.problem(), whole.shares(),
                             {.starts = 8, .stop = {}, .on_placed = {}, .on_first = {}, .stop_more = {}})
            .levels;
    const Plan nothing;
    if (!whole.check(nothing).empty()) continue;
    const Levels levels = evaluate(whole.problem(), whole.shares(), nothing);
    const auto prove_until = [&](std::chrono::steady_clock::time_point until) {
      return prove(whole.problem(), whole.shares(), {nothing, levels, false}, {until, 1, test::program()});
    };
    const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
    const ProvenPlan proven = prove_until(now + std::chrono::hours(1)), by_sums = prove_until(now);
    EXPECT_TRUE(proven.defects.empty());
    EXPECT_TRUE(whole.check(proven.plan.plan).empty());
    EXPECT_EQ(proven.plan.levels, evaluate(whole.problem(), whole.shares(), proven.plan.plan));
    const std::vector<LevelId> ids = level_ids(whole.problem());
    EXPECT_TRUE(compare(proven.plan.levels, levels, ids) >= 0);
    // A bound holds for plans that are equal in all levels before.
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (proven.bounds[i]) {
        if (is_maximised(ids[i].kind))
          EXPECT_LE(best.values[i], *proven.bounds[i]);
        else
          EXPECT_GE(best.values[i], *proven.bounds[i]);
      }
      if (best.values[i] != proven.plan.levels.values[i]) break;
    }
    if (seed % 3 == 2 && proven.bounds[0] && by_sums.bounds[0] && *proven.bounds[0] < *by_sums.bounds[0]) ++tighter;
  }
  EXPECT_GT(tighter, 3U);
}

TEST(Cells, NodesOfEachKindAreDealtInTurn) {
  Cluster cluster = four_nodes();
  for (const char* name : {"c1", "c2"}) cluster.node(name, R"("resources":{"cpu":8})");
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 2});
  std::map<std::pair<std::uint32_t, char>, int> nodes;
  for (const NodeIndex node : whole->nodes.indices())
    ++nodes[{dealing.cell_of_node[node].value(), whole.snapshot().nodes[node.value()].name[0]}];
  EXPECT_EQ(nodes, (std::map<std::pair<std::uint32_t, char>, int>{
                       {{0, 'n'}, 2}, {{1, 'n'}, 2}, {{0, 'c'}, 1}, {{1, 'c'}, 1}}));
}

TEST(Cells, ADomainThatAGangRequiresLiesInOneCell) {
  Cluster cluster;
  for (const char* rack : {"a", "b", "c"})
    for (const char* node : {"1", "2", "3"})
      cluster.node(std::string(rack) + node, 4, R"("labels":{"rack":")" + std::string(rack) + R"("})");
  cluster.with(R"("topology":["rack"])");
  cluster.gang("g", R"("topology":{"required":"rack"})").pods("g", 3, 4, R"("gang":"g")");
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 3});
  for (const char* rack : {"a", "b", "c"})
    for (const char* node : {"2", "3"})
      EXPECT_EQ(dealing.cell_of_node[whole.node(std::string(rack) + node)],
                dealing.cell_of_node[whole.node(std::string(rack) + "1")]);
  const Merged merged = merge_all(whole, dealing, solve_cells(whole, dealing));
  EXPECT_EQ(merged.plan.placements.size(), 3U);
}

TEST(Cells, ALabelNamesThem) {
  Cluster cluster;
  cluster.node("n1", 4, R"("labels":{"pool":"x"})").node("n2", 4, R"("labels":{"pool":"y"})");
  cluster.node("n3", 4, R"("labels":{"pool":"x"})");
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.label = "pool"});
  EXPECT_EQ(dealing.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(dealing.cell_of_node[whole.node("n3")], dealing.cell_of_node[whole.node("n1")]);
}

TEST(Cells, AGangThatRunsInSeveralCellsStays) {
  Cluster cluster = four_nodes();
  cluster.gang("old");
  for (const char* node : {"n1", "n2", "n3", "n4"})
    cluster.running(std::string("old-") + node, node, 4, R"("gang":"old")");
  cluster.gang("new", R"("priority":50)").pods("new", 2, 4, R"("gang":"new")");
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 2});
  EXPECT_EQ(dealing.is_spanning[whole.gang("old")], 1);
  const Merged merged = merge_all(whole, dealing, solve_cells(whole, dealing));
  EXPECT_TRUE(merged.plan.evictions.empty());
  EXPECT_TRUE(merged.refused.empty());
}

TEST(Cells, LimitsAreDividedAsGangsAsk) {
  Cluster cluster = four_nodes();
  cluster.queue("q", R"("gpu":{"limit":6})");
  for (int i = 0; i < 4; ++i) {
    const std::string name = "g" + std::to_string(i);
    cluster.gang(name, R"("queue":"q")").pods(name, 1, 3, R"("gang":")" + name + "\"");
  }
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 4});
  const Budgets budgets = divide(whole.problem(), dealing);
  Amount sum = 0;
  for (const auto& queues : budgets.queues) sum += queues[whole.queue("q")].limit[kQueueGpu];
  EXPECT_EQ(sum, 6'000'000);
  const Merged merged = merge_all(whole, dealing, solve_cells(whole, dealing));
  EXPECT_EQ(merged.plan.placements.size(), 2U);
}

TEST(Cells, LimitsOfAnyResourceHoldForAllCellsTogether) {
  Cluster cluster = four_nodes();
  cluster.queue("q", R"("resources":{"pods":{"limit":2}})");
  for (int i = 0; i < 4; ++i) {
    const std::string name = "g" + std::to_string(i);
    cluster.gang(name, R"("queue":"q")").pods(name, 1, 3, R"("gang":")" + name + "\"");
  }
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 4});
  const Merged merged = merge_all(whole, dealing, solve_cells(whole, dealing));
  EXPECT_EQ(merged.plan.placements.size(), 2U);
  EXPECT_TRUE(merged.refused.empty());
}

TEST(Cells, WithoutAPlanKeepWhatTheyHad) {
  Cluster singles = four_nodes();
  for (int i = 0; i < 4; ++i) singles.pod("p" + std::to_string(i), 4);
  const Case whole(singles);
  const Dealing dealing = deal(whole.problem(), {.cells = 2});
  CellPlans plans = solve_cells(whole, dealing);
  const Merged all = merge_all(whole, dealing, plans);
  EXPECT_EQ(all.plan.placements.size(), 4U);
  plans[1].reset();
  EXPECT_EQ(merge_all(whole, dealing, plans).plan.placements.size(), 2U);
  EXPECT_EQ(merge_all(whole, dealing, plans, &all.plan).plan, all.plan);
}

TEST(Cells, WhatOneCellHasNoRoomForGoesToAnother) {
  std::size_t more = 0, again_more = 0, refused = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const Case whole = test::random_cluster(seed, {.may_evict = seed % 2 == 0, .most_nodes = 6, .running = 40});
    SCOPED_TRACE(whole.line());
    const Dealing dealing = deal(whole.problem(), {.cells = 3});
    CellPlans plans = solve_cells(whole, dealing);
    if (seed % 3 == 0) plans[seed % plans.size()].reset();
    const Merged merged = merge_all(whole, dealing, plans), filled = fill_all(whole, dealing, plans);
    const std::vector<LevelId> ids = level_ids(whole.problem());
    const auto order = compare(filled.levels, merged.levels, ids);
    EXPECT_TRUE(order >= 0);
    if (order > 0) ++more;
    const Dealing again = deal(whole.problem(), {.cells = 3, .plan = &filled.plan, .round = 2});
    const Merged second = fill_all(whole, again, solve_cells(whole, again), &filled.plan);
    const auto next = compare(second.levels, filled.levels, ids);
    EXPECT_TRUE(next >= 0);
    if (next > 0) ++again_more;
    refused += second.refused.size();
    if (HasFailure()) return;
  }
  EXPECT_GT(more, 30U);
  EXPECT_GT(again_more, 0U);
  EXPECT_LT(refused, 10U);
}

TEST(Cells, AGangLargerThanACellRunsInSeveral) {
  Cluster cluster = four_nodes();
  cluster.gang("g").pods("g", 4, 3, R"("gang":"g")").pod("small", 1);
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 2});
  EXPECT_EQ(dealing.too_large, 1U);
  const CellPlans plans = solve_cells(whole, dealing);
  EXPECT_EQ(merge_all(whole, dealing, plans).plan.placements.size(), 1U);
  const Plan filled = fill_all(whole, dealing, plans).plan;
  EXPECT_EQ(filled.placements.size(), 5U);
  const Dealing again = deal(whole.problem(), {.cells = 2, .plan = &filled, .round = 2});
  const Merged second = fill_all(whole, again, solve_cells(whole, again), &filled);
  EXPECT_EQ(second.plan.placements.size(), 5U);
  EXPECT_TRUE(second.refused.empty());
}

TEST(Cells, GangsThatMustMeetOrSpreadHaveNoCellButAPlace) {
  Cluster cluster;
  for (const char* zone : {"a", "b"})
    for (const char* node : {"1", "2"})
      cluster.node(std::string(zone) + node, 4, R"("labels":{"zone":")" + std::string(zone) + R"("})");
  cluster.running("server", "b2", 2, R"("labels":{"app":"server"})");
  cluster.pod("client", 2,
              R"("podAffinity":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"server"}}}])");
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 2});
  EXPECT_EQ(dealing.left_out, 1U);
  const Plan plan = fill_all(whole, dealing, solve_cells(whole, dealing)).plan;
  ASSERT_EQ(plan.placements.size(), 1U);
  EXPECT_TRUE(plan.placements[0].node == whole.node("b1") || plan.placements[0].node == whole.node("b2"));
}

TEST(Cells, SharesAreReclaimedInTheWhole) {
  Cluster cluster = four_nodes();
  cluster.with(R"("policy":{"actions":["place","reclaim"]})");
  cluster.queue("rich", R"("gpu":{"quota":8})").queue("poor", R"("gpu":{"quota":8})");
  for (const char* node : {"n1", "n2", "n3", "n4"}) {
    const std::string gang = std::string("old-") + node;
    cluster.gang(gang, R"("queue":"rich")").running(gang, node, 4, R"("gang":")" + gang + "\"");
  }
  cluster.gang("new", R"("queue":"poor")").pods("new", 2, 4, R"("gang":"new")");
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 2});
  const CellPlans plans = solve_cells(whole, dealing);
  EXPECT_TRUE(merge_all(whole, dealing, plans).plan.placements.empty());
  const Plan plan = fill_all(whole, dealing, plans).plan;
  EXPECT_EQ(plan.placements.size(), 2U);
  EXPECT_EQ(plan.evictions.size(), 2U);
}

TEST(Cells, PodsOfLowPriorityGiveWayToThoseOfACellWithoutAPlan) {
  Cluster cluster = four_nodes();
  for (int i = 0; i < 4; ++i) cluster.pod("low" + std::to_string(i), 4);
  cluster.gang("high", R"("priority":50)").pods("high", 2, 4, R"("gang":"high")");
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 2});
  CellPlans plans(2);
  for (const NodeIndex node : whole->nodes.indices()) {
    std::optional<Plan>& plan = plans[dealing.cell_of_node[node].value()];
    if (!plan) plan.emplace();
    plan->placements.push_back({whole.pod("low" + std::to_string(node.value())), node, {0, 1, 2, 3}, {}, 0});
  }
  const Plan plan = fill_all(whole, dealing, plans).plan;
  EXPECT_EQ(plan.placements.size(), 4U);
  EXPECT_EQ(std::ranges::count_if(
                plan.placements,
                [&](const Placement& placement) { return whole->pods[placement.pod].gang == whole.gang("high"); }),
            2);
}

TEST(Cells, APlanThatBreaksARuleIsLeftOut) {
  Cluster cluster = four_nodes();
  for (int i = 0; i < 4; ++i) cluster.pod("p" + std::to_string(i), 4);
  const Case whole(cluster);
  const Dealing dealing = deal(whole.problem(), {.cells = 2});
  CellPlans plans = solve_cells(whole, dealing);
  for (Placement& placement : plans[0]->placements) placement.node = plans[0]->placements[0].node;
  const Merged merged = merge_all(whole, dealing, plans);
  EXPECT_EQ(merged.refused, std::vector<std::size_t>{0});
  EXPECT_EQ(merged.plan.placements.size(), 2U);
}

}  // namespace
}  // namespace muster::cells
