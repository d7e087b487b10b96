// Kueue's Workloads: priorities, gangs, pods that do not exist yet; flavors and preemption policies of their queues.
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json queued(Json made, const char* queue = "farm") {
  return labelled(std::move(made), "kueue.x-k8s.io/queue-name", queue);
}

Json owned(Json made, const char* kind, const char* name) {
  made["metadata"]["ownerReferences"] = Json::array({{{"kind", kind}, {"name", name}, {"controller", true}}});
  return made;
}

Json job(const char* name, Json spec = Json::object()) {
  return in_namespace(object("batch/v1", "Job", name, std::move(spec)));
}

Json of_job(const char* name, const char* of = "train") { return owned(pod(name), "Job", of); }

Json priority_class(const char* name, int value) {
  Json made = object("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", name, Json::object());
  made["value"] = value;
  return made;
}

Json template_of(const char* gpus, Json metadata = Json::object()) {
  return {{"metadata", metadata},
          {"spec", {{"containers", {{{"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}}}}}}}};
}

Json workload(const char* name, const char* kind, const char* owner, Json pod_sets = Json::array()) {
  Json made = in_namespace(object("kueue.x-k8s.io/v1beta2", "Workload", name,
                                  {{"queueName", "farm"}, {"priority", 7}, {"podSets", std::move(pod_sets)}}));
  return owned(made, kind, owner);
}

Json pod_set(const char* name, int count, const char* gpus) {
  return {{"name", name}, {"count", count}, {"template", template_of(gpus)}};
}

Json cluster_queue(const char* name, Json policy, const char* cohort = "", const char* nominal = "8") {
  Json quota = {{"name", "nvidia.com/gpu"}, {"nominalQuota", nominal}};
  Json spec = {{"namespaceSelector", Json::object()},
               {"resourceGroups",
                {{{"coveredResources", {"nvidia.com/gpu"}},
                  {"flavors", {{{"name", "default"}, {"resources", Json::array({quota})}}}}}}}};
  if (!policy.is_null()) spec["preemption"] = policy;
  if (*cohort != 0) spec["cohortName"] = cohort;
  return object("kueue.x-k8s.io/v1beta2", "ClusterQueue", name, spec);
}

Json flavor(const char* name, Json labels, Json more = Json::object()) {
  Json spec = more;
  if (!labels.empty()) spec["nodeLabels"] = labels;
  return object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", name, spec);
}

Json queue_of(std::vector<const char*> flavors) {
  Json made = cluster_queue("farm", {{"withinClusterQueue", "Never"}});
  Json list = Json::array();
  for (const char* name : flavors)
    list.push_back({{"name", name}, {"resources", {{{"name", "nvidia.com/gpu"}, {"nominalQuota", "8"}}}}});
  made["spec"]["resourceGroups"][0]["flavors"] = list;
  return made;
}

Json on_gpus(Json made, const char* count = "1") { return asking(std::move(made), "nvidia.com/gpu", count); }

std::string terms(const ImportedObjects& made, const char* name) {
  Json one = made.pod(name);
  if (!one.contains("nodeAffinity")) return "";
  return one["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"].dump();
}

TEST(KueuePriority, IsThatOfTheClassOfOwnerOrPod) {
  const Json high = priority_class("high", 1000);
  const Json owner = labelled(queued(job("train")), "kueue.x-k8s.io/priority-class", "high");
  EXPECT_EQ(imported({high, owner, of_job("a")}).gang("team/train")["priority"], 1000);
  const Json alone = labelled(queued(pod("p", {{"priority", 5}})), "kueue.x-k8s.io/priority-class", "high");
  EXPECT_EQ(imported({high, alone}).pod("team/p")["priority"], 1000);
}

TEST(KueuePriority, IsThatOfTheWorkloadAndItsBoost) {
  const Json one = queued(of_job("a"));
  EXPECT_EQ(imported({workload("w", "Job", "train"), one}).gang("team/train")["priority"], 7);
  const Json boosted = annotated(workload("w", "Job", "train"), "kueue.x-k8s.io/priority-boost", "-3");
  EXPECT_EQ(imported({boosted, one}).gang("team/train")["priority"], 4);
}

TEST(KueuePriority, OfAClassThatIsUnknownProtectsAndEvictsNothing) {
  const auto made =
      imported({node("n"), running(labelled(queued(pod("p")), "kueue.x-k8s.io/priority-class", "gone"), "n")});
  EXPECT_EQ(made.pod("team/p")["preemptible"], false);
  EXPECT_EQ(made.pod("team/p")["preemptionPolicy"], "Never");
  EXPECT_TRUE(made.says("WorkloadPriorityClass gone is not in the input"));
}

TEST(KueueGangs, PodsOfAJobStartTogether) {
  const auto made = imported({queued(job("train")), of_job("a"), of_job("b")});
  EXPECT_EQ(made.pod("team/a")["gang"], "team/train");
  EXPECT_EQ(made.pod("team/b")["gang"], "team/train");
  EXPECT_FALSE(made.gang("team/train").contains("minMember"));
  EXPECT_EQ(made.gang("team/train")["stalenessGracePeriod"], "never");
}

TEST(KueueGangs, PodsOfADeploymentOrOfNoQueueStartAlone) {
  const auto made = imported({queued(owned(pod("a"), "Deployment", "web")),
                              queued(owned(pod("b"), "ReplicaSet", "web-1")), of_job("c", "plain"), queued(pod("d"))});
  for (const char* name : {"team/a", "team/b", "team/c", "team/d"})
    EXPECT_FALSE(made.pod(name).contains("gang")) << name;
}

TEST(KueueGangs, EachGroupOfALeaderWorkerSetIsOne) {
  const auto of_set = [](const char* name, const char* group) {
    return labelled(queued(owned(pod(name), "LeaderWorkerSet", "llm")), "leaderworkerset.sigs.k8s.io/group-index",
                    group);
  };
  const auto made = imported({of_set("a", "0"), of_set("b", "0"), of_set("c", "1")});
  EXPECT_EQ(made.pod("team/b")["gang"], "team/llm/0");
  EXPECT_EQ(made.pod("team/c")["gang"], "team/llm/1");
}

TEST(KueueGangs, TheOutermostObjectThatKueueKnowsCounts) {
  const Json of_cron = owned(queued(job("nightly-1")), "CronJob", "nightly");
  EXPECT_EQ(imported({of_cron, of_job("a", "nightly-1")}).pod("team/a")["gang"], "team/nightly-1");
  const Json of_set = owned(job("set-w-0"), "JobSet", "set");
  EXPECT_EQ(imported({of_set, queued(of_job("b", "set-w-0"))}).pod("team/b")["gang"], "team/set");
  EXPECT_EQ(imported({workload("w", "Pipeline", "p"), owned(pod("c"), "Pipeline", "p")}).pod("team/c")["gang"],
            "team/p");
}

TEST(KueueGangs, OwnersOfOneNameAreTwo) {
  const auto made = imported({queued(of_job("a")), queued(owned(pod("b"), "PyTorchJob", "train"))});
  EXPECT_NE(made.pod("team/a")["gang"], made.pod("team/b")["gang"]);
}

TEST(KueueGangs, OnceItRunsItsOtherPodsStartOneByOne) {
  const auto made = imported({node("n"), queued(job("train")), running(of_job("a"), "n"), of_job("b"), of_job("c")});
  EXPECT_EQ(made.gang("team/train")["minMember"], 1);
}

TEST(KueueGangs, PartialAdmissionLowersTheMinimum) {
  const Json owner = annotated(queued(job("train")), "kueue.x-k8s.io/job-min-parallelism", "2");
  EXPECT_EQ(imported({owner, of_job("a"), of_job("b"), of_job("c")}).gang("team/train")["minMember"], 2);
}

TEST(KueueGangs, EachPodSetHasItsOwnTopology) {
  const auto of_set = [](const char* name, const char* replicated, const char* level) {
    Json one = labelled(queued(owned(pod(name), "JobSet", "set")), "jobset.sigs.k8s.io/replicatedjob-name", replicated);
    return *level == 0 ? one : annotated(one, "kueue.x-k8s.io/podset-required-topology", level);
  };
  const auto made =
      imported({of_set("a", "workers", "rack"), of_set("b", "workers", "rack"), of_set("c", "driver", "")});
  Json gang = made.gang("team/set");
  ASSERT_EQ(gang["subgroups"].size(), 2U) << gang;
  EXPECT_EQ(gang["subgroups"][0]["name"], "workers");
  EXPECT_EQ(gang["subgroups"][0]["minMember"], 2);
  EXPECT_EQ(gang["subgroups"][0]["topology"]["required"], "rack");
  EXPECT_EQ(gang["subgroups"][1]["minMember"], 1);
  EXPECT_FALSE(gang["subgroups"][1].contains("topology"));
  EXPECT_EQ(made.pod("team/a")["subgroup"], "workers");
  EXPECT_FALSE(imported({of_set("a", "workers", ""), of_set("c", "driver", "")}).pod("team/a").contains("subgroup"));
}

TEST(KueueWaiting, AWorkloadWithoutQuotaIsPlanned) {
  const auto made = imported({workload("w", "JobSet", "set", {pod_set("driver", 1, "1"), pod_set("workers", 2, "8")})});
  EXPECT_EQ(made.line["pods"].size(), 3U);
  EXPECT_EQ(made.pod("team/set-workers-1")["gang"], "team/set");
  EXPECT_EQ(made.pod("team/set-workers-1")["gpu"]["count"], 8);
  EXPECT_EQ(made.pod("team/set-driver-0")["owner"], "JobSet/set");
  EXPECT_FALSE(made.pod("team/set-driver-0").contains("status"));
  EXPECT_EQ(made.gang("team/set")["queue"], "farm");
  EXPECT_EQ(made.gang("team/set")["priority"], 7);
  EXPECT_TRUE(made.says("a Workload waits for Kueue"));
}

TEST(KueueWaiting, AWorkloadWithQuotaWithPodsOrThatIsOverIsNot) {
  const Json waits = workload("w", "Job", "train", {pod_set("main", 2, "8")});
  Json reserved = waits, finished = waits, inactive = waits;
  reserved["status"]["conditions"] = Json::array({{{"type", "QuotaReserved"}, {"status", "True"}}});
  finished["status"]["conditions"] = Json::array({{{"type", "Finished"}, {"status", "True"}}});
  inactive["spec"]["active"] = false;
  EXPECT_EQ(imported({waits}).line["pods"].size(), 2U);
  for (const Json& other : {reserved, finished, inactive})
    EXPECT_EQ(imported({other}).line["pods"].size(), 0U) << other;
  EXPECT_TRUE(imported({inactive}).says("is not active"));
  EXPECT_EQ(imported({waits, of_job("a")}).line["pods"].size(), 1U);
}

TEST(KueueWaiting, TheTopologyOfAPodSetIsRead) {
  Json set = pod_set("main", 2, "8");
  set["topologyRequest"] = {{"required", "rack"}};
  EXPECT_EQ(imported({workload("w", "Job", "train", {set})}).gang("team/train")["topology"]["required"], "rack");
  set["topologyRequest"]["podSetSliceRequiredTopology"] = "host";
  EXPECT_EQ(imported({workload("w", "Job", "train", {set})}).pod("team/train-0")["status"], "gated");
}

TEST(KueueWaiting, LeastPodsOfAPodSetAreTheMinimum) {
  Json set = pod_set("main", 4, "8");
  set["minCount"] = 3;
  EXPECT_EQ(imported({workload("w", "Job", "train", {set})}).gang("team/train")["minMember"], 3);
}

TEST(KueueWaiting, AJobThatKueueSuspendsIsPlannedFromItsTemplate) {
  const Json spec = {{"parallelism", 2}, {"completions", 2}, {"suspend", true}, {"template", template_of("8")}};
  const auto made = imported({queued(job("train", spec))});
  EXPECT_EQ(made.pod("team/train-1")["gang"], "team/train");
  EXPECT_FALSE(made.pod("team/train-1").contains("status"));
  EXPECT_EQ(imported({job("train", spec)}).line["pods"].size(), 0U);
  EXPECT_EQ(imported({queued(job("train", spec)), workload("w", "Job", "train", {pod_set("main", 2, "8")})})
                .line["pods"]
                .size(),
            2U);
}

TEST(KueueWaiting, OnlyPodsThatExistAreActedOn) {
  KubernetesOptions gated, watched;
  gated.planned_gate = "example.com/gate";
  watched.awaits_groups = true;
  for (const KubernetesOptions& options : {gated, watched})
    EXPECT_EQ(imported({workload("w", "Job", "train", {pod_set("main", 2, "8")})}, options).line["pods"].size(), 0U);
}

TEST(KueueFlavors, NodesOfTheFlavorAreTheOnlyOnes) {
  const auto made =
      imported({flavor("h", {{"gpu", "h100"}}), queue_of({"h"}), queued(on_gpus(pod("p"))), queued(pod("c"))});
  EXPECT_EQ(terms(made, "team/p"), R"([{"matchExpressions":[{"key":"gpu","operator":"In","values":["h100"]}]}])");
  EXPECT_EQ(terms(made, "team/c"), "") << "it asks for nothing that the flavor has";
}

TEST(KueueFlavors, OneOfSeveralLetsThePodIn) {
  const std::vector<Json> cluster = {flavor("h", {{"gpu", "h100"}}), flavor("a", {{"gpu", "a100"}}),
                                     queue_of({"h", "a"})};
  std::vector<Json> free = cluster, chosen = cluster;
  free.push_back(queued(on_gpus(pod("p"))));
  EXPECT_EQ(terms(imported(free), "team/p"),
            R"([{"matchExpressions":[{"key":"gpu","operator":"In","values":["a100","h100"]}]}])");
  Json selecting = queued(on_gpus(pod("p")));
  selecting["spec"]["nodeSelector"] = {{"gpu", "a100"}, {"zone", "z"}};
  chosen.push_back(selecting);
  EXPECT_EQ(terms(imported(chosen), "team/p"),
            R"([{"matchExpressions":[{"key":"gpu","operator":"In","values":["a100"]}]}])");
}

TEST(KueueFlavors, ItsOwnTermsHoldToo) {
  Json one = queued(on_gpus(pod("p")));
  one["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      Json::array({{{"matchExpressions", {{{"key", "zone"}, {"operator", "In"}, {"values", {"z"}}}}}}});
  EXPECT_EQ(terms(imported({flavor("h", {{"gpu", "h100"}}), queue_of({"h"}), one}), "team/p"),
            R"([{"matchExpressions":[{"key":"gpu","operator":"In","values":["h100"]},)"
            R"({"key":"zone","operator":"In","values":["z"]}]}])");
}

TEST(KueueFlavors, TaintsMustBeToleratedByPodOrFlavor) {
  const Json taints = Json::array({{{"key", "spot"}, {"value", "true"}, {"effect", "NoSchedule"}}});
  const Json tolerations = Json::array({{{"key", "spot"}, {"operator", "Exists"}}});
  const std::vector<Json> closed = {flavor("s", {{"kind", "spot"}}, {{"nodeTaints", taints}}), queue_of({"s"}),
                                    queued(on_gpus(pod("p")))};
  EXPECT_EQ(terms(imported(closed), "team/p"), "[]");
  const std::vector<Json> open = {
      flavor("s", {{"kind", "spot"}}, {{"nodeTaints", taints}, {"tolerations", tolerations}}), queue_of({"s"}),
      queued(on_gpus(pod("p")))};
  EXPECT_NE(terms(imported(open), "team/p"), "[]");
  EXPECT_EQ(imported(open).pod("team/p")["tolerations"], Json::array({{{"key", "spot"}, {"operator", "Exists"}}}));
  Json tolerant = queued(on_gpus(pod("p")));
  tolerant["spec"]["tolerations"] = tolerations;
  EXPECT_NE(terms(imported({closed[0], closed[1], tolerant}), "team/p"), "[]");
}

TEST(KueueFlavors, OneThatDoesNotExistHolds) {
  const auto made = imported({flavor("h", {{"gpu", "h100"}}), queue_of({"h", "gone"}), queued(on_gpus(pod("p")))});
  EXPECT_EQ(made.pod("team/p")["held"], "a ResourceFlavor of its ClusterQueue is not in the input");
}

TEST(KueueFlavors, OneHasToHaveAllOfAPodSet) {
  const std::vector<Json> cluster = {flavor("h", {{"gpu", "h100"}}), flavor("a", {{"gpu", "a100"}}),
                                     queue_of({"h", "a"})};
  std::vector<Json> ten = cluster, eight = cluster;
  ten.push_back(workload("w", "Job", "train", {pod_set("main", 5, "2")}));
  eight.push_back(workload("w", "Job", "train", {pod_set("main", 4, "2")}));
  EXPECT_EQ(imported(ten).pod("team/train-0")["held"],
            "no ResourceFlavor of its ClusterQueue has a quota for all its pods");
  EXPECT_FALSE(imported(eight).pod("team/train-0").contains("held"));
}

TEST(KueueFlavors, PodsThatAreAdmittedStayAsTheyAre) {
  const Json admitted = annotated(queued(on_gpus(pod("p"))), "kueue.x-k8s.io/workload", "w");
  EXPECT_EQ(terms(imported({flavor("h", {{"gpu", "h100"}}), queue_of({"h"}), admitted}), "team/p"), "");
}

TEST(KueueFlavors, OneWithoutTopologyTakesNoPodThatAsksForALevel) {
  Json one = annotated(queued(on_gpus(of_job("p"))), "kueue.x-k8s.io/podset-required-topology", "rack");
  EXPECT_EQ(terms(imported({flavor("h", {{"gpu", "h100"}}), queue_of({"h"}), one}), "team/p"), "[]");
  EXPECT_NE(terms(imported({flavor("h", {{"gpu", "h100"}}, {{"topologyName", "t"}}), queue_of({"h"}), one}), "team/p"),
            "[]");
}

struct Running {
  const char* queue;
  int priority;
};

// Whether something may be evicted for a pod of priority 10 of queue `farm`.
bool may_evict(const Json& policy, const std::vector<Running>& others) {
  std::vector<Json> list = {node("n", 64), cluster_queue("farm", policy, "all"),
                            cluster_queue("rest", {{"withinClusterQueue", "Never"}}, "all", "1"),
                            queued(on_gpus(pod("p", {{"priority", 10}})))};
  int number = 0;
  for (const Running& one : others) {
    const std::string name = "r" + std::to_string(number++);
    list.push_back(running(queued(on_gpus(pod(name.c_str(), {{"priority", one.priority}})), one.queue), "n"));
  }
  return !imported(list).pod("team/p").contains("preemptionPolicy");
}

TEST(KueuePreemptionPolicy, NeverIsTheDefaultOfEachPart) {
  EXPECT_FALSE(may_evict({{"withinClusterQueue", "Never"}, {"reclaimWithinCohort", "Never"}}, {}));
  EXPECT_FALSE(may_evict(Json::object(), {}));
}

TEST(KueuePreemptionPolicy, WithinTheQueueAllowsOnlyThat) {
  const Json policy = {{"withinClusterQueue", "LowerPriority"}};
  EXPECT_TRUE(may_evict(policy, {{"farm", 1}}));
  EXPECT_TRUE(may_evict(policy, {{"farm", 1}, {"rest", 1}})) << "`rest` borrows nothing";
  EXPECT_FALSE(may_evict(policy, {{"farm", 1}, {"rest", 1}, {"rest", 1}}));
}

TEST(KueuePreemptionPolicy, ReclaimAllowsOnlyThat) {
  const Json any = {{"reclaimWithinCohort", "Any"}};
  EXPECT_TRUE(may_evict(any, {{"rest", 50}, {"rest", 50}}));
  EXPECT_TRUE(may_evict(any, {{"farm", 10}, {"rest", 50}, {"rest", 50}}));
  EXPECT_FALSE(may_evict(any, {{"farm", 1}, {"rest", 50}, {"rest", 50}}));
  const Json lower = {{"withinClusterQueue", "LowerPriority"}, {"reclaimWithinCohort", "LowerPriority"}};
  EXPECT_TRUE(may_evict(lower, {{"rest", 5}, {"rest", 5}}));
  EXPECT_FALSE(may_evict(lower, {{"rest", 5}, {"rest", 50}}));
}

TEST(KueuePreemptionPolicy, WhatIsForbiddenAlthoughKueueWouldEvictIsNamed) {
  const auto made = imported({node("n", 64), cluster_queue("farm", {{"reclaimWithinCohort", "Any"}}, "all"),
                              running(queued(on_gpus(pod("r", {{"priority", 1}}))), "n"),
                              queued(on_gpus(pod("p", {{"priority", 10}})))});
  EXPECT_TRUE(made.says("Muster evicts nothing for gangs whose ClusterQueue allows only a part of it"));
}

TEST(KueuePreemptionPolicy, WithoutOneARemarkSaysSo) {
  const auto made = imported({cluster_queue("farm", nullptr), queued(on_gpus(pod("p")))});
  EXPECT_FALSE(made.pod("team/p").contains("preemptionPolicy"));
  EXPECT_TRUE(made.says("has no spec.preemption"));
}

TEST(KueuePreemptionPolicy, RoomAboveTheQuotaIsNoRightWithoutFairSharing) {
  EXPECT_EQ(imported({cluster_queue("farm", Json::object())}).queue("farm")["gpu"]["weight"], 0);
  Json fair = cluster_queue("farm", Json::object());
  fair["spec"]["fairSharing"] = {{"weight", "2"}};
  EXPECT_EQ(imported({fair}).queue("farm")["gpu"]["weight"], 2);
  EXPECT_EQ(imported({fair, cluster_queue("rest", Json::object())}).queue("rest")["gpu"]["weight"], 1);
}

}  // namespace
}  // namespace muster::kubernetes
