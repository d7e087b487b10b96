// Groups and queues of Volcano, as docs/kubernetes.md maps them.
#include <string>
#include <utility>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

constexpr const char* kVolcanoQueue = "scheduling.volcano.sh/queue-name";

TEST(KubernetesVolcano, GroupsSayTheirMinimumAndMore) {
  const ImportedObjects made = imported({volcano("g", Json::parse(R"({"minMember":2,"minResources":{"cpu":"2",
      "nvidia.com/gpu":"4","requests.cpu":"2","count/pods":"2"}})"))});
  EXPECT_EQ(made.gang("team/g")["minMember"], 2);
  EXPECT_EQ(made.gang("team/g")["minResources"], (Json{{"cpu", 2}, {"gpu", 4}}));
  EXPECT_EQ(made.gang("team/g")["queue"], "default");
  EXPECT_EQ(imported({volcano("g")}).gang("team/g")["minMember"], 0);
}

TEST(KubernetesVolcano, TasksAreSubgroups) {
  const Json spec = Json::parse(R"({"minMember":3,"minTaskMember":{"launcher":1,"worker":2}})");
  const ImportedObjects made =
      imported({volcano("g", spec), annotated(volcano_pod("p"), "volcano.sh/task-spec", "worker"),
                labelled(volcano_pod("q"), "volcano.sh/task-spec", "extra"), volcano_pod("r")});
  EXPECT_EQ(made.gang("team/g")["subgroups"],
            Json::parse(R"([{"name":"launcher","minMember":1},{"name":"worker","minMember":2},
                            {"name":"extra","minMember":0},{"name":"default","minMember":0}])"));
  EXPECT_EQ(made.pod("team/p")["subgroup"], "worker");
  EXPECT_EQ(made.pod("team/q")["subgroup"], "extra");
  EXPECT_FALSE(made.pod("team/p").contains("status"));
  const Json beyond = Json::parse(R"({"minMember":4,"minTaskMember":{"launcher":1,"worker":2}})");
  EXPECT_EQ(imported({volcano("g", beyond), volcano_pod("p")}).pod("team/p")["status"], "gated");
}

TEST(KubernetesVolcano, PreemptionIsForbiddenByTheGroupOrAPod) {
  const Json forbidding = annotated(volcano_pod("p"), "volcano.sh/preemptable", "false");
  const auto preemptible = [](const std::vector<Json>& objects) {
    return imported(objects).gang("team/g")["preemptible"];
  };
  EXPECT_EQ(preemptible({volcano("g"), volcano_pod("p")}), true);
  EXPECT_EQ(preemptible({volcano("g"), forbidding, volcano_pod("q")}), false);
  EXPECT_EQ(preemptible({annotated(volcano("g"), "volcano.sh/preemptable", "true"), forbidding}), false)
      << "Volcano asks each pod";
  EXPECT_EQ(preemptible({volcano("g"), labelled(volcano_pod("p"), "volcano.sh/preemptable", "0")}), false);
  EXPECT_EQ(preemptible({volcano("g"), annotated(volcano_pod("p"), "volcano.sh/preemptable", "?")}), false);
  EXPECT_EQ(preemptible({volcano("g"), annotated(volcano_pod("p"), "volcano.sh/preemptable", "True")}), true);
  EXPECT_EQ(preemptible({labelled(volcano("g"), "volcano.sh/preemptable", "false"), volcano_pod("p")}), false);
  EXPECT_EQ(preemptible({annotated(volcano("g"), "volcano.sh/preemptable", "false"), volcano_pod("q")}), false);
}

TEST(KubernetesVolcano, ABudgetOfAGroupProtectsIt) {
  const Json group = annotated(volcano("g"), "volcano.sh/jdb-max-unavailable", "1");
  EXPECT_EQ(imported({group, volcano_pod("p")}).gang("team/g")["preemptible"], false);
}

TEST(KubernetesVolcano, APodWithinItsCooldownProtectsItsGang) {
  const auto preemptible = [](const char* cooldown) {
    Json cooling = annotated(running(volcano_pod("p"), "n"), "volcano.sh/cooldown-time", cooldown);
    cooling["status"]["startTime"] = "2026-09-01T08:00:00Z";
    KubernetesOptions options;
    options.time = *parse_instant("2026-09-01T08:05:00Z");
    return imported({node("n"), volcano("g"), cooling}, options).gang("team/g")["preemptible"];
  };
  EXPECT_EQ(preemptible("600s"), false);
  EXPECT_EQ(preemptible("5m"), true);
  EXPECT_EQ(preemptible("soon"), true) << "which Volcano does not read either";
}

TEST(KubernetesVolcano, APolicyForNumaZonesIsHeld) {
  const auto status = [](const char* policy) {
    const Json asking = annotated(volcano_pod("p"), "volcano.sh/numa-topology-policy", policy);
    return imported({volcano("g"), asking}).pod("team/p").value("status", "");
  };
  EXPECT_EQ(status("single-numa-node"), "gated");
  EXPECT_EQ(status("restricted"), "gated");
  EXPECT_EQ(status("best-effort"), "");
}

TEST(KubernetesVolcano, PodsWithoutAPodGroupGetThatOfTheirController) {
  const auto of_set = [](const char* name) {
    Json made = asking(pod(name, {{"schedulerName", "volcano"}}), "nvidia.com/gpu", "2");
    made["metadata"]["ownerReferences"] =
        Json::array({{{"kind", "StatefulSet"}, {"name", "db"}, {"controller", true}}});
    return annotated(made, "scheduling.volcano.sh/queue-name", "q");
  };
  Json set = in_namespace(object("apps/v1", "StatefulSet", "db", {{"replicas", 2}}));
  const ImportedObjects one = imported({volcano_queue("q"), set, of_set("db-0"), of_set("db-1")});
  EXPECT_EQ(one.gang("team/db")["minMember"], 1);
  EXPECT_EQ(one.gang("team/db")["queue"], "q");
  set = annotated(set, "scheduling.volcano.sh/group-min-member", "2");
  const ImportedObjects both = imported({volcano_queue("q"), set, of_set("db-0"), of_set("db-1")});
  EXPECT_EQ(both.gang("team/db")["minMember"], 2);
  EXPECT_EQ(both.gang("team/db")["minResources"], (Json{{"gpu", 4}})) << both.line.dump();
  const Json bare = annotated(pod("p", {{"schedulerName", "volcano"}}), "scheduling.volcano.sh/queue-name", "q");
  EXPECT_EQ(imported({volcano_queue("q"), bare}).gang("team/p")["queue"], "q");
  const Json tied = annotated(bare, "volcano.sh/network-topology-highest-tier", "1");
  EXPECT_EQ(imported({volcano_queue("q"), tied}).pod("team/p")["status"], "gated");
}

TEST(KubernetesVolcano, HardNetworkTopologyAndSubgroupPoliciesAreHeld) {
  const auto status = [](const char* spec) {
    return imported({volcano("g", Json::parse(spec)), volcano_pod("p")}).pod("team/p").value("status", "");
  };
  EXPECT_EQ(status(R"({"networkTopology":{"mode":"hard"}})"), "gated");
  EXPECT_EQ(status(R"({"networkTopology":{}})"), "gated");
  EXPECT_EQ(status(R"({"networkTopology":{"mode":"soft"}})"), "");
  EXPECT_EQ(status(R"({"subGroupPolicy":[{"name":"a"}]})"), "gated");
}

TEST(KubernetesVolcano, QueuesHaveDeservedOrGuaranteedAndCapability) {
  const ImportedObjects made =
      imported({volcano_queue("root"), volcano_queue("a", Json::parse(R"({"parent":"root","weight":3,"priority":7,
        "deserved":{"cpu":"8","nvidia.com/gpu":"4","rdma/hca":"1"},"capability":{"memory":"1Gi"}})")),
                volcano_queue("b", Json::parse(R"({"parent":"a","guarantee":{"resource":{"memory":"2Gi"}}})")),
                volcano_queue("c")});
  EXPECT_EQ(made.find("queues", "root"), nullptr);
  EXPECT_EQ(made.queue("a"), Json::parse(R"({"name":"a","priority":7,"cpu":{"quota":8,"weight":3},
      "memory":{"quota":0,"limit":1073741824,"weight":3},"gpu":{"quota":4,"weight":3},"resources":{"rdma/hca":{"quota":1}}})"));
  EXPECT_EQ(made.queue("b"), Json::parse(R"({"name":"b","parent":"a","cpu":{"quota":0,"weight":1},
      "memory":{"quota":2147483648,"weight":1},"gpu":{"quota":0,"weight":1}})"));
  EXPECT_EQ(made.queue("c")["cpu"], (Json{{"quota", 0}, {"weight", 1}}));
}

TEST(KubernetesVolcano, OtherQueuesNeverGetWhatOneIsGuaranteed) {
  const Json firm =
      volcano_queue("firm", Json::parse(R"({"guarantee":{"resource":{"nvidia.com/gpu":"3","cpu":"1500m"}}})"));
  const Json capped = volcano_queue("capped", Json::parse(R"({"capability":{"nvidia.com/gpu":"2","cpu":"100"}})"));
  const Json below = volcano_queue("below", {{"parent", "capped"}});
  const ImportedObjects made = imported({node("n", 8), firm, capped, below});
  EXPECT_FALSE(made.queue("firm")["gpu"].contains("limit")) << made.line.dump();
  EXPECT_EQ(made.queue("capped")["gpu"]["limit"], 2);
  EXPECT_EQ(made.queue("capped")["cpu"]["limit"], 62.5) << "64 cores less 1.5";
  EXPECT_EQ(made.queue("below")["cpu"]["limit"], 62.5);
  EXPECT_FALSE(made.queue("capped")["memory"].contains("limit"));
}

TEST(KubernetesVolcano, QueuesBoundAnyResource) {
  const Json bounded =
      volcano_queue("bounded", Json::parse(R"({"capability":{"cpu":"0","memory":"0","nvidia.com/gpu":"0",
      "pods":"2","nvidia.com/mig-1g.10gb":3},"deserved":{"huawei.com/Ascend910":"8"}})"));
  const Json firm = volcano_queue("firm", Json::parse(R"({"guarantee":{"resource":{"amd.com/gpu":"3"}}})"));
  Json amd = node("n", 8);
  amd["status"]["allocatable"]["amd.com/gpu"] = "8";
  const ImportedObjects made = imported({amd, bounded, firm});
  EXPECT_EQ(made.queue("bounded")["resources"], Json::parse(R"({"amd.com/gpu":{"limit":5},
      "huawei.com/Ascend910":{"quota":8},"nvidia.com/mig-1g.10gb":{"limit":3},"pods":{"limit":2}})"));
  EXPECT_EQ(made.queue("bounded")["gpu"]["limit"], 0);
  EXPECT_FALSE(made.queue("bounded")["cpu"].contains("limit")) << "for Volcano no cpu is no bound";
  EXPECT_FALSE(made.queue("bounded")["memory"].contains("limit"));
  EXPECT_EQ(made.queue("firm")["resources"], Json::parse(R"({"amd.com/gpu":{"quota":3}})"));
}

