// Queues, pod groups and topologies of Kueue. Its Workloads, flavors and policies: kueue_workloads_test.cpp.
#include <set>
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json queued(Json made, const char* queue = "user-queue") {
  return labelled(std::move(made), "kueue.x-k8s.io/queue-name", queue);
}

Json local_queue(const char* name, const char* cluster_queue) {
  return in_namespace(object("kueue.x-k8s.io/v1beta1", "LocalQueue", name, {{"clusterQueue", cluster_queue}}));
}

Json cluster_queue(const char* name, Json resources, const char* cohort = "") {
  Json spec = {
      {"resourceGroups", {{{"coveredResources", {"cpu"}}, {"flavors", {{{"name", "f"}, {"resources", resources}}}}}}}};
  if (*cohort != 0) spec["cohort"] = cohort;
  return object("kueue.x-k8s.io/v1beta1", "ClusterQueue", name, spec);
}

Json grouped(const char* name, const char* group, const char* total = "") {
  Json made = labelled(queued(pod(name)), "kueue.x-k8s.io/pod-group-name", group);
  return *total == 0 ? made : annotated(made, "kueue.x-k8s.io/pod-group-total-count", total);
}

TEST(KubernetesKueue, TheQueueIsTheClusterQueueOfTheLocalOne) {
  const auto made = imported({queued(pod("p")), local_queue("user-queue", "team-a"),
                              cluster_queue("team-a", {{{"name", "cpu"}, {"nominalQuota", "9"}},
                                                       {{"name", "memory"}, {"nominalQuota", "36Gi"}},
                                                       {{"name", "nvidia.com/gpu"}, {"nominalQuota", 8}}})});
  EXPECT_EQ(made.pod("team/p")["queue"], "team-a");
  Json queue = made.queue("team-a");
  EXPECT_EQ(queue["gpu"]["quota"], 8);
  EXPECT_EQ(queue["gpu"]["limit"], 8);
  EXPECT_EQ(queue["cpu"]["limit"], 9);
  EXPECT_EQ(queue["memory"]["quota"], std::int64_t{36} << 30);
}

TEST(KubernetesKueue, AQueueThatIsNotInTheListHasNoBounds) {
  const auto made = imported({queued(pod("p")), queued(pod("q"), "other"), local_queue("other", "gone"), pod("plain")});
  EXPECT_EQ(made.pod("team/p")["queue"], "user-queue");
  EXPECT_EQ(made.queue("user-queue"), unbounded_queue("user-queue"));
  EXPECT_EQ(made.pod("team/q")["queue"], "gone");
  EXPECT_EQ(made.pod("team/plain")["queue"], "default");
  EXPECT_NE(made.line["queues"].size(), 2U);
}

TEST(KubernetesKueue, NamesOfOtherQueuesStayTheirs) {
  const Json volcano = object("scheduling.volcano.sh/v1beta1", "Queue", "shared", Json::object());
  const auto made = imported({volcano, queued(pod("p"), "shared"), queued(pod("q"), "default"), pod("plain")});
  EXPECT_EQ(made.pod("team/p")["queue"], "shared@kueue.x-k8s.io");
  EXPECT_EQ(made.pod("team/q")["queue"], "default");
  EXPECT_EQ(made.pod("team/plain")["queue"], "kubernetes");
}

TEST(KubernetesKueue, ACohortLendsWhatItsQueuesHave) {
  const Json four = {{{"name", "nvidia.com/gpu"}, {"nominalQuota", "4"}}};
  const Json bounded = {{{"name", "nvidia.com/gpu"}, {"nominalQuota", "6"}, {"borrowingLimit", "1"}}};
  const auto made =
      imported({cluster_queue("a", four, "all"), cluster_queue("b", bounded, "all"), queued(pod("p"), "a")});
  EXPECT_EQ(made.queue("a")["parent"], "all");
  EXPECT_EQ(made.queue("a")["gpu"]["quota"], 4);
  EXPECT_FALSE(made.queue("a")["gpu"].contains("limit"));
  EXPECT_EQ(made.queue("b")["gpu"]["limit"], 7);
  EXPECT_EQ(made.queue("all")["gpu"]["limit"], 10);
}

Json cohort(const char* name, const char* parent, Json resources = Json::array()) {
  Json spec = Json::object();
  if (*parent != 0) spec["parentName"] = parent;
  if (!resources.empty())
    spec["resourceGroups"] = {
        {{"coveredResources", {"cpu"}}, {"flavors", {{{"name", "f"}, {"resources", resources}}}}}};
  return object("kueue.x-k8s.io/v1beta2", "Cohort", name, spec);
}

