#include "solver/answers/sizing.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/answers/shape.h"
#include "test/cli/program.h"
#include "test/support/case.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::answers {
namespace {

constexpr std::int64_t kOne = 1'000'000;  // of a price

NodeKind kind(std::string_view shape, std::int64_t price, std::optional<std::int64_t> most = {}) {
  return {std::string(shape), cli::parse_node_shape(shape)->shape, price, most};
}

Sizing size(const test::Cluster& cluster, const SizingQuestion& question) {
  static portfolio::Portfolio portfolio(test::program());
  static cbc::Backend backend{test::program()};
  ExperimentOptions options;
  options.solve.deterministic = true;
  const Snapshot snapshot = test::Case::read(cluster.line());
  Result<Sizing> found = size_nodes(snapshot, portfolio, backend, options, question);
  if (!found) throw std::runtime_error(found.error().message);
  return *std::move(found);
}

// open-simulator#99: how many nodes does this workload need?
TEST(Sizing, FewestNodesOfOneKind) {
  test::Cluster cluster;
  for (int i = 0; i < 5; ++i) {
    const std::string gang = "g" + std::to_string(i);
    cluster.gang(gang).pods(gang, 3, 3, "\"gang\":\"" + gang + "\"");
  }
  const Sizing found = size(cluster, {{kind("gpu=8", kOne)}, false});
  EXPECT_EQ(found.nodes, std::vector<std::int64_t>{8});  // two pods of 3 GPUs a node
  EXPECT_EQ(found.gangs, 5);
  EXPECT_EQ(found.pods, 15);
  EXPECT_TRUE(found.is_proven());
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->solution.plan.placements.size(), 15U);
}

