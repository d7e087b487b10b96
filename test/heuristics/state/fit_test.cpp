#include "heuristics/state/fit.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster {
namespace {

struct FitCase {
  explicit FitCase(const std::string& body)
      : problem(body), state(*problem, ClusterState::Releasing::kFreed), bounds(queue_bounds(*problem, state)) {}
  bool can(const char* pod, const char* node) const {
    return can_place(state, bounds, problem.pod(pod), problem.node(node));
  }
  std::optional<std::vector<std::int32_t>> devices(const char* pod, const char* node) const {
    return choose_devices(room_of(state, problem.node(node)), *problem, problem.class_of(pod), problem.node(node));
  }
  test::Case problem;
  ClusterState state;
  QueueBounds bounds;
};

TEST(Fit, NodeFiltersHoldBackWhatTheyExclude) {
  const FitCase cluster(R"("nodes":[{"name":"open","resources":{"cpu":4},"labels":{"pool":"x"}},
     {"name":"cordoned","resources":{"cpu":4},"labels":{"pool":"x"},"unschedulable":true},
     {"name":"tainted","resources":{"cpu":4},"labels":{"pool":"x"},"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},
     {"name":"other","resources":{"cpu":4}}],
     "pods":[{"name":"p","resources":{"cpu":1},"nodeSelector":{"pool":"x"}}])");
  EXPECT_TRUE(cluster.can("p", "open"));
  EXPECT_FALSE(cluster.can("p", "cordoned"));
  EXPECT_FALSE(cluster.can("p", "tainted"));
  EXPECT_FALSE(cluster.can("p", "other"));
}

TEST(Fit, CapacityCountsEveryResource) {
  const FitCase cluster(R"("nodes":[{"name":"n","resources":{"cpu":4,"memory":"4Gi","pods":1,"rdma/hca":1}},
     {"name":"full","resources":{"cpu":4,"memory":"4Gi","pods":1,"rdma/hca":1}}],
     "pods":[{"name":"fits","resources":{"cpu":4,"memory":"4Gi","rdma/hca":1}},{"name":"cpu","resources":{"cpu":"4001m"}},
             {"name":"hca","resources":{"rdma/hca":2}},{"name":"gpu","gpu":{"count":1}},{"name":"there","node":"full"}])");
  EXPECT_TRUE(cluster.can("fits", "n"));
  EXPECT_FALSE(cluster.can("cpu", "n"));
  EXPECT_FALSE(cluster.can("hca", "n"));
  EXPECT_FALSE(cluster.can("gpu", "n"));
  EXPECT_FALSE(cluster.can("fits", "full"));  // one pod is all that it takes
}

TEST(Fit, QueuesKeepTheirLimitsOfAnyResource) {
  const FitCase cluster(R"("nodes":[{"name":"n","resources":{"cpu":8,"x.com/card":8}}],
     "queues":[{"name":"org","resources":{"x.com/card":{"limit":3}}},{"name":"a","parent":"org","resources":{"pods":{"limit":1}}},
               {"name":"b","parent":"org"},{"name":"c","resources":{"x.com/card":{"limit":1}}}],
     "pods":[{"name":"there","queue":"a","node":"n","resources":{"x.com/card":1}},{"name":"second","queue":"a"},
             {"name":"two","queue":"b","resources":{"x.com/card":2}},{"name":"three","queue":"b","resources":{"x.com/card":3}},
             {"name":"above","queue":"c","node":"n","resources":{"x.com/card":2}},{"name":"one","queue":"c","resources":{"x.com/card":1}},
             {"name":"none","queue":"c"}])");
  EXPECT_FALSE(cluster.can("second", "n")) << "the queue may have one pod";
  EXPECT_TRUE(cluster.can("two", "n"));
  EXPECT_FALSE(cluster.can("three", "n")) << "the queue above may have three, and one is in use";
  EXPECT_FALSE(cluster.can("one", "n")) << "usage beyond the limit does not grow";
  EXPECT_TRUE(cluster.can("none", "n"));
}

TEST(Fit, WholeUsersTakeTheIdleDevicesOfLowestIndex) {
  const FitCase cluster(R"("nodes":[{"name":"n","gpus":{"count":4}}],
     "pods":[{"name":"sharer","gpu":{"fraction":0.1},"node":"n","gpus":[1]},{"name":"two","gpu":{"count":2}},{"name":"four","gpu":{"count":4}}])");
  EXPECT_EQ(cluster.devices("two", "n"), (std::vector<std::int32_t>{0, 2}));
  EXPECT_FALSE(cluster.can("four", "n"));
  EXPECT_EQ(cluster.devices("four", "n"), std::nullopt);
}

