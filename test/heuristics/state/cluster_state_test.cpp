#include "heuristics/state/cluster_state.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/state/fit.h"
#include "test/support/case.h"

namespace muster {
namespace {

constexpr const char* kCluster = R"("topology":["rack"],
 "nodes":[{"name":"a","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":4,"memory":"16Gi"},"labels":{"rack":"r1"}},
          {"name":"b","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":2},"labels":{"rack":"r1"}},
          {"name":"c","resources":{"cpu":"32","memory":"64Gi"},"labels":{"rack":"r2"}}],
 "queues":[{"name":"top"},{"name":"left","parent":"top"},{"name":"right","parent":"top"}],
 "gangs":[{"name":"g","queue":"left","minMember":1},{"name":"fixed","queue":"right","preemptible":false,"minMember":1},
          {"name":"apart","queue":"left","minMember":1}],
 "pods":[{"name":"g-0","gang":"g","resources":{"cpu":"2"},"gpu":{"count":1},"node":"a"},
         {"name":"g-1","gang":"g","resources":{"cpu":"2"},"gpu":{"count":2}},
         {"name":"g-2","gang":"g","resources":{"cpu":"1"},"gpu":{"fraction":0.5}},
         {"name":"g-3","gang":"g","resources":{"cpu":"1"},"gpu":{"fraction":0.25,"devices":2}},
         {"name":"fixed-0","gang":"fixed","resources":{"cpu":"3","memory":"1Gi"},"node":"c"},
         {"name":"fixed-1","gang":"fixed","resources":{"cpu":"3","memory":"1Gi"}},
         {"name":"apart-0","gang":"apart","podAntiAffinity":{"topologyKey":"rack","matchGang":true},"resources":{"cpu":"1"}},
         {"name":"apart-1","gang":"apart","podAntiAffinity":{"topologyKey":"rack","matchGang":true},"resources":{"cpu":"1"}},
         {"name":"left-over","queue":"left","resources":{"cpu":"4"},"gpu":{"count":1},"node":"b","status":"releasing"},
         {"name":"done","gang":"g","status":"succeeded"}])";

// Everything observable of a state, in one list.
std::vector<std::int64_t> told_by(const ClusterState& state) {
  const Problem& problem = state.problem();
  std::vector<std::int64_t> all = state.nodes().free_total();
  all.push_back(state.nodes().free_devices_total());
  const auto add_queues = [&](const Indexed<QueueIndex, QueueAmounts>& usage) {
    for (const QueueAmounts& amounts : usage) all.insert(all.end(), amounts.begin(), amounts.end());
  };
  for (const NodeIndex node : problem.nodes.indices()) {
    for (const Amount amount : state.free(node)) all.push_back(amount);
    for (const DeviceUnits units : state.free_devices(node)) all.push_back(units);
    all.push_back(state.idle_devices(node));
    all.push_back(state.nodes().departed(node));
  }
  add_queues(state.queues().usage());
  add_queues(state.queues().non_preemptible_usage());
  for (const QueueIndex queue : problem.queues.indices()) {
    for (const std::int32_t priority : problem.objective.priorities) {
      for (const Amount amount : state.queues().usage_from(queue, priority)) all.push_back(amount);
    }
  }
  for (const GroupIndex group : problem.groups.indices()) {
    if (problem.groups[group].is_leaf()) all.push_back(state.members(group));
  }
  for (const AntiAffinityIndex term : problem.inter_pod.anti_affinities.indices()) {
    for (std::size_t domain = 0; domain < problem.inter_pod.anti_affinities[term].domain_count; ++domain) {
      all.push_back(state.anti_affinity().owners(term, DomainIndex(domain)));
      all.push_back(state.anti_affinity().matched(term, DomainIndex(domain)));
    }
  }
  for (const PodIndex pod : problem.pods.indices()) {
    all.push_back(state.is_present(pod) ? std::int64_t{state.node_of(pod).value()} : -1);
    if (!state.is_present(pod)) continue;
    for (const std::int32_t device : state.place_of(pod).devices) all.push_back(device);
  }
  return all;
}

// Puts or takes a pod at random if it fits.
void change_at_random(ClusterState& state, const QueueBounds& bounds, std::mt19937_64& random) {
  const Problem& problem = state.problem();
  const PodIndex pod(random() % problem.pods.size());
  if (problem.pods[pod].status != PodStatus::kPending && problem.pods[pod].status != PodStatus::kRunning) return;
  if (state.is_present(pod)) return state.take(pod);
  const NodeIndex node(random() % problem.nodes.size());
  if (!can_place(state, bounds, pod, node)) return;
  state.put(pod, node, *choose_devices(room_of(state, node), problem, problem.class_of(pod), node));
}