TEST(Sizing, MixesKindsByPrice) {
  test::Cluster cluster;
  cluster.pods("p", 10, R"("gpu":{"fraction":0.6})");
  const Sizing found = size(cluster, {{kind("gpu=8", 8 * kOne), kind("gpu=1", 1'200'000)}, false});
  EXPECT_EQ(found.nodes, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(found.price, 10'400'000);
  EXPECT_TRUE(found.is_proven());
}

TEST(Sizing, HoldsTheMostOfAKind) {
  test::Cluster cluster;
  cluster.pods("p", 6, 1);
  const Sizing found = size(cluster, {{kind("gpu=2", kOne, 2), kind("gpu=1", kOne)}, false});
  EXPECT_EQ(found.nodes, (std::vector<std::int64_t>{2, 2}));
  EXPECT_TRUE(found.is_proven());
  const Sizing none = size(cluster, {{kind("gpu=2", kOne, 2)}, false});
  EXPECT_TRUE(none.nodes.empty());
  EXPECT_TRUE(none.is_impossible);
}

TEST(Sizing, NamesWhatFitsOnNoNode) {
  test::Cluster cluster;
  cluster.pod("small", 1).pod("large", 16).gang("g").pods("g", 2, 9, R"("gang":"g")");
  const Sizing found = size(cluster, {{kind("gpu=8", kOne)}, false});
  EXPECT_TRUE(found.nodes.empty());
  EXPECT_EQ(found.impossible, (std::vector<std::string>{"g", "large"}));
}

TEST(Sizing, RequiredLevelsHoldInThePlanIfNotInTheBound) {
  test::Cluster cluster;
  cluster.with(R"("topology":["rack"])");
  cluster.node("a", 2, R"("labels":{"rack":"r1"})").node("b", 3, R"("labels":{"rack":"r2"})");
  cluster.gang("g", R"("topology":{"required":"rack"})").pods("g", 4, 1, R"("gang":"g")");
  const Sizing found = size(cluster, {{{"a", "a", kOne, 1}, {"b", "b", 2 * kOne, 2}}, false});
  EXPECT_EQ(found.nodes, (std::vector<std::int64_t>{0, 2}));  // not 1 + 1, which is cheaper
  EXPECT_EQ(found.price, 4 * kOne);
  EXPECT_EQ(found.bound, 3 * kOne);
  EXPECT_FALSE(found.is_proven());
}

TEST(Sizing, AntiAffinityHoldsInThePlan) {
  test::Cluster cluster;
  cluster.pods("p", 3, 1,
               R"("labels":{"app":"x"},"podAntiAffinity":[{"topologyKey":"kubernetes.io/hostname",)"
               R"("labelSelector":{"matchLabels":{"app":"x"}}}])");
  const Sizing found = size(cluster, {{kind("gpu=8,label=kubernetes.io/hostname:x", kOne)}, false});
  EXPECT_TRUE(found.nodes.empty());  // all nodes of the shape have one name for a host
  test::Cluster named = cluster;
  named.node("n", 8, R"("labels":{"kubernetes.io/hostname":"n"})");
  EXPECT_EQ(size(named, {{{"n", "n", kOne, {}}}, false}).nodes, std::vector<std::int64_t>{3});
}

TEST(Sizing, WhatIsPresentCountsFirst) {
  test::Cluster cluster;
  cluster.node("n1", 8).running("r", "n1", 5, R"("preemptible":true,"started":1000)");
  cluster.pods("p", 5, 2).queue("default", R"("gpu":{"limit":1})");
  EXPECT_EQ(size(cluster, {{{"n1", "n1", kOne, {}}}, false}).nodes, std::vector<std::int64_t>{2});
  const Sizing found = size(cluster, {{{"n1", "n1", kOne, {}}}, true});
  EXPECT_EQ(found.nodes, std::vector<std::int64_t>{1});
  EXPECT_TRUE(found.is_proven());
  EXPECT_TRUE(found.plan->solution.plan.evictions.empty());
  test::Cluster small;
  small.node("n1", 8).pod("p", 2);
  const Sizing none_needed = size(small, {{{"n1", "n1", kOne, {}}}, true});
  EXPECT_EQ(none_needed.nodes, std::vector<std::int64_t>{0});
  EXPECT_TRUE(none_needed.is_proven());
}

// ---- brute force: two kinds, every pod on every node ----

struct TinyPod {
  int gpus = 0, cpu = 0;
};

bool all_fit(std::vector<TinyPod>& nodes, const std::vector<TinyPod>& pods, std::size_t next) {
  if (next == pods.size()) return true;
  for (TinyPod& node : nodes) {
    if (node.gpus < pods[next].gpus || node.cpu < pods[next].cpu) continue;
    node.gpus -= pods[next].gpus;
    node.cpu -= pods[next].cpu;
    const bool fit = all_fit(nodes, pods, next + 1);
    node.gpus += pods[next].gpus;
    node.cpu += pods[next].cpu;
    if (fit) return true;
  }
  return false;
}

TEST(Sizing, IsNeitherDearerNorItsBoundHigherThanAnExhaustiveSearchAllows) {
  std::mt19937 random(11);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  int proven = 0;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    const TinyPod a{draw(1, 4), draw(1, 6)}, b{draw(1, 8), draw(1, 8)};
    const int price_a = draw(1, 5), price_b = draw(1, 8);
    std::vector<TinyPod> pods;
    test::Cluster cluster;
    for (int i = 0; i < draw(1, 6); ++i) {
      const TinyPod& fits_on = draw(0, 1) > 0 ? a : b;
      pods.push_back({draw(1, fits_on.gpus), draw(1, fits_on.cpu)});
      cluster.pod("p" + std::to_string(i), R"("gpu":{"count":)" + std::to_string(pods.back().gpus) +
                                               R"(},"resources":{"cpu":)" + std::to_string(pods.back().cpu) + "}");
    }
    int cheapest = 1'000'000;
    const int most = static_cast<int>(pods.size());
    for (int of_a = 0; of_a <= most; ++of_a) {
      for (int of_b = 0; of_a + of_b <= most; ++of_b) {
        std::vector<TinyPod> nodes(static_cast<std::size_t>(of_a), a);
        nodes.insert(nodes.end(), static_cast<std::size_t>(of_b), b);
        const int price = of_a * price_a + of_b * price_b;
        if (price < cheapest && all_fit(nodes, pods, 0)) cheapest = price;
      }
    }
    const auto shape = [](const TinyPod& node) {
      return "gpu=" + std::to_string(node.gpus) + ",cpu=" + std::to_string(node.cpu);
    };
    const Sizing found = size(cluster, {{kind(shape(a), price_a * kOne), kind(shape(b), price_b * kOne)}, false});
    ASSERT_FALSE(found.nodes.empty());
    EXPECT_EQ(found.price, cheapest * kOne)
        << cluster.line() << shape(a) << " " << price_a << " " << shape(b) << " " << price_b;
    EXPECT_LE(found.bound, cheapest * kOne);
    proven += found.is_proven() ? 1 : 0;
  }
  EXPECT_GE(proven, kRounds * 3 / 4);
}

