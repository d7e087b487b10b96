// Names do not matter, and neither does the order of lists, if the contract gives it no meaning: the order of queues
// breaks ties in fair share, so it is kept.
#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "solver/portfolio/portfolio.h"
#include "test/properties/crowded.h"
#include "test/properties/cycles.h"
#include "test/properties/instances.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::properties {
namespace {

constexpr test::ClusterShape kEvicting{.may_evict = true, .running = 50};

// Even seeds: crowded clusters; odd ones: some of every feature.
Json some_snapshot(std::uint32_t seed) {
  return seed % 2 == 0 ? CrowdedCluster(seed).snapshot() : Json::parse(test::random_cluster(seed, kEvicting).line());
}

// Digits turned round, so that the alphabetic order of names is another.
std::string turned(std::string name) {
  for (char& c : name)
    if (c >= '0' && c <= '9') c = static_cast<char>('0' + '9' - c);
  return "x" + name;
}

// Every node, pod, gang, subgroup and queue gets another name.
Json renamed(Json line) {
  const auto turn = [&](Json& object, const char* key) {
    if (object.contains(key) && object[key] != "default") object[key] = turned(object[key].get<std::string>());
  };
  for (Json& node : line["nodes"]) {
    if (node.contains("labels") && node["labels"].contains("kubernetes.io/hostname"))
      turn(node["labels"], "kubernetes.io/hostname");
    turn(node, "name");
  }
  if (line.contains("queues"))
    for (Json& queue : line["queues"]) turn(queue, "name"), turn(queue, "parent");
  for (Json& gang : line["gangs"]) {
    turn(gang, "name"), turn(gang, "queue");
    if (gang.contains("subgroups"))
      for (Json& subgroup : gang["subgroups"]) turn(subgroup, "name"), turn(subgroup, "parent");
  }
  for (Json& pod : line["pods"])
    for (const char* key : {"name", "gang", "subgroup", "node", "nominatedNode", "queue"}) turn(pod, key);
  return line;
}

// Nodes, gangs, subgroups and pods in another order. What runs keeps its devices, which the reader would otherwise give
// out in the order of the list.
Json reordered(Json line, std::uint32_t seed) {
  const auto cluster = Case::if_valid(line.dump());
  for (std::size_t i = 0; i < line["pods"].size(); ++i) {
    const SnapshotPod& pod = cluster->snapshot().pods[i];
    if (!pod.devices.empty()) line["pods"][i]["gpus"] = pod.devices;
  }
  std::mt19937 random(seed);
  for (const char* list : {"nodes", "gangs", "pods"}) std::shuffle(line[list].begin(), line[list].end(), random);
  return line;
}

struct Outcome {
  Levels levels;
  std::string proof;
};

Outcome outcome_of(const Json& line, portfolio::Portfolio& portfolio, portfolio::Engine engine) {
  const auto cluster = Case::if_valid(line.dump());
  if (!cluster) {
    ADD_FAILURE() << "refused: " << line;
    return {};
  }
  portfolio::SolveOptions options;
  options.engine = engine;
  options.deterministic = true;
  const portfolio::Solution solution = portfolio.solve(cluster->snapshot(), cluster->problem(), options);
  return {evaluate(cluster->problem(), cluster->shares(), solution.plan), std::string(proof_name(solution.proof))};
}

TEST(Names, ChangeNothingForAnyEngine) {
  portfolio::Portfolio portfolio(test::program());
  for (std::uint32_t seed = 1; seed <= instances(100); ++seed) {
    const Json line = some_snapshot(seed), other = renamed(line);
    for (const portfolio::Engine engine : {portfolio::Engine::kGreedy, portfolio::Engine::kAuto}) {
      const Outcome one = outcome_of(line, portfolio, engine), two = outcome_of(other, portfolio, engine);
      EXPECT_EQ(one.levels, two.levels) << line;
      EXPECT_EQ(one.proof, two.proof) << line;
    }
  }
}

// Which of the levels up to `moved` differ. Those after it look at where pods are, and are the last that an engine gets
// to.
bool differ_in_leading(const Json& line, const Outcome& one, const Outcome& two) {
  const auto cluster = Case::if_valid(line.dump());
  const std::vector<LevelId> ids = level_ids(cluster->problem());
  for (std::size_t i = 0; i < ids.size() && ids[i].kind <= LevelKind::kMoved; ++i)
    if (one.levels.values[i] != two.levels.values[i]) return true;
  return false;
}

// Heuristics break ties by position, so what they find may depend on the order; what is proven best does not.
void expect_order_to_matter_little(portfolio::Engine engine, int most_of_hundred) {
  portfolio::Portfolio portfolio(test::program());
  int proven = 0, differing = 0;
  const std::uint32_t count = instances(100);
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    const Json line = some_snapshot(seed), other = reordered(line, seed);
    const Outcome one = outcome_of(line, portfolio, engine), two = outcome_of(other, portfolio, engine);
    differing += differ_in_leading(line, one, two) ? 1 : 0;
    if (one.proof != "optimal" || two.proof != "optimal") continue;
    ++proven;
    EXPECT_EQ(one.levels, two.levels) << line;
  }
  std::cout << count << " snapshots, " << proven << " proven best in both orders, " << differing
            << " of which the levels up to `moved` differ\n";
  EXPECT_LE(differing * 100, most_of_hundred * static_cast<int>(count));
}

TEST(Order, ChangesNothingInWhatIsProvenBest) { expect_order_to_matter_little(portfolio::Engine::kAuto, 5); }
TEST(Order, ChangesLittleForTheHeuristicAlone) { expect_order_to_matter_little(portfolio::Engine::kGreedy, 5); }

}  // namespace
}  // namespace muster::properties