TEST(ClusterState, BeginsAsTheSnapshotsCluster) {
  const test::Case problem(kCluster);
  const ClusterState state(*problem, ClusterState::Releasing::kFreed);
  EXPECT_EQ(state.free(problem.node("a"))[kCpu.value()], 14'000);
  EXPECT_EQ(state.idle_devices(problem.node("a")), 3);
  EXPECT_EQ(state.queues().usage()[problem.queue("left")][kQueueGpu], 1'000'000);
  EXPECT_EQ(state.queues().usage()[problem.queue("top")][kQueueCpu], 5'000);
  EXPECT_EQ(state.queues().non_preemptible_usage()[problem.queue("top")][kQueueCpu], 3'000);
  EXPECT_EQ(state.members(problem->gangs[problem.gang("g")].root), 2);  // one runs, one has succeeded
}

TEST(ClusterState, CountsTheRoomOfReleasingPodsAsHeldOrFreedButNeverTheirUsage) {
  const test::Case problem(kCluster);
  const ClusterState held(*problem, ClusterState::Releasing::kHeld), freed(*problem, ClusterState::Releasing::kFreed);
  EXPECT_EQ(held.idle_devices(problem.node("b")), 1);
  EXPECT_EQ(freed.idle_devices(problem.node("b")), 2);
  EXPECT_EQ(held.queues().usage(), freed.queues().usage());
  EXPECT_FALSE(held.is_present(problem.pod("left-over")));
}

TEST(ClusterState, PutAndTakeAreInverse) {
  const test::Case problem(kCluster);
  ClusterState state(*problem, ClusterState::Releasing::kFreed);
  const auto before = told_by(state);
  state.put(problem.pod("g-3"), problem.node("a"), {1, 2});
  EXPECT_EQ(state.idle_devices(problem.node("a")), 1);
  EXPECT_EQ(state.queues().usage()[problem.queue("left")][kQueueGpu], 1'500'000);
  EXPECT_NE(told_by(state), before);
  state.take(problem.pod("g-3"));
  EXPECT_EQ(told_by(state), before);
}

// Places are kept as bits, for the first devices.
TEST(ClusterState, KnowsPlacesOnNodesWithManyDevices) {
  const test::Case problem(R"("nodes":[{"name":"large","gpus":{"count":72}}],
 "pods":[{"name":"runs","gpu":{"count":3},"node":"large","gpus":[30,31,71]},{"name":"first","gpu":{"count":2}},
         {"name":"second","gpu":{"count":2}},{"name":"third","gpu":{"count":2}}])");
  const NodeIndex large = problem.node("large");
  ClusterState state(*problem, ClusterState::Releasing::kFreed);
  EXPECT_TRUE(is_home(state, problem.pod("runs")));
  EXPECT_EQ(state.place_of(problem.pod("runs")), (Place{large, {30, 31, 71}}));
  EXPECT_EQ(state.idle_devices(large), 69);
  const auto before = state.checkpoint();
  state.put(problem.pod("first"), large, {0, 29});
  state.put(problem.pod("second"), large, {1, 70});
  state.take(problem.pod("runs"));
  state.put(problem.pod("runs"), large, {30, 32, 71});
  state.put(problem.pod("third"), large, {31, 40});
  const ClusterState copy = state;
  EXPECT_EQ(copy.place_of(problem.pod("first")).devices, (DeviceList{0, 29}));
  EXPECT_EQ(copy.place_of(problem.pod("second")).devices, (DeviceList{1, 70}));
  EXPECT_EQ(copy.place_of(problem.pod("third")).devices, (DeviceList{31, 40}));
  EXPECT_FALSE(is_home(copy, problem.pod("runs")));
  EXPECT_EQ(copy.free_devices(large)[71], 0);
  EXPECT_EQ(copy.idle_devices(large), 63);
  state.rollback(before);
  EXPECT_TRUE(is_home(state, problem.pod("runs")));
  EXPECT_EQ(state.idle_devices(large), 69);
}

// Enough pods for several tasks, on nodes of few and of many devices, some of them leaving.
TEST(ClusterState, BeginsTheSameWithAnyNumberOfThreads) {
  for (const int devices : {8, 40}) {
    std::string nodes, pods;
    for (int node = 0; node < 400; ++node) {
      const std::string name = "n" + std::to_string(node);
      nodes += (node == 0 ? "" : ",") + (R"({"name":")" + name) +
               R"(","resources":{"cpu":"500","memory":"500Gi"},"gpus":{"count":)" + std::to_string(devices) +
               R"(},"labels":{"rack":"r)" + std::to_string(node % 9) + R"("}})";
      for (int pod = 0; pod < 40; ++pod) {
        const std::string status = (node + pod) % 11 == 0 ? "releasing" : "running";
        const int device = (node + pod) % devices;
        pods += (pods.empty() ? "" : ",") + (R"({"name":"p)" + std::to_string(node * 40 + pod)) + R"(","node":")" +
                name + R"(","status":")" + status + R"(","queue":"q)" + std::to_string(pod % 3) +
                R"(","resources":{"cpu":"1"},"priority":)" + std::to_string(pod % 4) +
                (pod < 24 ? R"(,"gpu":{"fraction":0.2},"gpus":[)" + std::to_string(device) + "]" : "") +
                (pod == 39 ? R"(,"podAntiAffinity":{"topologyKey":"rack","labelSelector":{"matchLabels":{"a":"b"}}})"
                           : "") +
                "}";
      }
    }
    const test::Case built(R"("topology":["rack"],"queues":[{"name":"q0"},{"name":"q1"},{"name":"q2"}],"nodes":[)" +
                           nodes + R"(],"pods":[)" + pods + "]");
    for (const auto releasing : {ClusterState::Releasing::kHeld, ClusterState::Releasing::kFreed}) {
      const ClusterState one(*built, releasing);
      const std::vector<std::int64_t> expected = told_by(one);
      for (const int threads : {2, 4, 8}) {
        const ClusterState several(*built, releasing, threads);
        EXPECT_TRUE(told_by(several) == expected) << threads << " threads, " << devices << " devices";
        EXPECT_TRUE(several.changes().touched().empty());
        for (const NodeIndex node : built->nodes.indices()) {
          EXPECT_TRUE(std::ranges::equal(several.pods_on(node), one.pods_on(node)));
          EXPECT_EQ(several.version(node), one.version(node));
        }
        for (const GangIndex gang : built->gangs.indices()) EXPECT_EQ(several.version(gang), one.version(gang));
      }
    }
  }
}

TEST(ClusterState, CountsPodsInTheDomainsOfAntiAffinity) {
  const test::Case problem(kCluster);
  ClusterState state(*problem, ClusterState::Releasing::kFreed);
  const PodClass& apart = problem.class_of("apart-1");
  EXPECT_TRUE(fit::anti_affinity(state, apart, problem.node("b")));
  state.put(problem.pod("apart-0"), problem.node("a"), {});
  EXPECT_FALSE(fit::anti_affinity(state, apart, problem.node("b")));  // the same rack
  EXPECT_TRUE(fit::anti_affinity(state, apart, problem.node("c")));
}

TEST(ClusterState, RollbackRestoresEveryCheckpointExactly) {
  const test::Case problem(kCluster);
  ClusterState state(*problem, ClusterState::Releasing::kFreed);
  const QueueBounds bounds = queue_bounds(*problem, state);
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<ClusterState::Checkpoint, std::vector<std::int64_t>>> checkpoints;
    for (int change = 0; change < 30; ++change) {
      if (change % 5 == 0) checkpoints.emplace_back(state.checkpoint(), told_by(state));
      change_at_random(state, bounds, random);
    }
    // Some of them, from the last to the first.
    for (std::size_t keep = random() % checkpoints.size(); checkpoints.size() > keep; checkpoints.pop_back()) {
      state.rollback(checkpoints.back().first);
      ASSERT_EQ(told_by(state), checkpoints.back().second) << "round " << round;
    }
  }
}

TEST(ClusterState, NamesEveryNodeThatChangesEvenByUndoing) {
  const test::Case problem(kCluster);
  ClusterState state(*problem, ClusterState::Releasing::kFreed);
  const auto before = state.checkpoint();
  state.put(problem.pod("g-2"), problem.node("b"), {0});
  state.rollback(before);
  EXPECT_EQ(state.changes().touched(), (std::vector<NodeIndex>{problem.node("b"), problem.node("b")}));
}

TEST(ClusterState, TellsWhatIsFreeInSum) {
  const test::Case problem(kCluster);
  ClusterState state(*problem, ClusterState::Releasing::kFreed);
  state.put(problem.pod("g-2"), problem.node("a"), {1});
  EXPECT_EQ(state.nodes().free_total()[kCpu.value()], 16'000 + 16'000 + 32'000 - 2'000 - 3'000 - 1'000);
  EXPECT_EQ(state.nodes().free_devices_total(), 4'500'000);
  EXPECT_EQ(state.changes().changed_gangs(), std::vector{problem.gang("g")});
}

}  // namespace
}  // namespace muster