// ---- the program ----

TEST(Sizing, ProgramSizesShapesSnapshotsAndManifests) {
  const cli::Workplace place;
  const std::string options = " --deterministic --quiet --format json ";
  const cli::Outcome shape =
      place.run("size --shape 16x8:H100 --copies 2 --node gpu=8:H100,price=12.5 --node gpu=4:H100" + options);
  EXPECT_EQ(shape.exit_code, 0) << shape.err;
  EXPECT_NE(shape.out.find(R"("total":400,"bound":400,"proven":true)"), std::string::npos) << shape.out;

  test::Cluster cluster;
  cluster.node("big", 8).pods("p", 9, 1);
  const std::string file = place.file("cluster.json", cluster.line());
  const cli::Outcome snapshot = place.run("size " + file + " --node big=2.5:4" + options);
  EXPECT_EQ(snapshot.exit_code, 0) << snapshot.err;
  EXPECT_NE(snapshot.out.find(R"("nodes":2,"total":5)"), std::string::npos) << snapshot.out;
  EXPECT_EQ(place.run("size --from " + file + " --node big=2.5:4" + options).out, snapshot.out);
  EXPECT_EQ(place.run("size " + file + " --node big=2.5:1" + options).exit_code, 1);
  EXPECT_EQ(place.run("size " + file + " --save " + place.path("saved") + " --node big=2.5:4" + options).exit_code, 0);
  EXPECT_EQ(place.content("saved"), cluster.line() + "\n");

  const std::string manifest = place.file("job.yaml", R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  parallelism: 4
  completions: 4
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: x, resources: {requests: {nvidia.com/gpu: 4, cpu: 8}, limits: {nvidia.com/gpu: 4}}}
)");
  const cli::Outcome job = place.run("size " + manifest + " --node gpu=8,cpu=64" + options);
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_NE(job.out.find(R"("pods":4,"kinds":[{"node":"gpu=8,cpu=64","price":1,"most":null,"nodes":2)"),
            std::string::npos)
      << job.out;
}

TEST(Sizing, ProgramRefusesWhatItCannotRead) {
  const cli::Workplace place;
  test::Cluster cluster;
  cluster.node("n1", 8);
  const std::string file = place.file("cluster.json", cluster.line());
  const auto exit_code = [&](const std::string& arguments) { return place.run("size " + arguments).exit_code; };
  EXPECT_EQ(exit_code("--shape 1"), 64);
  EXPECT_EQ(exit_code("--shape 1 --node n1 --from " + file + " --copies 0"), 64);
  EXPECT_EQ(exit_code("--node gpu=8 --copies 2 --from " + file), 64);
  EXPECT_EQ(exit_code("--shape 1 --node gpu=8,price=0"), 64);
  EXPECT_EQ(exit_code("--shape 1 --node 2xgpu=8"), 64);
  EXPECT_EQ(exit_code("--shape 1 --node n2 --from " + file), 64);
  EXPECT_EQ(exit_code("--shape 1 --node n1=cheap --from " + file), 64);
  EXPECT_EQ(exit_code(file + " --shape 1 --node gpu=8"), 64);
  EXPECT_EQ(exit_code(file + " --node gpu=8"), 65);  // nothing is pending
  EXPECT_EQ(exit_code(file + " --from " + file + " --node gpu=8"), 64);
  const cli::Outcome missing = place.run("size " + place.path("none.yaml") + " --node gpu=8");
  EXPECT_EQ(missing.exit_code, 66);
  EXPECT_NE(missing.err.find("none.yaml: No such file"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace muster::answers
