#include "model/change/change.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/snapshot_writer/write_snapshot.h"
#include "test/support/case.h"
#include "test/support/cluster.h"

namespace muster::change {
namespace {

std::string text(const Snapshot& snapshot) {
  std::string line;
  snapshot_writer::write_snapshot(snapshot, line);
  return line;
}

Snapshot two_nodes() {
  test::Cluster cluster;
  cluster.node("n1", 4,
               R"("labels":{"kubernetes.io/hostname":"n1","pool":"a"},"unschedulable":true,"taints":[)"
               R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute"},{"key":"gpu","effect":"NoSchedule"}])");
  cluster.node("n2", 2).gang("g", R"("minMember":2)").pods("g", 2, 2, R"("gang":"g")").running("r", "n2", 1);
  return test::Case::read(cluster.line());
}

const SnapshotPod& pod(const Snapshot& snapshot, std::string_view name) {
  for (const SnapshotPod& pod : snapshot.pods) {
    if (pod.name == name) return pod;
  }
  throw std::runtime_error("no pod " + std::string(name));
}

TEST(Change, OfACopyLeavesTheOriginalAlone) {
  const Snapshot original = two_nodes();
  const std::string before = text(original);
  Snapshot copy(original);
  EXPECT_EQ(text(copy), before);
  for (const Change& change : std::vector<Change>{AddNodes{"n1", 3}, Drain{"n2"}, SetMinimum{"g", 1},
                                                  Tolerate{"g", {"gpu", "", TaintEffect::kNoSchedule}}}) {
    EXPECT_FALSE(apply(change, copy)) << text_of(change);
  }
  EXPECT_NE(text(copy), before);
  EXPECT_EQ(text(original), before);
}

TEST(Change, TextOfACopyOutlivesTheOriginal) {
  Snapshot copy;
  {
    const Snapshot original = two_nodes();
    copy = original;
  }
  EXPECT_EQ(text(copy), text(two_nodes()));
}

TEST(Change, NewNodesAreReadyAndHaveTheirOwnHostname) {
  Snapshot snapshot = two_nodes();
  ASSERT_FALSE(apply(AddNodes{"n1", 2}, snapshot));
  ASSERT_EQ(snapshot.nodes.size(), 4U);
  const SnapshotNode& added = snapshot.nodes[3];
  EXPECT_EQ(added.name, "n1+2");
  EXPECT_EQ(added.gpu_count, 4);
  EXPECT_FALSE(added.unschedulable);
  ASSERT_EQ(added.taints.size(), 1U);
  EXPECT_EQ(added.taints[0].key, "gpu");
  EXPECT_EQ(added.labels[0].second, "n1+2");
  EXPECT_EQ(added.labels[1].second, "a");
}

TEST(Change, APodOfARemovedNodeIsPendingAgain) {
  Snapshot snapshot = two_nodes();
  ASSERT_FALSE(apply(RemoveNode{"n2"}, snapshot));
  EXPECT_EQ(snapshot.nodes.size(), 1U);
  EXPECT_EQ(pod(snapshot, "r").status, PodStatus::kPending);
  EXPECT_TRUE(pod(snapshot, "r").node.empty());
}

TEST(Change, ThatNamesNothingIsRefused) {
  const std::vector<Change> changes = {AddNodes{"x", 1},
                                       RemoveNode{"x"},
                                       Cordon{"x"},
                                       Uncordon{"x"},
                                       Drain{"x"},
                                       SetQueue{.queue = "x"},
                                       SetPriority{"x", 1},
                                       RemoveGang{"x"},
                                       Evict{"x"},
                                       Tolerate{"x", {}},
                                       SetMinimum{"x", 1},
                                       SetRequiredLevel{"x", "", ""},
                                       SetRequiredLevel{"g", "x", ""},
                                       SetRequiredLevel{"g", "", "x"}};
  for (const Change& change : changes) {
    Snapshot snapshot = two_nodes();
    const auto failure = apply(change, snapshot);
    ASSERT_TRUE(failure) << text_of(change);
    EXPECT_NE(failure->message.find("\"x\""), std::string::npos) << failure->message;
  }
}

TEST(Change, GangsThatAreRemovedTogetherAreGoneAsOneByOne) {
  const std::vector<Change> both = {RemoveGang{"g"}, RemoveGang{"r"}};
  Snapshot together = two_nodes(), apart = two_nodes();
  EXPECT_FALSE(change::apply(both, together));
  for (const Change& change : both) EXPECT_FALSE(apply(change, apart));
  EXPECT_EQ(text(together), text(apart));
  EXPECT_TRUE(together.gangs.empty());
  EXPECT_EQ(together.pods.size(), 0U);
  // A pod of a gang is no gang by itself, and nothing is gone twice.
  for (const std::string name : {"g-0", "g"}) {
    Snapshot snapshot = two_nodes();
    const auto failure =
        change::apply(std::vector<Change>{RemoveGang{"g"}, RemoveGang{"r"}, RemoveGang{name}}, snapshot);
    ASSERT_TRUE(failure) << name;
    EXPECT_EQ(failure->code, ErrorCode::kUnknownName);
  }
}

TEST(Change, ALevelMayNameItsTopology) {
  test::Cluster cluster;
  cluster.with(R"("topologies":[{"name":"a","levels":["zone","rack"]},{"name":"b","levels":["rack","host"]}])");
  cluster.gang("g", R"("topology":{"name":"a","required":"rack","preferred":"zone"})");
  const Snapshot before = test::Case::read(cluster.line());
  const auto request_after = [&](const std::string& level) {
    Snapshot snapshot = before;
    EXPECT_FALSE(apply(SetRequiredLevel{"g", "", level}, snapshot)) << level;
    const TopologyRequest& request = snapshot.gangs[0].topology;
    return std::string(request.topology) + ":" + std::string(request.required) + "," + std::string(request.preferred);
  };
  EXPECT_EQ(request_after("zone"), "a:zone,zone") << "of the topology that it names already";
  EXPECT_EQ(request_after("b:rack"), "b:rack,");
  EXPECT_EQ(request_after("host"), ":host,zone");
  EXPECT_EQ(request_after(""), "a:,zone");
  Snapshot snapshot = before;
  EXPECT_TRUE(apply(SetRequiredLevel{"g", "", "b:zone"}, snapshot));
}

TEST(Change, TextIsThatOfTheOption) {
  EXPECT_EQ(text_of(AddNodes{"n1", 4}), "--add-nodes 4xn1");
  EXPECT_EQ(text_of(SetQueue{"q", QueueResourceKind::kGpu, QueueAmountKind::kQuota, 2'500'000}),
            "--set-quota q=gpu:2.5");
  EXPECT_EQ(text_of(SetQueue{"q", QueueResourceKind::kCpu, QueueAmountKind::kLimit, kUnlimited}),
            "--set-limit q=cpu:unlimited");
  EXPECT_EQ(text_of(SetQueue{"q", QueueResourceKind::kOther, QueueAmountKind::kLimit, 3, "x.com/card"}),
            "--set-limit q=x.com/card:3");
  EXPECT_EQ(text_of(SetRequiredLevel{"g", "", ""}), "--set-level g=none");
  EXPECT_EQ(text_of(Cordon{"a node"}), "--cordon 'a node'");
  EXPECT_EQ(text_of(SetMinimum{"it's", 2}), R"(--set-minimum 'it'"'"'s=2')");
  EXPECT_EQ(text_of(SetMinimum{"g", 0, "a"}), "--set-minimum g/a=0");
  EXPECT_EQ(text_of(Evict{"-x"}), "--evict=-x");
}

}  // namespace
}  // namespace muster::change
