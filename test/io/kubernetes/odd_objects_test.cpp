// Kubernetes objects that cannot be read, or contradict others: each is named, and the others are imported.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/build/build_problem.h"
#include "model/problem/gates.h"
#include "model/problem/problem.h"
#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

struct Imported {
  explicit Imported(const std::vector<Json>& items) {
    muster_v1::ReaderOptions options;
    options.strict = options.kubernetes.strict = false;
    Result<Snapshot> read = muster_v1::SnapshotReader(options).read(list_of(items));
    if (!read) {
      ADD_FAILURE() << read.error().path << ": " << read.error().message;
      return;
    }
    snapshot = std::move(*read);
    const Result<Problem> problem = build_problem(snapshot);
    if (!problem) ADD_FAILURE() << problem.error().path << ": " << problem.error().message;
    for (const Warning& warning : sorted_warnings(snapshot.anomalies)) {
      if (warning.object != kImportRemark) warnings.push_back(warning.object + " " + warning.name);
    }
  }
  const SnapshotPod* find(std::string_view name) const {
    for (const SnapshotPod& pod : snapshot.pods) {
      if (pod.name == name) return &pod;
    }
    return nullptr;
  }
  Snapshot snapshot;
  std::vector<std::string> warnings;  // of single objects
};

using Names = std::vector<std::string>;

TEST(KubernetesOddObjects, APodThatAsksForTwoKindsOfDevicesIsHeld) {
  const Json both = annotated(asking(pod("both"), "nvidia.com/gpu", "1"), "gpu-memory", "1024");
  const Imported imported({node("n"), both, pod("good")});
  EXPECT_EQ(imported.warnings, Names{"pod team/both"});
  EXPECT_EQ(imported.find("team/both")->status, PodStatus::kGated);
  EXPECT_EQ(imported.find("team/good")->status, PodStatus::kPending);
}

TEST(KubernetesOddObjects, APodThatCannotBeReadIsHeldWithTheKeyAndItsValue) {
  const Imported imported({node("n"), annotated(pod("odd"), "gpu-memory", "2000mb")});
  EXPECT_EQ(imported.find("team/odd")->notes.held,
            R"(it cannot be read: metadata.annotations["gpu-memory"] is "2000mb": must be a whole number of MiB, at )"
            "least 1, in digits without a unit");
}

TEST(KubernetesOddObjects, AllPodsOfItsGangAreHeldForWhatIsWrongWithTheOne) {
  const Json group = in_namespace(object("scheduling.x-k8s.io/v1alpha1", "PodGroup", "job", {{"minMember", 2}}));
  const auto member = [](const char* name) { return labelled(pod(name), "scheduling.x-k8s.io/pod-group", "job"); };
  Imported imported({node("n"), group, member("a"), annotated(member("b"), "gpu-memory", "much")});
  const Result<Problem> problem = build_problem(imported.snapshot);
  ASSERT_TRUE(problem);
  EXPECT_NE(
      held_message(*problem, problem->gangs[GangIndex(0)]).find(R"(pod team/b: metadata.annotations["gpu-memory"])"),
      std::string_view::npos);
}

TEST(KubernetesOddObjects, OneThatRunsKeepsItsNodeFromTakingMore) {
  const Json both = running(annotated(asking(pod("both"), "nvidia.com/gpu", "1"), "gpu-memory", "1024"), "n");
  const Imported imported({node("n"), node("m"), both, pod("good")});
  EXPECT_EQ(imported.warnings, Names{"pod team/both"});
  EXPECT_TRUE(imported.snapshot.nodes[0].unschedulable);
  EXPECT_FALSE(imported.snapshot.nodes[1].unschedulable);
}

TEST(KubernetesOddObjects, APodOnANodeThatIsNotInTheListIsLeftOut) {
  const Imported imported({node("n"), running(pod("lost"), "gone"), pod("good")});
  EXPECT_EQ(imported.warnings, Names{"pod team/lost"});
  EXPECT_TRUE(imported.find("team/lost")->node.empty());
}

TEST(KubernetesOddObjects, ANodeThatCannotBeReadTakesNothingNew) {
  Json broken = node("broken");
  broken["status"]["allocatable"]["cpu"] = Json::array();
  const Imported imported({broken, node("n"), running(pod("there"), "broken"), pod("good")});
  ASSERT_EQ(imported.snapshot.nodes.size(), 2U);
  EXPECT_TRUE(imported.snapshot.nodes[0].unschedulable);
  EXPECT_EQ(imported.find("team/there")->node, "broken");
  EXPECT_EQ(imported.warnings.front(), "node broken");
}

TEST(KubernetesOddObjects, OfTwoObjectsOfOneNameTheFirstCounts) {
  const Imported imported({node("n"), node("n", 4), pod("p"), pod("p")});
  EXPECT_EQ(imported.warnings, (Names{"node n", "pod team/p"}));
  EXPECT_EQ(imported.snapshot.nodes.at(0).gpu_count, 8);
}

TEST(KubernetesOddObjects, APodWhoseSpecIsNoObjectIsHeld) {
  Json broken = pod("broken");
  broken["spec"] = "none";
  const Imported imported({node("n"), broken, pod("good")});
  EXPECT_EQ(imported.warnings, Names{"pod team/broken"});
  EXPECT_EQ(imported.find("team/good")->status, PodStatus::kPending);
}

TEST(KubernetesOddObjects, PodsOfAPodGroupThatCannotBeReadAreHeld) {
  Json group = in_namespace(object("scheduling.x-k8s.io/v1alpha1", "PodGroup", "job", {{"minMember", "two"}}));
  const Json member = labelled(pod("member"), "scheduling.x-k8s.io/pod-group", "job");
  const Imported imported({node("n"), group, member, pod("good")});
  EXPECT_EQ(imported.warnings, Names{"podGroup team/job"});
  EXPECT_EQ(imported.find("team/member")->status, PodStatus::kGated);
}

TEST(KubernetesOddObjects, AreErrorsWhereTheReaderIsStrict) {
  const Result<Snapshot> read = muster_v1::SnapshotReader().read(list_of({node("n"), running(pod("lost"), "gone")}));
  ASSERT_FALSE(read);
  EXPECT_EQ(error_code_text(read.error().code), "UnknownNode");
}

}  // namespace
}  // namespace muster::kubernetes
