#include "heuristics/placement/node_choice.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "datasets/generator/generator.h"
#include "test/support/case.h"

namespace muster::placement {
namespace {

std::string drawn_snapshot(std::int32_t nodes, std::uint64_t seed) {
  generator::GeneratorOptions options;
  options.seed = seed;
  options.cluster.nodes = nodes;
  options.gangs.largest = 4;
  options.running.occupied = 0.5;
  options.running.releasing = 0.2;
  options.pods.cpu_only = 0.2;
  options.cluster.tainted = 0.2;
  options.cluster.selecting = 0.2;
  return generator::generate_snapshot(options);
}

// Some of its pods keep apart from each other, others are spread.
std::string with_rules(const std::string& line) {
  nlohmann::json snapshot = nlohmann::json::parse(line);
  int number = 0;
  for (nlohmann::json& node : snapshot["nodes"]) {
    node["labels"]["of-two"] = std::to_string(number / 2);
    node["labels"]["of-three"] = std::to_string(number++ % 3);
  }
  const nlohmann::json selector{{"matchLabels", {{"app", "x"}}}};
  for (nlohmann::json& pod : snapshot["pods"]) {
    if (++number % 3 != 0) continue;
    pod["labels"]["app"] = "x";
    if (number % 2 == 0) {
      pod["podAntiAffinity"] = {{{"topologyKey", "of-two"}, {"labelSelector", selector}}};
    } else {
      pod["topologySpread"] = {{{"maxSkew", 2},
                                {"topologyKey", "of-three"},
                                {"whenUnsatisfiable", "DoNotSchedule"},
                                {"labelSelector", selector}}};
    }
  }
  return snapshot.dump();
}

PodIndex any_of(const Problem& problem, std::mt19937_64& random) { return PodIndex(random() % problem.pods.size()); }

// A pod of the same class that waits; the pod itself if there is none.
PodIndex waiting_like(const Problem& problem, const ClusterState& state, PodIndex pod) {
  for (const PodIndex other : problem.pods.indices()) {
    const Pod& p = problem.pods[other];
    if (p.pod_class == problem.pods[pod].pod_class && fit::is_pending(p) && !state.is_present(other)) return other;
  }
  return pod;
}

// Pods come, go, and are taken back; asked for any node, the chooser names the one that it finds by looking at all of
// them.
void expect_what_a_look_at_every_node_finds(std::string (*rules)(const std::string& line)) {
  int found = 0, none = 0, repeated = 0;
  for (const std::int32_t nodes : {1, 16, 80, 300}) {
    for (const NodeRule rule : {NodeRule::kBestFit, NodeRule::kKeepCpu, NodeRule::kKeepRoom, NodeRule::kSpread}) {
      const test::Case drawn = test::Case::of_line(rules(drawn_snapshot(nodes, static_cast<std::uint64_t>(nodes))));
      ClusterState state(*drawn, ClusterState::Releasing::kFreed);
      const QueueBounds bounds = queue_bounds(*drawn, state);
      NodeChooser chooser(state, bounds, rule);
      std::vector<NodeIndex> all;
      for (const NodeIndex node : drawn->nodes.indices()) all.push_back(node);
      std::mt19937_64 random(static_cast<std::uint64_t>(nodes));
      std::vector<ClusterState::Checkpoint> checkpoints{state.checkpoint()};
      PodIndex last;
      for (int step = 0; step < 2000; ++step) {
        // Pods of one class often follow each other.
        const bool again = random() % 2 == 0 && !last.is_none();
        const PodIndex pod = again ? waiting_like(*drawn, state, last) : any_of(*drawn, random);
        if (state.is_present(pod)) {
          if (random() % 4 == 0) state.take(pod);
        } else if (fit::is_pending(drawn->pods[pod])) {
          const NodeIndex node = chooser.choose(pod, {});
          ASSERT_EQ(node, chooser.choose(pod, all)) << "step " << step << " of " << nodes << " nodes";
          const bool fits = std::ranges::any_of(all, [&](NodeIndex on) { return can_place(state, bounds, pod, on); });
          ASSERT_EQ(fits, !node.is_none()) << "step " << step << " of " << nodes << " nodes";
          if (!node.is_none()) state.put(pod, node, chooser.devices_for(pod, node));
          ++(node.is_none() ? none : found);
          repeated += again ? 1 : 0;
          last = pod;
        }
        if (random() % 50 == 0) checkpoints.push_back(state.checkpoint());
        if (random() % 100 == 0) {
          state.rollback(checkpoints.back());
          if (checkpoints.size() > 1) checkpoints.pop_back();
        }
      }
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(none, 100);
  EXPECT_GT(repeated, 1000);
}

TEST(NodeChooser, FindsWhatALookAtEveryNodeFinds) {
  expect_what_a_look_at_every_node_finds([](const std::string& line) { return line; });
}

TEST(NodeChooser, FindsItForPodsWithRulesAboutOthers) { expect_what_a_look_at_every_node_finds(with_rules); }

// Of nodes that are otherwise equal, the one that meets most of a pod's preferred pod terms.
TEST(NodeChooser, BreaksTiesByWhatAPodPrefersOfOtherPods) {
  const auto chosen = [](const std::string& affinity) {
    const test::Case problem(R"("nodes":[{"name":"a","resources":{"cpu":4}},)"
                             R"({"name":"b","resources":{"cpu":4},"labels":{"zone":"z"}},)"
                             R"({"name":"c","resources":{"cpu":4},"labels":{"zone":"z"}},)"
                             R"({"name":"d","resources":{"cpu":1},"labels":{"zone":"z"}}],"pods":[)"
                             R"({"name":"friend","node":"d","resources":{"cpu":1},"labels":{"app":"x"}},)"
                             R"({"name":"p","resources":{"cpu":1},)" +
                             affinity +
                             R"(:{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":)"
                             R"({"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"x"}}}}]}}])");
    const ClusterState state(*problem, ClusterState::Releasing::kFreed);
    const QueueBounds bounds = queue_bounds(*problem, state);
    NodeChooser chooser(state, bounds, NodeRule::kBestFit);
    return std::string(problem.snapshot().nodes[chooser.choose(PodIndex(std::size_t{1}), {}).value()].name);
  };
  EXPECT_EQ(chosen(R"("podAffinity")"), "b");
  EXPECT_EQ(chosen(R"("podAntiAffinity")"), "a");
}

}  // namespace
}  // namespace muster::placement