Json gpus(const char* nominal, const char* borrowing = "", const char* lending = "") {
  Json quota = {{"name", "nvidia.com/gpu"}, {"nominalQuota", nominal}};
  if (*borrowing != 0) quota["borrowingLimit"] = borrowing;
  if (*lending != 0) quota["lendingLimit"] = lending;
  return Json::array({quota});
}

TEST(KubernetesKueue, ACohortMayHaveAQuotaOfItsOwn) {
  const auto made = imported({cohort("root", ""), cohort("inner", "root", gpus("8")),
                              cluster_queue("firm", gpus("0"), "inner"), cluster_queue("spare", gpus("2"), "root")});
  EXPECT_EQ(made.queue("firm")["parent"], "inner");
  EXPECT_EQ(made.queue("inner")["parent"], "root");
  EXPECT_EQ(made.queue("inner")["gpu"]["quota"], 8);
  EXPECT_EQ(made.queue("root")["gpu"]["quota"], 10);
  EXPECT_EQ(made.queue("root")["gpu"]["limit"], 10);
  EXPECT_FALSE(made.queue("firm")["gpu"].contains("limit"));
  EXPECT_FALSE(made.queue("spare")["gpu"].contains("limit"));
}

TEST(KubernetesKueue, LimitsOfACohortHoldForAllBelowIt) {
  const auto made =
      imported({cohort("root", ""), cohort("left", "root", gpus("2", "1")), cohort("right", "root", gpus("6", "", "4")),
                cluster_queue("a", gpus("1"), "left"), cluster_queue("b", gpus("1"), "right")});
  EXPECT_EQ(made.queue("left")["gpu"]["limit"], 4);  // 3 of its own, 1 borrowed
  EXPECT_FALSE(made.queue("a")["gpu"].contains("limit"));
  EXPECT_EQ(made.queue("right")["gpu"]["quota"], 7);
  EXPECT_EQ(made.queue("root")["gpu"]["limit"], 10);
  // `right` keeps 3 to itself, so `left` could get 4 + 3 without its own limit.
  const auto unlimited =
      imported({cohort("root", ""), cohort("left", "root", gpus("2")), cohort("right", "root", gpus("6", "", "4")),
                cluster_queue("a", gpus("1"), "left"), cluster_queue("b", gpus("1"), "right")});
  EXPECT_EQ(unlimited.queue("left")["gpu"]["limit"], 7);
}

TEST(KubernetesKueue, WhatAQueueDoesNotLendIsForNoOther) {
  const auto made =
      imported({cluster_queue("lab", gpus("2", "2"), "all"), cluster_queue("prod", gpus("4", "", "1"), "all")});
  EXPECT_EQ(made.queue("lab")["gpu"]["limit"], 3);
  EXPECT_FALSE(made.queue("prod")["gpu"].contains("limit"));
  EXPECT_FALSE(made.says("lendingLimit"));
  EXPECT_TRUE(imported({cluster_queue("lab", gpus("2"), "all"), cluster_queue("prod", gpus("4", "", "1"), "all"),
                        cluster_queue("more", gpus("2"), "all")})
                  .says("lendingLimit bounds each ClusterQueue that borrows"));
}