TEST(Fit, SharersTakeTheTightestDevicesThatSuffice) {
  const FitCase cluster(R"("nodes":[{"name":"n","gpus":{"count":4,"memory":"1000Mi"}}],
     "pods":[{"name":"a","gpu":{"fraction":0.3},"node":"n","gpus":[1]},{"name":"b","gpu":{"fraction":0.6},"node":"n","gpus":[2]},
             {"name":"c","gpu":{"count":1},"node":"n","gpus":[3]},{"name":"small","gpu":{"fraction":0.4}},
             {"name":"half","gpu":{"memory":"500Mi"}},{"name":"pair","gpu":{"fraction":0.4,"devices":2}},
             {"name":"three","gpu":{"fraction":0.5,"devices":3}}])");
  EXPECT_EQ(cluster.devices("small", "n"), (std::vector<std::int32_t>{2}));
  EXPECT_EQ(cluster.devices("half", "n"), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(cluster.devices("pair", "n"), (std::vector<std::int32_t>{1, 2}));
  EXPECT_FALSE(cluster.can("three", "n"));
}

TEST(Fit, MemoryRequestsNeedANodeThatSaysItsMemory) {
  const FitCase cluster(
      R"("nodes":[{"name":"silent","gpus":{"count":1}},{"name":"says","gpus":{"count":1,"memory":"100Mi"}}],
     "pods":[{"name":"p","gpu":{"memory":"50Mi"}},{"name":"large","gpu":{"memory":"101Mi"}}])");
  EXPECT_FALSE(cluster.can("p", "silent"));
  EXPECT_TRUE(cluster.can("p", "says"));
  EXPECT_FALSE(cluster.can("large", "says"));
}

TEST(Fit, LimitHoldsOnEveryQueueAboveAndMayBeExceededAlready) {
  const FitCase cluster(R"("nodes":[{"name":"n","resources":{"cpu":64},"gpus":{"count":8}}],
     "queues":[{"name":"top","gpu":{"limit":3}},{"name":"in","parent":"top"},{"name":"full","parent":"top","gpu":{"limit":0.5}}],
     "pods":[{"name":"r","queue":"full","gpu":{"count":1},"node":"n"},{"name":"two","queue":"in","gpu":{"count":2}},
             {"name":"three","queue":"in","gpu":{"count":3}},{"name":"more","queue":"full","gpu":{"fraction":0.1}},
             {"name":"cpu","queue":"full","resources":{"cpu":1}}])");
  EXPECT_TRUE(cluster.can("two", "n"));
  EXPECT_FALSE(cluster.can("three", "n"));
  EXPECT_FALSE(cluster.can("more", "n"));
  EXPECT_TRUE(cluster.can("cpu", "n"));  // it does not add to what is over its limit
}

TEST(Fit, QuotaBoundsOnlyWhatIsNotPreemptible) {
  const std::string body = R"("nodes":[{"name":"n","gpus":{"count":8}}],"queues":[{"name":"q","gpu":{"quota":2}}],
     "pods":[{"name":"fixed","queue":"q","preemptible":false,"gpu":{"count":3}},{"name":"free","queue":"q","preemptible":true,"gpu":{"count":3}}])";
  const FitCase cluster(body);
  EXPECT_FALSE(cluster.can("fixed", "n"));
  EXPECT_TRUE(cluster.can("free", "n"));
  const FitCase lifted(R"("policy":{"nonPreemptibleWithinQuota":false},)" + body);
  EXPECT_TRUE(lifted.can("fixed", "n"));
}

TEST(Fit, NothingOfAnUnknownOrInnerQueueIsPlaced) {
  const FitCase cluster(
      R"("nodes":[{"name":"n","resources":{"cpu":8}}],"queues":[{"name":"top"},{"name":"leaf","parent":"top"}],
     "pods":[{"name":"a","queue":"leaf"},{"name":"b","queue":"top"},{"name":"c","queue":"nowhere"}])");
  EXPECT_TRUE(cluster.can("a", "n"));
  EXPECT_FALSE(cluster.can("b", "n"));
  EXPECT_FALSE(cluster.can("c", "n"));
}

