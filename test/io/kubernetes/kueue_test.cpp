// Queues, pod groups and topologies of Kueue.
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
  const Json& queue = made.queue("team-a");
  EXPECT_EQ(queue["gpu"]["quota"], 8);
  EXPECT_EQ(queue["gpu"]["limit"], 8);
  EXPECT_EQ(queue["cpu"]["limit"], 9);
  EXPECT_EQ(queue["memory"]["quota"], std::int64_t{36} << 30);
}

TEST(KubernetesKueue, AQueueThatIsNotInTheListHasNoBounds) {
  const auto made = imported({queued(pod("p")), queued(pod("q"), "other"), local_queue("other", "gone"), pod("plain")});
  EXPECT_EQ(made.pod("team/p")["queue"], "user-queue");
  EXPECT_EQ(made.queue("user-queue"), Json({{"name", "user-queue"}}));
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

TEST(KubernetesKueue, AGroupIsAGangOfAllItsPods) {
  const auto made = imported({grouped("a", "g", "3"), grouped("b", "g", "3"), local_queue("user-queue", "team-a")});
  EXPECT_EQ(made.pod("team/a")["gang"], "team/g");
  EXPECT_EQ(made.gang("team/g")["minMember"], 3);
  EXPECT_EQ(made.gang("team/g")["queue"], "team-a");
  Json done = grouped("c", "g", "3");
  done["status"]["phase"] = "Succeeded";
  EXPECT_EQ(imported({grouped("a", "g", "3"), grouped("b", "g", "3"), done}).gang("team/g")["minMember"], 2);
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
  EXPECT_EQ(imported({job, one}).pod("team/train-x")["queue"], "user-queue");
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