TEST(KubernetesKueue, AQueueBorrowsOnlyFlavorsThatItLists) {
  Json other = cluster_queue("b", gpus("4"), "all");
  other["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "other";
  EXPECT_EQ(imported({cluster_queue("a", gpus("4"), "all"), other}).queue("a")["gpu"]["limit"], 4);
}

TEST(KubernetesKueue, CohortsInACircleAdmitNothing) {
  const auto made =
      imported({cohort("x", "y"), cohort("y", "x"), cluster_queue("a", gpus("4"), "x"), queued(pod("p"), "a")});
  EXPECT_EQ(made.pod("team/p")["held"], "the cohorts of its ClusterQueue are a circle");
  EXPECT_FALSE(made.queue("a").contains("parent"));
}

TEST(KubernetesKueue, QuotasOfSeveralFlavorsAreAddedUpWithARemark) {
  Json two = cluster_queue("a", gpus("4"));
  two["spec"]["resourceGroups"][0]["flavors"].push_back({{"name", "g"}, {"resources", gpus("2")}});
  const auto made = imported({two});
  EXPECT_EQ(made.queue("a")["gpu"]["quota"], 6);
  EXPECT_TRUE(made.says("the quotas of several ResourceFlavors of a ClusterQueue are added up"));
  EXPECT_FALSE(imported({cluster_queue("a", gpus("4"))}).says("several ResourceFlavors"));
}

TEST(KubernetesKueue, WhatElseKueueChecksIsNamed) {
  Json queue = cluster_queue("a", gpus("4"));
  queue["spec"]["queueingStrategy"] = "StrictFIFO";
  queue["spec"]["admissionChecksStrategy"] = {{"admissionChecks", {{{"name", "prov"}}}}};
  queue["spec"]["admissionScope"] = {{"admissionMode", "UsageBasedAdmissionFairSharing"}};
  queue["spec"]["preemption"]["borrowWithinCohort"] = {{"policy", "LowerPriority"}};
  queue["spec"]["preemption"]["withinClusterQueue"] = "LowerOrNewerEqualPriority";
  const auto made = imported({queue});
  std::set<std::string> told;
  for (const Json& one : made.line["unread"]) told.insert(one["key"]);
  EXPECT_EQ(told, (std::set<std::string>{"spec.admissionChecksStrategy", "spec.admissionScope",
                                         "spec.preemption.borrowWithinCohort.policy",
                                         "spec.preemption.withinClusterQueue", "spec.queueingStrategy"}));
  EXPECT_TRUE(made.says("without namespaceSelector"));
}

TEST(KubernetesKueue, AQueueThatIsNotActiveIsHeld) {
  Json queue = cluster_queue("a", gpus("4"));
  queue["status"]["conditions"] = Json::array({{{"type", "Active"}, {"status", "False"}}});
  EXPECT_EQ(imported({queue, queued(pod("p"), "a")}).pod("team/p")["held"], "its ClusterQueue is not active");
}

TEST(KubernetesKueue, ANamespaceThatIsNotSelectedIsHeld) {
  Json queue = cluster_queue("a", gpus("4"));
  queue["spec"]["namespaceSelector"] = {{"matchLabels", {{"kueue", "yes"}}}};
  const Json known = object("v1", "Namespace", "team", Json::object());
  EXPECT_EQ(imported({queue, known, queued(pod("p"), "a")}).pod("team/p")["held"],
            "its ClusterQueue does not admit workloads of its namespace");
  EXPECT_FALSE(
      imported({queue, labelled(known, "kueue", "yes"), queued(pod("p"), "a")}).pod("team/p").contains("held"));
  queue["spec"]["namespaceSelector"] = {
      {"matchExpressions",
       {{{"key", "kubernetes.io/metadata.name"}, {"operator", "In"}, {"values", {"team", "other"}}}}}};
  EXPECT_FALSE(imported({queue, queued(pod("p"), "a")}).pod("team/p").contains("held"));
  queue["spec"]["namespaceSelector"] = Json::object();
  EXPECT_FALSE(imported({queue, queued(pod("p"), "a")}).pod("team/p").contains("held"));
}

TEST(KubernetesKueue, AGroupIsAGangOfAllItsPods) {
  const auto made = imported({grouped("a", "g", "3"), grouped("b", "g", "3"), local_queue("user-queue", "team-a")});
  EXPECT_EQ(made.pod("team/a")["gang"], "team/g");
  EXPECT_EQ(made.gang("team/g")["minMember"], 3);
  EXPECT_EQ(made.gang("team/g")["queue"], "team-a");
  Json done = grouped("c", "g", "3");
  done["status"]["phase"] = "Succeeded";
  // Once one has run the group is admitted, and the others start one by one.
  EXPECT_EQ(imported({grouped("a", "g", "3"), grouped("b", "g", "3"), done}).gang("team/g")["minMember"], 1);
  EXPECT_FALSE(imported({grouped("a", "g")}).gang("team/g").contains("minMember"));
}

TEST(KubernetesKueue, GroupsOfOtherSystemsComeFirst) {
  const Json group = in_namespace(object("scheduling.x-k8s.io/v1alpha1", "PodGroup", "other", {{"minMember", 1}}));
  const auto made = imported({labelled(grouped("a", "g", "3"), "scheduling.x-k8s.io/pod-group", "other"), group});
  EXPECT_EQ(made.pod("team/a")["gang"], "team/other");
  EXPECT_EQ(made.gang("team/other")["queue"], "user-queue");
}

TEST(KubernetesKueue, ItsGateGates) {
  Json one = queued(pod("p"));
  one["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/admission"}}});
  EXPECT_EQ(imported({one}).pod("team/p")["status"], "gated");
}

