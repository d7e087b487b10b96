#include <vector>

#include <gtest/gtest.h>

#include "heuristics/local_search/search_part.h"
#include "test/heuristics/local_search/search_case.h"

namespace muster::local_search {
namespace {

SearchCase cluster() {
  return {R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
     "pods":[{"name":"runs","gpu":{"count":1},"node":"a","gpus":[0]},
             {"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":2}}])",
          {{"x", "a", {1}}}};
}

TEST(PartNodes, KnowTheFreePartAndThePodsThatMayMove) {
  const SearchCase search = cluster();
  const PartNodes nodes(search.scope, search.state, search.part().nodes);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].idle, 0);
  EXPECT_EQ(nodes[1].idle, 2000);
  ASSERT_EQ(nodes[0].pods.size(), 1U) << "pods that run stay";
  EXPECT_EQ(nodes[0].pods[0].pod, search.pod("x"));
  EXPECT_EQ(nodes[0].breaking, 2);
  EXPECT_EQ(nodes.with_idle_devices(), std::vector<std::size_t>{1});
}

TEST(PartNodes, AreAsAKeptTrialLeavesThem) {
  const SearchCase search = cluster();
  PartNodes nodes(search.scope, search.state, search.part().nodes);
  const PodClass& pod_class = search.problem.class_of("x");
  Trial trial;
  trial.required.push_back({search.pod("x"), {}, search.node("a"), search.node("b"), {1}, {0}});
  NodeContents a = nodes[0].contents, b = nodes[1].contents;
  a.take(*search.problem, search.node("a"), pod_class, {1});
  b.put(*search.problem, search.node("b"), pod_class, {0});
  nodes.change(0, a, trial, -1);
  nodes.change(1, b, trial, +1);
  nodes.list_idle();
  EXPECT_TRUE(nodes[0].pods.empty());
  ASSERT_EQ(nodes[1].pods.size(), 1U);
  EXPECT_EQ(nodes[1].pods[0].devices, DeviceList{0});
  EXPECT_EQ(nodes[0].idle, 1000);
  EXPECT_EQ(nodes[1].idle, 1000);
  EXPECT_EQ(nodes[0].breaking, 1);
  EXPECT_EQ(nodes[1].breaking, 1);
  EXPECT_EQ(nodes.with_idle_devices(), (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace muster::local_search