TEST(Fit, MinResourcesLooksAtWhatIsFreeWhereTheGangMayGo) {
  FitCase cluster(R"("nodes":[{"name":"x","resources":{"cpu":4},"labels":{"p":"x"}},{"name":"y","resources":{"cpu":4}}],
     "gangs":[{"name":"tight","minResources":{"cpu":4}},{"name":"large","minResources":{"cpu":5}}],
     "pods":[{"name":"t","gang":"tight","resources":{"cpu":1},"nodeSelector":{"p":"x"}},
             {"name":"l","gang":"large","resources":{"cpu":1},"nodeSelector":{"p":"x"}},{"name":"o","resources":{"cpu":2}}])");
  EXPECT_TRUE(fit::min_resources(cluster.state, cluster.problem.gang("tight")));
  EXPECT_FALSE(fit::min_resources(cluster.state, cluster.problem.gang("large")));
  // Each gang by itself: what another has newly been given still counts as free.
  cluster.state.put(cluster.problem.pod("o"), cluster.problem.node("x"), {});
  EXPECT_TRUE(fit::min_resources(cluster.state, cluster.problem.gang("tight")));
}

// Whichever pods come and leave between the queries.
TEST(Fit, MinResourcesOfManyGangsAreThoseOfEach) {
  FitCase cluster(
      R"("nodes":[{"name":"x","resources":{"cpu":9},"gpus":{"count":3},"labels":{"p":"x"}},{"name":"y","resources":{"cpu":9},"gpus":{"count":3}}],
     "gangs":[{"name":"a","minResources":{"cpu":5}},{"name":"b","minResources":{"cpu":12}},{"name":"c","minResources":{"gpu":2}},{"name":"d","minResources":{"cpu":7,"gpu":3}},{"name":"r"},{"name":"n"}],
     "pods":[{"name":"a0","gang":"a","resources":{"cpu":1},"nodeSelector":{"p":"x"}},{"name":"b0","gang":"b","resources":{"cpu":1}},
             {"name":"c0","gang":"c","gpu":{"count":1},"nodeSelector":{"p":"x"}},{"name":"d0","gang":"d","gpu":{"fraction":0.5}},
             {"name":"r0","gang":"r","resources":{"cpu":3},"gpu":{"count":1},"node":"x"},{"name":"r1","gang":"r","resources":{"cpu":4},"gpu":{"count":1},"node":"x"},
             {"name":"r2","gang":"r","resources":{"cpu":4},"gpu":{"count":2},"node":"y"},{"name":"n0","gang":"n","resources":{"cpu":2},"gpu":{"fraction":0.25}}])");
  const Problem& problem = *cluster.problem;
  MinResources together;
  int held = 0, lacked = 0;
  std::mt19937_64 random(3);
  for (int step = 0; step < 2'000; ++step) {
    const PodIndex pod(random() % problem.pods.size());
    const NodeIndex node(random() % problem.nodes.size());
    const auto before = cluster.state.checkpoint();
    if (cluster.state.is_present(pod)) {
      cluster.state.take(pod);
    } else if (can_place(cluster.state, cluster.bounds, pod, node)) {
      cluster.state.put(pod, node, *choose_devices(room_of(cluster.state, node), problem, problem.class_of(pod), node));
    }
    if (random() % 4 == 0) cluster.state.rollback(before);
    for (const GangIndex gang : problem.gangs.indices()) {
      const bool holds = fit::min_resources(cluster.state, gang);
      ASSERT_EQ(together.hold(cluster.state, gang), holds) << step << " " << gang.value();
      ++(holds ? held : lacked);
    }
  }
  EXPECT_GT(held, 1'000);
  EXPECT_GT(lacked, 1'000);
}

TEST(Fit, ASharerOfManyDevicesTakesThoseWithTheLeastRoomThatSuffices) {
  const FitCase cluster(R"("nodes":[{"name":"n","gpus":{"count":12}}],"pods":[
     {"name":"a","node":"n","gpu":{"fraction":0.5},"gpus":[11]},{"name":"b","node":"n","gpu":{"fraction":0.25},"gpus":[3]},
     {"name":"c","node":"n","gpu":{"fraction":0.9},"gpus":[0]},
     {"name":"p","gpu":{"fraction":0.5,"devices":10}},{"name":"q","gpu":{"fraction":0.5,"devices":12}}])");
  EXPECT_EQ(cluster.devices("p", "n"), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 11}));
  EXPECT_EQ(cluster.devices("q", "n"), std::nullopt);
}

}  // namespace
}  // namespace muster