TEST(KubernetesKueue, AStoppedQueueIsHeld) {
  Json stopped = local_queue("user-queue", "team-a");
  stopped["spec"]["stopPolicy"] = "Hold";
  EXPECT_EQ(imported({queued(pod("p")), stopped}).pod("team/p")["status"], "gated");
  EXPECT_EQ(imported({grouped("a", "g"), stopped}).pod("team/a")["status"], "gated");
  stopped["spec"]["stopPolicy"] = "None";
  EXPECT_FALSE(imported({queued(pod("p")), stopped}).pod("team/p").contains("status"));
}

TEST(KubernetesKueue, ATopologyIsThatOfTheGang) {
  Json one = annotated(grouped("a", "g"), "kueue.x-k8s.io/podset-required-topology", "cloud.com/rack");
  const auto made = imported({one, grouped("b", "g")});
  EXPECT_EQ(made.gang("team/g")["topology"], Json({{"required", "cloud.com/rack"}}));
  EXPECT_EQ(made.line["topologies"], Json::parse(R"([{"name":"cloud.com/rack","levels":["cloud.com/rack"]}])"));
  const Json levels = object("kueue.x-k8s.io/v1beta1", "Topology", "t",
                             {{"levels", {{{"nodeLabel", "cloud.com/block"}}, {{"nodeLabel", "cloud.com/rack"}}}}});
  Json other = annotated(grouped("a", "g"), "kueue.x-k8s.io/podset-preferred-topology", "cloud.com/block");
  const auto preferred = imported({levels, other});
  EXPECT_EQ(preferred.gang("team/g")["topology"], Json({{"name", "t"}, {"preferred", "cloud.com/block"}}));
  EXPECT_EQ(preferred.line["topologies"],
            Json::parse(R"([{"name":"t","levels":["cloud.com/block","cloud.com/rack"]}])"));
}

// Kueue looks for the level in the topology of whichever flavor it assigns.
TEST(KubernetesKueue, ALevelOfSeveralTopologiesMeansAllOfThem) {
  const auto topology = [](const char* name, const char* levels) {
    return object("kueue.x-k8s.io/v1beta2", "Topology", name, {{"levels", Json::parse(levels)}});
  };
  const Json a = topology("a", R"([{"nodeLabel":"block"},{"nodeLabel":"rack"}])");
  const Json b = topology("b", R"([{"nodeLabel":"rack"},{"nodeLabel":"host"}])");
  const auto asking_for = [&](const char* level) {
    const Json one = annotated(grouped("p", "g"), "kueue.x-k8s.io/podset-required-topology", level);
    return imported({a, b, one}).gang("team/g")["topology"];
  };
  EXPECT_EQ(asking_for("rack"), Json({{"required", "rack"}}));
  EXPECT_EQ(asking_for("host"), Json({{"name", "b"}, {"required", "host"}}));
}

TEST(KubernetesKueue, PodsOfAJobThatAsksForATopologyAreAGang) {
  const auto of_job = [](const char* name) {
    Json one = annotated(queued(pod(name)), "kueue.x-k8s.io/podset-required-topology", "rack");
    one["metadata"]["ownerReferences"] = Json::array({{{"kind", "Job"}, {"name", "train"}}});
    return one;
  };
  const auto made =
      imported({of_job("a"), of_job("b"), annotated(pod("alone"), "kueue.x-k8s.io/podset-required-topology", "rack")});
  EXPECT_EQ(made.pod("team/a")["gang"], "team/train");
  EXPECT_EQ(made.pod("team/b")["gang"], "team/train");
  EXPECT_FALSE(made.pod("team/alone").contains("gang"));
  Json sliced = annotated(of_job("a"), "kueue.x-k8s.io/podset-slice-required-topology", "host");
  EXPECT_EQ(imported({sliced}).pod("team/a")["status"], "gated");
}

TEST(KubernetesKueue, PodsHaveTheQueueOfTheJobThatMakesThem) {
  Json job = queued(in_namespace(object("batch/v1", "Job", "train", Json::object())));
  Json one = pod("train-x");
  one["metadata"]["ownerReferences"] = Json::array({{{"kind", "Job"}, {"name", "train"}}});
  EXPECT_EQ(imported({job, one}).gang("team/train")["queue"], "user-queue");
}

TEST(KubernetesKueue, WhatIsWrongIsRefusedByName) {
  EXPECT_EQ(refused({local_queue("q", "")}).message.find("LocalQueue team/q: "), 0U);
  EXPECT_EQ(
      refused({cluster_queue("c", {{{"name", "cpu"}, {"nominalQuota", "many"}}})}).message.find("ClusterQueue c: "),
      0U);
  EXPECT_EQ(refused({grouped("a", "g", "three")}).message.find("Pod team/a: "), 0U);
}

}  // namespace
}  // namespace muster::kubernetes
