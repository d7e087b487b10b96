// The order in which placements are bound, against a search over all orders.
#include "heuristics/state/binding_order.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster {
namespace {

using test::Case;

constexpr int kPods = 6;

// Six pods that wait and one that runs, three zones of two nodes; `rule` is of each that waits.
std::string cluster(const std::string& rule, std::mt19937& random) {
  std::string nodes, pods;
  for (int node = 0; node < 6; ++node) {
    nodes += (node > 0 ? "," : "") + std::string(R"({"name":"n)") + std::to_string(node) +
             R"(","resources":{"cpu":100},"labels":{"zone":")" + std::string(1, "xyz"[node / 2]) + R"(","host":"h)" +
             std::to_string(node % 4) + "\"}}";
  }
  for (int pod = 0; pod < kPods; ++pod) {
    const bool has_rule = random() % 4 != 0;
    pods += R"({"name":"p)" + std::to_string(pod) + R"(","resources":{"cpu":1},"labels":{"app":"a"})" +
            (has_rule ? "," + rule : "") + "},";
  }
  const char* app = random() % 2 == 0 ? "a" : "b";
  return R"({"format":"muster/v1","nodes":[)" + nodes + R"(],"pods":[)" + pods +
         R"({"name":"runs","resources":{"cpu":1},"labels":{"app":")" + app + R"("},"node":"n0"}]})";
}

bool any_order(const Problem& problem, InterPodCounts& present, std::vector<Binding>& waiting) {
  if (waiting.empty()) return true;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const Binding next = waiting[i];
    if (!passes(problem, present, next)) continue;
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
    present.count(problem, problem.class_of(next.pod), next.node, true);
    const bool found = any_order(problem, present, waiting);
    present.count(problem, problem.class_of(next.pod), next.node, false);
    waiting.insert(waiting.begin() + static_cast<std::ptrdiff_t>(i), next);
    if (found) return true;
  }
  return false;
}

void expect_order_wherever_there_is_one(const std::string& rule) {
  std::mt19937 random(1);
  int orders = 0, none = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Case made = Case::of_line(cluster(rule, random));
    ClusterState state(made.problem(), ClusterState::Releasing::kFreed);
    for (std::uint32_t pod = 0; pod < kPods; ++pod) {
      if (random() % 5 != 0) state.put(PodIndex(pod), NodeIndex(random() % 6), DeviceList{});
    }
    std::vector<Binding> waiting = ordered_bindings(state);
    InterPodCounts present = staying_inter_pod(state);
    BindingSequence sequence(made.problem(), present);
    const bool found = sequence.bind_by_search(waiting).empty();
    for (const Binding& binding : sequence.bound()) {
      ASSERT_TRUE(passes(made.problem(), present, binding)) << trial;
      present.count(made.problem(), made.problem().class_of(binding.pod), binding.node, true);
    }
    present = staying_inter_pod(state);
    ASSERT_EQ(found, any_order(made.problem(), present, waiting)) << trial;
    ++(found ? orders : none);
  }
  EXPECT_GT(orders, 20);
  EXPECT_GT(none, 20);
}

TEST(BindingOrder, IsFoundWhereverASpreadHasOne) {
  expect_order_wherever_there_is_one(
      R"("topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}])");
}

TEST(BindingOrder, IsFoundWhereverAnAffinityHasOne) {
  expect_order_wherever_there_is_one(
      R"("podAffinity":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a"}}})");
}

TEST(BindingOrder, IsFoundWhereverTwoSpreadsAndAnAffinityHaveOne) {
  expect_order_wherever_there_is_one(
      R"("topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}},
          {"maxSkew":2,"topologyKey":"host","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}],
         "podAffinity":{"topologyKey":"host","labelSelector":{"matchLabels":{"app":"a"}}})");
}

TEST(InterPodCounts, KnowTheLeastOfAllDomainsAfterEveryChange) {
  std::mt19937 random(2);
  const Case made = Case::of_line(cluster(
      R"("topologySpread":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}])",
      random));
  InterPodCounts counts(made.problem());
  std::vector<std::int32_t> in(3, 0);
  const PodClass& pod_class = made.problem().class_of(PodIndex(0));
  for (int step = 0; step < 2000; ++step) {
    const std::size_t zone = random() % 3;
    const bool put = in[zone] == 0 || random() % 2 == 0;
    in[zone] += put ? 1 : -1;
    counts.count(made.problem(), pod_class, NodeIndex(2 * zone), put);
    ASSERT_EQ(counts.least(SpreadIndex(0)), std::ranges::min(in)) << step;
  }
}

}  // namespace
}  // namespace muster
