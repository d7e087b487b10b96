#include "model/change/merge.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "io/snapshot_writer/write_snapshot.h"
#include "model/build/build_problem.h"
#include "test/support/case.h"
#include "test/support/cluster.h"

namespace muster::change {
namespace {

std::string text(const Snapshot& snapshot) {
  std::string line;
  snapshot_writer::write_snapshot(snapshot, line);
  return line;
}

Snapshot read(const test::Cluster& cluster) { return test::Case::read(cluster.line()); }

Snapshot cluster() {
  test::Cluster cluster;
  cluster.node("n1", 4, R"("labels":{"rack":"r1","zone":"z"},"resources":{"cpu":"8","rdma":4})");
  cluster.node("n2", 4, R"("labels":{"rack":"r2","zone":"z"},"resources":{"cpu":"8","rdma":4})");
  cluster.queue("q").gang("g", R"("queue":"q","minMember":2)").pods("g", 2, 1, R"("gang":"g")");
  cluster.with(R"("topology":["rack"],"priorityClasses":[{"name":"high","value":100}])");
  return read(cluster);
}

const SnapshotPod& pod(const Snapshot& snapshot, std::string_view name) {
  const auto found = std::ranges::find(snapshot.pods, name, &SnapshotPod::name);
  if (found == snapshot.pods.end()) throw std::runtime_error("no pod " + std::string(name));
  return *found;
}

// As if both had been one line: the snapshot that is written and read again is the same.
void expect_round_trip(const Snapshot& snapshot) {
  const std::string line = text(snapshot);
  EXPECT_EQ(text(test::Case::read(line)), line);
}

TEST(Merge, AppendsGangsAndPods) {
  Snapshot snapshot = cluster();
  const Snapshot more = read(test::Cluster()
                                 .queue("q")
                                 .gang("h", R"("queue":"q","minMember":3)")
                                 .pods("h", 3, 2, R"("gang":"h")")
                                 .pod("solo"));
  ASSERT_FALSE(merge(more, snapshot));
  EXPECT_EQ(snapshot.gangs.size(), 2U);
  EXPECT_EQ(snapshot.pods.size(), 6U);
  EXPECT_EQ(snapshot.pod_specs[pod(snapshot, "h-0").spec].gpu.devices, 2);
  EXPECT_EQ(snapshot.pod_specs[pod(snapshot, "g-0").spec].gpu.devices, 1);
  expect_round_trip(snapshot);
}

TEST(Merge, KnowsResourcesByTheirNames) {
  Snapshot snapshot = cluster();
  const Snapshot more = read(test::Cluster().pod("p", R"("resources":{"fpga":1,"rdma":2,"cpu":"1"})"));
  const std::string alone = text(more);
  ASSERT_FALSE(merge(more, snapshot));
  EXPECT_EQ(text(more), alone) << "the source has changed";
  const PodSpec& spec = snapshot.pod_specs[pod(snapshot, "p").spec];
  std::string found;
  for (const ResourceAmount& amount : spec.resources)
    found += std::string(snapshot.resource_names[amount.resource]) + "=" + std::to_string(amount.amount) + " ";
  EXPECT_EQ(found, "cpu=1000 pods=1 rdma=2 fpga=1 ");
  EXPECT_TRUE(std::ranges::is_sorted(spec.resources, {}, &ResourceAmount::resource));
  expect_round_trip(snapshot);
}

TEST(Merge, KnowsTheResourcesOfQueuesByTheirNames) {
  Snapshot snapshot = cluster();
  const Snapshot more =
      read(test::Cluster().queue("new", R"("resources":{"fpga":{"limit":1},"rdma":{"limit":2},"pods":{"limit":3}})"));
  ASSERT_FALSE(merge(more, snapshot));
  std::string found;
  for (const OtherQueueResource& other : snapshot.queues.back().other_resources)
    found += std::string(snapshot.resource_names[other.resource]) + "=" + std::to_string(other.limit) + " ";
  EXPECT_EQ(found, "pods=3 rdma=2 fpga=1 ");
}

TEST(Merge, TextOutlivesTheSource) {
  Snapshot snapshot = cluster();
  {
    const Snapshot more = read(test::Cluster().pods("a-pod-with-quite-a-long-name", 9, 1));
    ASSERT_FALSE(merge(more, snapshot));
  }
  EXPECT_EQ(pod(snapshot, "a-pod-with-quite-a-long-name-8").name, "a-pod-with-quite-a-long-name-8");
}

TEST(Merge, RefusesNamesThatTheClusterHas) {
  const std::string before = text(cluster());
  const auto message = [&](const test::Cluster& more) {
    Snapshot snapshot = cluster();
    const auto failure = merge(read(more), snapshot);
    EXPECT_EQ(text(snapshot), before);
    return failure ? failure->message : "none";
  };
  EXPECT_EQ(message(test::Cluster().gang("g").pod("x", R"("gang":"g")")), R"(the gang "g" is already in the cluster)");
  EXPECT_EQ(message(test::Cluster().pod("g-1")), R"(the pod "g-1" is already in the cluster)");
}

TEST(Merge, IsCreatedNow) {
  Snapshot snapshot = cluster();
  const Snapshot more = read(test::Cluster()
                                 .gang("h", R"("minMember":1)")
                                 .pod("h-0", R"("gang":"h")")
                                 .pod("alone")
                                 .pod("old", R"("created":5,"priority":7)"));
  ASSERT_FALSE(merge(more, snapshot));
  EXPECT_EQ(snapshot.gangs.back().terms.created, snapshot.time);
  EXPECT_EQ(pod(snapshot, "h-0").created, snapshot.time);
  EXPECT_EQ(pod(snapshot, "alone").created, snapshot.time);
  const SnapshotPod& old = pod(snapshot, "old");
  EXPECT_EQ(old.created, 5 * kNanosecondsPerSecond);
  EXPECT_EQ(snapshot.own_gang_terms[static_cast<std::size_t>(old.own_gang)].priority, 7);
  expect_round_trip(snapshot);
}

TEST(Merge, KeepsTheDefinitionsOfTheClusterAndAddsOthers) {
  Snapshot snapshot = cluster();
  const Snapshot more = read(
      test::Cluster()
          .queue("q", R"("priority":7)")
          .queue("r")
          .with(R"("topology":["zone","host"],"priorityClasses":[{"name":"high","value":1},{"name":"low","value":-5}],)"
                R"("namespaces":[{"name":"ml","labels":{"a":"b"}}],)"
                R"("disruptionBudgets":[{"name":"b","namespace":"ml","allowed":1,"selector":{}}])"));
  ASSERT_FALSE(merge(more, snapshot));
  ASSERT_FALSE(merge(more, snapshot));
  ASSERT_EQ(snapshot.definitions.topologies.size(), 1U);
  EXPECT_EQ(snapshot.definitions.topologies[0], (SnapshotTopology{"", {"zone", "rack", "host"}}));
  ASSERT_EQ(snapshot.definitions.priority_classes.size(), 2U);
  EXPECT_EQ(snapshot.definitions.priority_classes[0].value, 100);
  EXPECT_EQ(snapshot.definitions.priority_classes[1].name, "low");
  EXPECT_EQ(snapshot.definitions.namespaces.size(), 1U);
  EXPECT_EQ(snapshot.disruption_budgets.size(), 1U);
  ASSERT_EQ(snapshot.queues.size(), 2U);
  EXPECT_NE(snapshot.queues[0].priority, 7);
  EXPECT_EQ(snapshot.queues[1].name, "r");
}

Snapshot with_topologies(const std::string& topologies, const std::string& request) {
  test::Cluster cluster;
  cluster.queue("q").gang("h", R"("queue":"q","topology":)" + request).pods("h", 1, 1, R"("gang":"h")");
  return read(cluster.with(R"("topologies":)" + topologies));
}

TEST(Merge, AddsTopologiesAndNamesTheOneThatHasNoName) {
  Snapshot snapshot = cluster();
  snapshot.gangs[0].topology.required = "rack";
  ASSERT_FALSE(merge(with_topologies(R"([{"name":"b","levels":["zone","rack"]}])", R"({"name":"b","required":"rack"})"),
                     snapshot));
  const std::vector<SnapshotTopology> expected = {{"cluster", {"rack"}}, {"b", {"zone", "rack"}}};
  EXPECT_EQ(snapshot.definitions.topologies, expected);
  EXPECT_EQ(snapshot.gangs[0].topology.topology, "cluster");
  EXPECT_EQ(snapshot.gangs[1].topology.topology, "b");
}

TEST(Merge, ATopologyOfTheSameLevelsIsThatOfTheCluster) {
  Snapshot snapshot = cluster();
  ASSERT_FALSE(
      merge(with_topologies(R"([{"name":"b","levels":["rack"]}])", R"({"name":"b","required":"rack"})"), snapshot));
  ASSERT_EQ(snapshot.definitions.topologies.size(), 1U);
  EXPECT_EQ(snapshot.definitions.topologies[0].name, "");
  EXPECT_EQ(snapshot.gangs[1].topology.topology, "");
}

TEST(Merge, IntoAClusterWithoutQueuesKeepsTheQueueDefault) {
  Snapshot snapshot = read(test::Cluster().node("n", 1).pod("p", 1));
  ASSERT_FALSE(merge(read(test::Cluster().queue("q").pod("x", R"("queue":"q")")), snapshot));
  const Result<Problem> problem = build_problem(snapshot);
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_EQ(problem->gangs.size(), 2U);
  for (const Gang& gang : problem->gangs) EXPECT_FALSE(gang.queue.is_none()) << gang.name;
}

TEST(Merge, IntoAClusterWithQueuesAddsTheQueueDefaultIfItIsUsed) {
  const auto queues_after = [](const test::Cluster& more) {
    Snapshot snapshot = cluster();
    EXPECT_FALSE(merge(read(more), snapshot));
    return snapshot.queues.size();
  };
  EXPECT_EQ(queues_after(test::Cluster().pod("x")), 2U);
  EXPECT_EQ(queues_after(test::Cluster().gang("h").pod("x", R"("gang":"h")")), 2U);
  EXPECT_EQ(queues_after(test::Cluster().queue("q").pod("x", R"("queue":"q")")), 1U);
}

TEST(Merge, PodsMayJoinAGangOfTheCluster) {
  Snapshot snapshot = cluster();
  Snapshot more = read(test::Cluster().gang("g").pod("g-2", R"("gang":"g")"));
  more.gangs.clear();
  ASSERT_FALSE(merge(more, snapshot));
  const Result<Problem> problem = build_problem(snapshot);
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_EQ(problem->gangs.size(), 1U);
  EXPECT_EQ(problem->gangs[GangIndex(0)].pods.size(), 3U);
}

}  // namespace
}  // namespace muster::change