TEST(KubernetesVolcano, TheNamespaceNamesTheQueueOfNewGroups) {
  const Json space = annotated(object("v1", "Namespace", "team", Json::object()), kVolcanoQueue, "q");
  const Json bare = pod("p", {{"schedulerName", "volcano"}});
  EXPECT_EQ(imported({volcano_queue("q"), space, bare}).gang("team/p")["queue"], "q");
  EXPECT_EQ(imported({volcano_queue("q"), volcano_queue("own"), space, annotated(bare, kVolcanoQueue, "own")})
                .gang("team/p")["queue"],
            "own");
  EXPECT_EQ(imported({volcano_queue("q"), space, volcano("g"), volcano_pod("p")}).gang("team/g")["queue"], "default")
      << "a group that exists has its queue";
}

TEST(KubernetesVolcano, NothingIsReclaimedFromAQueueThatForbidsIt) {
  const ImportedObjects made =
      imported({volcano_queue("a", {{"reclaimable", false}}), volcano_queue("b", {{"reclaimable", true}})});
  EXPECT_EQ(made.queue("a")["reclaimable"], false);
  EXPECT_FALSE(made.queue("b").contains("reclaimable"));
}

// What the pod of a group in this queue asks of nodes.
std::string nodes_asked(const std::vector<Json>& queues, const char* queue) {
  std::vector<Json> items = queues;
  items.push_back(volcano("g", {{"queue", queue}}));
  items.push_back(volcano_pod("p"));
  const Json made = imported(items).pod("team/p");
  if (made.value("status", "") == "gated") return "held";
  if (!made.contains("nodeAffinity")) return "";
  return made["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"].dump();
}

