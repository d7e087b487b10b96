#include "solver/lp/packing_bound.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "model/objective/levels.h"
#include "test/solver/master_case.h"
#include "test/solver/random_cluster.h"

namespace muster::lp {
namespace {

test::Cluster cluster_of(const std::vector<int>& nodes, const std::vector<int>& pods) {
  test::Cluster cluster;
  for (std::size_t i = 0; i < nodes.size(); ++i) cluster.node("n" + std::to_string(i), nodes[i]);
  cluster.queue("q");
  for (std::size_t i = 0; i < pods.size(); ++i) cluster.pod("p" + std::to_string(i), pods[i], R"("queue":"q")");
  return cluster;
}

Work bound_of(const std::vector<int>& nodes, const std::vector<int>& pods) {
  const test::Case cluster(cluster_of(nodes, pods));
  return PackingBound(cluster.problem()).most_work(0);
}

TEST(PackingBound, IsAllWorkIfAllFits) { EXPECT_EQ(bound_of({10, 10}, {6, 6, 4, 2, 2}), 20'000); }

// Each node would have to waste one GPU, and there is none to spare.
TEST(PackingBound, LeavesOutTheLeastThatDoesNotFit) { EXPECT_EQ(bound_of({10, 10}, {7, 7, 2, 2, 2}), 18'000); }

TEST(PackingBound, KnowsWhichNodesAPodMayGoTo) {
  const auto most = [](const char* selector) {
    test::Cluster cluster;
    cluster.node("large", 8).node("small", 4, R"("labels":{"size":"small"})").queue("q");
    cluster.pod("a", 8, std::string(R"("queue":"q")") + selector).pod("b", 4, R"("queue":"q")");
    const test::Case found(cluster);
    return PackingBound(found.problem()).most_work(0);
  };
  EXPECT_EQ(most(""), 12'000);
  EXPECT_EQ(most(R"(,"nodeSelector":{"size":"small"})"), 4'000);
}

// What may not move keeps its place: three GPUs on each node are free, and the pod needs four.
TEST(PackingBound, CountsWhatStaysWhereItIs) {
  const auto most = [](const char* policy) {
    test::Cluster cluster;
    cluster.node("n1", 4).node("n2", 4).queue("q");
    for (const char* node : {"n1", "n2"})
      cluster.running(std::string("on-") + node, node, 1, R"("queue":"q","preemptible":true)");
    cluster.pod("p", 4, R"("queue":"q")");
    const test::Case found(cluster.policy(policy));
    return PackingBound(found.problem()).most_work(0);
  };
  EXPECT_EQ(most(R"("actions":["place"])"), 5'000);
  EXPECT_EQ(most(R"("actions":["place","consolidate"])"), 6'000);
}

// The most that fits, by trying every node for every pod.
int most_by_trying(std::vector<int>& free, const std::vector<int>& pods, std::size_t next) {
  if (next == pods.size()) return 0;
  int most = most_by_trying(free, pods, next + 1);
  for (int& node : free) {
    if (node < pods[next]) continue;
    node -= pods[next];
    most = std::max(most, pods[next] + most_by_trying(free, pods, next + 1));
    node += pods[next];
  }
  return most;
}

TEST(PackingBound, IsExactForWholeDevices) {
  std::mt19937_64 random(1);
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  int short_of_all = 0;
  for (int instance = 0; instance < 10'000; ++instance) {
    SCOPED_TRACE(instance);
    std::vector<int> nodes(static_cast<std::size_t>(draw(1, 3))), pods(static_cast<std::size_t>(draw(2, 7)));
    for (int& node : nodes) node = draw(3, 8);
    for (int& pod : pods) pod = draw(1, 5);
    if (std::accumulate(pods.begin(), pods.end(), 0) > std::accumulate(nodes.begin(), nodes.end(), 0)) continue;
    const int most = most_by_trying(nodes, pods, 0);
    EXPECT_EQ(bound_of(nodes, pods), 1000 * most);
    short_of_all += most < std::accumulate(pods.begin(), pods.end(), 0) ? 1 : 0;
  }
  EXPECT_GT(short_of_all, 100);
}

// Of 200 sizes, so that there are more sets of pods that could be missing than could be kept: it gives up in time, with
// a bound that is none the less one.
TEST(PackingBound, GivesUpWhereManyPodsAreMissing) {
  std::vector<int> pods;
  for (int size = 1; size <= 200; ++size) pods.push_back(size);
  const int all = std::accumulate(pods.begin(), pods.end(), 0);
  const test::Case cluster(cluster_of({all - 500}, pods));
  PackingBound bound(cluster.problem());
  EXPECT_LE(bound.most_work(0), bound.all_work(0));
  EXPECT_GE(bound.most_work(0), 1000 * (all - 500));
}

// As deep as this, the search would end the process.
TEST(PackingBound, IsBySumsOnManyNodes) {
  std::vector<int> pods;
  for (int i = 0; i < 20'000; ++i) pods.push_back(1 + i % 4);
  const test::Case cluster(cluster_of(std::vector<int>(6'250, 8), pods));
  PackingBound bound(cluster.problem());
  EXPECT_EQ(bound.most_work(0), 50'000'000);
}

// Whatever rules there are: no plan has more.
TEST(PackingBound, HoldsForPlansOfRandomClusters) {
  int held = 0;
  for (std::uint32_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    const test::Case cluster = test::any_cluster(seed);
    const Candidate plan = greedy::solve_greedy(cluster.problem(), cluster.shares(), {});
    const std::vector<std::int64_t> work = values_of_kind(cluster.problem(), plan.levels, LevelKind::kWork);
    PackingBound bound(cluster.problem());
    for (std::size_t rank = 0; rank < work.size(); ++rank) {
      EXPECT_LE(work[rank], bound.most_work(rank));
      held += bound.most_work(rank) < bound.all_work(rank) ? 1 : 0;
      if (work[rank] != bound.all_work(rank)) break;
    }
  }
  EXPECT_GT(held, 50);
}

}  // namespace
}  // namespace muster::lp