TEST(KubernetesVolcano, PodsGoToTheGroupsOfNodesOfTheirQueue) {
  const Json a = volcano_queue("a", Json::parse(R"({"affinity":{
      "nodeGroupAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["x"],
                           "preferredDuringSchedulingIgnoredDuringExecution":["y","z"]},
      "nodeGroupAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["z"]}}})"));
  const Json below = volcano_queue("below", {{"parent", "a"}}), other = volcano_queue("other");
  const Json none = volcano_queue("none", Json::parse(R"({"affinity":{
      "nodeGroupAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["z"]}}})"));
  const std::string groups =
      R"([{"matchExpressions":[{"key":"volcano.sh/nodegroup-name","operator":"In","values":["x","y"]}]}])";
  EXPECT_EQ(nodes_asked({a, below, other}, "a"), groups);
  EXPECT_EQ(nodes_asked({a, below, other}, "below"), groups);
  EXPECT_EQ(nodes_asked({a, below, other}, "other"),
            R"([{"matchExpressions":[{"key":"volcano.sh/nodegroup-name","operator":"DoesNotExist"}]}])");
  EXPECT_EQ(nodes_asked({other}, "other"), "") << "no queue names groups";
  EXPECT_EQ(nodes_asked({none}, "none"), "held");
  const Json limited =
      annotated(volcano_queue("limited"), "volcano.sh/nodegroup-resource-limits", R"({"x":{"cpu":"1"}})");
  EXPECT_EQ(nodes_asked({limited}, "limited"), "held");
}

TEST(KubernetesVolcano, AQueueThatIsNotOpenHoldsItsPods) {
  for (const auto& [state, status] : {std::pair("Closed", "gated"), std::pair("Open", ""), std::pair("", "")}) {
    Json queue = volcano_queue("q");
    queue["status"]["state"] = state;
    EXPECT_EQ(imported({queue, volcano("g", {{"queue", "q"}}), volcano_pod("p")}).pod("team/p").value("status", ""),
              status);
  }
}

}  // namespace
}  // namespace muster::kubernetes
