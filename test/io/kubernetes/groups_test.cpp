// PodGroups of all systems, queues, priority classes and topologies, as docs/kubernetes.md maps them.
#include <string>
#include <utility>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json group(const char* api_version, const char* name, Json spec = Json::object()) {
  return in_namespace(object(api_version, "PodGroup", name, std::move(spec)));
}
Json kai(const char* name, Json spec = Json::object()) { return group("scheduling.run.ai/v2alpha2", name, spec); }
Json x_k8s(const char* name, Json spec = Json::object()) { return group("scheduling.x-k8s.io/v1alpha1", name, spec); }
Json sigs(const char* name, Json spec = Json::object()) { return group("scheduling.sigs.k8s.io/v1alpha1", name, spec); }
Json gang_policy(int count) { return {{"schedulingPolicy", {{"gang", {{"minCount", count}}}}}}; }
Json beta(const char* name, Json spec = gang_policy(2)) { return group("scheduling.k8s.io/v1beta1", name, spec); }
Json priority_class(const char* name, int value) {
  Json made = object("scheduling.k8s.io/v1", "PriorityClass", name, nullptr);
  made["value"] = value;
  return made;
}
Json kai_queue(const char* name, Json spec = Json::object()) {
  return object("scheduling.run.ai/v2", "Queue", name, std::move(spec));
}
Json kai_pod(const char* name, const char* of = "g") { return annotated(pod(name), "pod-group-name", of); }
Json beta_pod(const char* name, Json spec = Json::object()) {
  spec["schedulingGroup"]["podGroupName"] = "g";
  return pod(name, spec);
}
Json workload_pod(const char* name, const char* replica = nullptr) {
  Json made = pod(name, {{"workloadRef", {{"name", "w"}, {"podGroup", "g"}}}});
  if (replica != nullptr) made["spec"]["workloadRef"]["podGroupReplicaKey"] = replica;
  return made;
}
Json workload(Json policy) {
  return in_namespace(
      object("scheduling.k8s.io/v1alpha1", "Workload", "w", {{"podGroups", {{{"name", "g"}, {"policy", policy}}}}}));
}

TEST(KubernetesGangs, AreFoundByTheFirstReferenceThatAPodHas) {
  Json all = pod(
      "p", {{"schedulingGroup", {{"podGroupName", "one"}}}, {"workloadRef", {{"name", "two"}, {"podGroup", "main"}}}});
  all = annotated(labelled(all, "kai.scheduler/podgroup", "four"), "pod-group-name", "three");
  all = annotated(all, "scheduling.k8s.io/group-name", "five");
  all = annotated(all, "scheduling.volcano.sh/group-name", "six");
  all = labelled(all, "scheduling.x-k8s.io/pod-group", "seven");
  all = labelled(all, "pod-group.scheduling.sigs.k8s.io/name", "eight");
  const auto gang_of = [&] { return imported({x_k8s("seven"), all}).pod("team/p").value("gang", ""); };
  EXPECT_EQ(gang_of(), "team/one");
  all["spec"].erase("schedulingGroup");
  EXPECT_EQ(gang_of(), "team/two/main");
  all["spec"].erase("workloadRef");
  EXPECT_EQ(gang_of(), "team/three");
  all["metadata"]["annotations"].erase("pod-group-name");
  EXPECT_EQ(gang_of(), "team/four");
  all["metadata"]["labels"].erase("kai.scheduler/podgroup");
  EXPECT_EQ(gang_of(), "team/five");
  all["metadata"]["annotations"].erase("scheduling.k8s.io/group-name");
  EXPECT_EQ(gang_of(), "team/six");
  all["metadata"]["annotations"].erase("scheduling.volcano.sh/group-name");
  EXPECT_EQ(gang_of(), "team/seven");
  all["metadata"]["labels"].erase("scheduling.x-k8s.io/pod-group");
  EXPECT_EQ(gang_of(), "team/eight");
  all["metadata"]["labels"].erase("pod-group.scheduling.sigs.k8s.io/name");
  EXPECT_EQ(gang_of(), "");
}

TEST(KubernetesGangs, ThatDoNotExistHoldTheirPods) {
  const Json beside = kai("other");
  for (const Json& made_of : {beta_pod("p"), workload_pod("p"), kai_pod("p"), volcano_pod("p")}) {
    const ImportedObjects made = imported({beside, made_of});
    EXPECT_EQ(made.pod("team/p")["status"], "gated") << made_of.dump();
    EXPECT_TRUE(made.says("is not in the input; add "));
  }
  const auto held = [&](const Json& made_of) { return imported({beside, made_of}).pod("team/p").value("held", ""); };
  EXPECT_NE(held(beta_pod("p")).find("add podgroups.scheduling.k8s.io"), std::string::npos);
  EXPECT_NE(held(workload_pod("p")).find("add workloads.scheduling.k8s.io"), std::string::npos);
  EXPECT_NE(held(kai_pod("p")).find("add podgroups.scheduling.run.ai"), std::string::npos);
  EXPECT_NE(held(volcano_pod("p")).find("add podgroups.scheduling.volcano.sh"), std::string::npos);
  EXPECT_EQ(imported({workload_pod("p", "r1")}).pod("team/p")["gang"], "team/w/g/r1");
  const Json made = imported({labelled(pod("p"), "scheduling.x-k8s.io/pod-group", "g")}).pod("team/p");
  EXPECT_FALSE(made.contains("gang")) << "but not with Coscheduling";
  EXPECT_FALSE(made.contains("status"));
  EXPECT_TRUE(imported({labelled(pod("p"), "scheduling.x-k8s.io/pod-group", "g")})
                  .says("add podgroups.scheduling.x-k8s.io to the kinds of kubectl get"));
}

TEST(KubernetesGangs, AreLookedForInTheNamespaceOfThePodAndAmongItsSystem) {
  Json elsewhere = kai("g");
  elsewhere["metadata"]["namespace"] = "other";
  EXPECT_EQ(imported({elsewhere, kai_pod("p")}).pod("team/p")["status"], "gated");
  EXPECT_EQ(imported({volcano("g"), kai_pod("p")}).pod("team/p")["status"], "gated");
  EXPECT_FALSE(imported({kai("g"), kai_pod("p")}).pod("team/p").contains("status"));
}

TEST(KubernetesGangs, OfTwoSystemsWithOneNameGetTheirApiGroup) {
  const ImportedObjects made = imported({volcano("g"), sigs("g"), kai("g"), volcano_pod("v"), kai_pod("k")});
  EXPECT_EQ(made.pod("team/k")["gang"], "team/g");
  EXPECT_EQ(made.pod("team/v")["gang"], "team/g@scheduling.volcano.sh");
  EXPECT_NE(made.find("gangs", "team/g@scheduling.sigs.k8s.io"), nullptr);
}

TEST(KubernetesGangs, WithoutPodsAreThere) {
  const ImportedObjects made = imported({kai("k"), volcano("v"), x_k8s("x"), sigs("s"), beta("b")});
  EXPECT_EQ(made.line["gangs"].size(), 5U);
}

TEST(KubernetesGangs, NamedAsAPodWithoutAGangLeaveItAnother) {
  const ImportedObjects made = imported({kai("p"), kai_pod("k", "p"), pod("p", {{"priority", 3}})});
  EXPECT_EQ(made.pod("team/k")["gang"], "team/p");
  EXPECT_EQ(made.pod("team/p")["gang"], "team/p@pod");
  EXPECT_EQ(made.gang("team/p@pod")["priority"], 3);
}

TEST(KubernetesPriorities, AreOfTheClassTheDefaultOrTheSystem) {
  const auto of_kai = [](std::vector<Json> classes, const char* name) {
    classes.push_back(kai("g", {{"priorityClassName", name}}));
    return imported(classes).gang("team/g")["priority"];
  };
  EXPECT_EQ(of_kai({priority_class("train", 60)}, "train"), 60);
  EXPECT_EQ(of_kai({priority_class("train", 60)}, "Train"), 50) << "with case";
  EXPECT_EQ(of_kai({}, "train"), 50);
  EXPECT_EQ(of_kai({}, "system-node-critical"), 2'000'001'000);
  EXPECT_EQ(of_kai({}, "system-cluster-critical"), 2'000'000'000);
  Json by_default = priority_class("usual", 11);
  by_default["globalDefault"] = true;
  EXPECT_EQ(of_kai({by_default}, "train"), 11);
  EXPECT_EQ(imported({by_default, kai("g")}).gang("team/g")["priority"], 11);
  EXPECT_EQ(imported({kai("g")}).gang("team/g")["priority"], 50);
  EXPECT_EQ(imported({volcano("g", {{"priorityClassName", "x"}})}).gang("team/g")["priority"], 0);
  Json polite = priority_class("polite", 5);
  polite["preemptionPolicy"] = "Never";
  EXPECT_EQ(imported({polite}).at("priorityClasses", "polite"),
            (Json{{"name", "polite"}, {"value", 5}, {"preemptionPolicy", "Never"}}));
}

TEST(KubernetesKai, GroupsSayTheirMinimumAndMore) {
  Json made_of = kai("g", Json::parse(R"({"minMember":3,"queue":"q","preemptibility":"non-preemptible",
      "stalenessGracePeriod":"5m0s","markUnschedulable":true})"));
  made_of["metadata"]["creationTimestamp"] = "2026-03-01T09:00:00Z";
  made_of = annotated(made_of, "kai.scheduler/stale-podgroup-timestamp", "2026-03-01T09:30:00Z");
  EXPECT_EQ(imported({made_of}).gang("team/g"),
            Json::parse(R"({"name":"team/g","queue":"q","priority":50,"preemptible":false,"minMember":3,
                "created":1772355600,"staleSince":1772357400,"stalenessGracePeriod":300})"));
  const auto one = [](Json spec) { return imported({kai("g", std::move(spec))}).gang("team/g"); };
  EXPECT_EQ(one(Json::object())["minMember"], 1);
  EXPECT_EQ(one({{"stalenessGracePeriod", "-1s"}})["stalenessGracePeriod"], "never");
  EXPECT_EQ(one(Json::object())["preemptible"], true);
  const Json build = kai("g", {{"priorityClassName", "build"}});
  EXPECT_EQ(imported({priority_class("build", 100), build}).gang("team/g")["preemptible"], false);
  EXPECT_EQ(imported({priority_class("build", 99), build}).gang("team/g")["preemptible"], true);
}

TEST(KubernetesKai, QueuesOfGroupsAreToldByLabelsToo) {
  const auto queue = [](const Json& made_of, const Json& of_pod) {
    return imported({made_of, of_pod}).gang("team/g")["queue"];
  };
  const Json by_pod = labelled(kai_pod("p"), "kai.scheduler/queue", "pods");
  const Json by_group = labelled(kai("g"), "kai.scheduler/queue", "label");
  EXPECT_EQ(queue(kai("g", {{"queue", "spec"}}), by_pod), "spec");
  EXPECT_EQ(queue(by_group, by_pod), "label");
  EXPECT_EQ(queue(labelled(kai("g"), "runai/queue", "old"), by_pod), "pods");
  EXPECT_EQ(queue(labelled(kai("g"), "runai/queue", "old"), kai_pod("p")), "old");
  EXPECT_EQ(queue(kai("g"), labelled(kai_pod("p"), "runai/queue", "old")), "old");
  EXPECT_EQ(queue(kai("g"), kai_pod("p")), "default");
}

TEST(KubernetesKai, ASemiPreemptibleGroupGivesItsSurplus) {
  const auto gang = [](const char* word, const KubernetesOptions& options = {}) {
    const std::vector<Json> items = {kai("g", {{"preemptibility", word}, {"minMember", 2}}), kai_pod("p")};
    return imported(items, options);
  };
  EXPECT_EQ(gang("semi-preemptible").gang("team/g")["disruption"], "surplus");
  EXPECT_EQ(gang("semi-preemptible").gang("team/g")["preemptible"], true);
  EXPECT_FALSE(gang("preemptible").gang("team/g").contains("disruption"));
  KubernetesOptions lenient;
  lenient.strict = false;
  const ImportedObjects unknown = gang("sometimes", lenient);
  EXPECT_EQ(unknown.gang("team/g")["preemptible"], false);
  EXPECT_TRUE(unknown.says("sometimes"));
}

Json shard(const char* name, Json spec = Json::object()) {
  return object("kai.scheduler/v1", "SchedulingShard", name, std::move(spec));
}
Json in_pool(Json made, const char* pool) { return labelled(std::move(made), "kai.scheduler/node-pool", pool); }

// How a pod of a group with this pool stands: what it asks of nodes, or why it is held.
std::string placed_in(std::vector<Json> items, const Json& of_group) {
  items.push_back(of_group);
  items.push_back(kai_pod("p"));
  const Json made = imported(items).pod("team/p");
  if (made.value("status", "") == "gated" || made.contains("held")) return made.value("held", "held");
  if (!made.contains("nodeAffinity")) return "";
  return made["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]
             ["matchExpressions"][0]
                 .dump();
}

TEST(KubernetesKai, PodsStayInTheNodePoolOfTheirGroup) {
  const Json open = node("open"), pool = in_pool(node("pool"), "b200");
  const Json queue = kai_queue("q"), of_pool = in_pool(kai_queue("qp"), "b200");
  const std::vector<Json> all = {
      open, pool, queue, of_pool, shard("default"), shard("b", {{"partitionLabelValue", "b200"}})};
  EXPECT_EQ(placed_in(all, in_pool(kai("g", {{"queue", "qp"}}), "b200")),
            R"({"key":"kai.scheduler/node-pool","operator":"In","values":["b200"]})");
  EXPECT_EQ(placed_in(all, kai("g", {{"queue", "q"}})),
            R"({"key":"kai.scheduler/node-pool","operator":"DoesNotExist"})");
  EXPECT_EQ(placed_in({open, queue, shard("default")}, kai("g", {{"queue", "q"}})), "") << "no node has a pool";
  EXPECT_EQ(placed_in({open, pool, queue}, kai("g", {{"queue", "q"}})),
            R"({"key":"kai.scheduler/node-pool","operator":"DoesNotExist"})")
      << "also if the list has no shards";
}

TEST(KubernetesKai, AGroupThatNoSchedulerLooksAfterIsHeld) {
  const Json queue = kai_queue("q"), of_pool = in_pool(kai_queue("qp"), "b200");
  const std::vector<Json> all = {node("n"), queue, of_pool, shard("b", {{"partitionLabelValue", "b200"}})};
  EXPECT_NE(placed_in(all, kai("g", {{"queue", "q"}})).find("no SchedulingShard"), std::string::npos);
  EXPECT_NE(placed_in(all, in_pool(kai("g", {{"queue", "q"}}), "b200")).find("its queue"), std::string::npos);
  EXPECT_NE(placed_in(all, in_pool(kai("g", {{"queue", "qp"}}), "gone")).find("\"gone\""), std::string::npos);
}

TEST(KubernetesKai, AShardHasTheMinimumRunTimesOfItsQueues) {
  const Json runtimes = Json::parse(R"({"minRuntime":{"preemptMinRuntime":"10m","reclaimMinRuntime":"5m"}})");
  const ImportedObjects made =
      imported({shard("default", runtimes), kai_queue("a"), kai_queue("b", {{"parentQueue", "a"}}),
                kai_queue("c", {{"preemptMinRuntime", "1s"}}), in_pool(kai_queue("d"), "x")});
  EXPECT_EQ(made.queue("a")["preemptMinRuntime"], 600);
  EXPECT_EQ(made.queue("a")["reclaimMinRuntime"], 300);
  EXPECT_FALSE(made.queue("b").contains("preemptMinRuntime")) << "it inherits";
  EXPECT_EQ(made.queue("c")["preemptMinRuntime"], 1);
  EXPECT_FALSE(made.queue("d").contains("preemptMinRuntime")) << "of another pool";
}

TEST(KubernetesKai, TheNodePoolJoinsWhatThePodAsksOfNodes) {
  Json asking_nodes = kai_pod("p");
  asking_nodes["spec"]["affinity"]["nodeAffinity"] = Json::parse(R"({
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"a","operator":"Exists"}]},{"matchExpressions":[{"key":"b","operator":"Exists"}]}]},
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":
        {"matchExpressions":[{"key":"c","operator":"Exists"}]}}]})");
  const Json made =
      imported({in_pool(node("n"), "x"), in_pool(kai("g"), "x"), asking_nodes}).pod("team/p")["nodeAffinity"];
  const Json terms = made["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  ASSERT_EQ(terms.size(), 2U) << made.dump();
  for (const Json& term : terms) EXPECT_EQ(term["matchExpressions"].size(), 2U) << term.dump();
  EXPECT_EQ(made["preferredDuringSchedulingIgnoredDuringExecution"].size(), 1U);
}

TEST(KubernetesKai, SubgroupsNest) {
  const Json spec = Json::parse(R"({"minMember":9,"minSubGroup":1,"subGroups":[
      {"name":"a","minSubGroup":1,"minMember":4},{"name":"a1","parent":"a","minMember":2},{"name":"a2","parent":"a"},
      {"name":"b","minMember":1}]})");
  const Json one = labelled(kai_pod("p"), "kai.scheduler/subgroup-name", "a1");
  const ImportedObjects made = imported({kai("g", spec), one});
  EXPECT_EQ(made.pod("team/p")["subgroup"], "a1");
  EXPECT_FALSE(made.gang("team/g").contains("minMember"));
  EXPECT_EQ(made.gang("team/g")["minSubgroups"], 1);
  EXPECT_EQ(made.gang("team/g")["subgroups"], Json::parse(R"([{"name":"a","minSubgroups":1},
      {"name":"a1","parent":"a","minMember":2},{"name":"a2","parent":"a","minMember":1},{"name":"b","minMember":1}])"));
  for (const Json& lost : {kai_pod("p"), labelled(kai_pod("p"), "kai.scheduler/subgroup-name", "a"),
                           labelled(kai_pod("p"), "kai.scheduler/subgroup-name", "none")}) {
    const ImportedObjects held = imported({kai("g", spec), lost, kai_pod("q")});
    EXPECT_EQ(held.pod("team/p")["status"], "gated");
    EXPECT_EQ(held.pod("team/q")["status"], "gated") << "the whole gang";
    EXPECT_EQ(held.gang("team/g")["minSubgroups"], 2) << "what is added is always there";
  }
}

TEST(KubernetesKai, TopologyLevelsAreLabelsOrAliases) {
  const Json topology =
      object("kai.scheduler/v1alpha1", "Topology", "dc",
             Json::parse(R"({"levels":[{"nodeLabel":"zone"},{"nodeLabel":"x/rack","alias":"rack"}]})"));
  const auto constrained = [](const char* level) {
    return kai("g", {{"topologyConstraint",
                      {{"topology", "dc"}, {"requiredTopologyLevel", level}, {"preferredTopologyLevel", "zone"}}}});
  };
  const ImportedObjects made = imported({topology, constrained("rack")});
  EXPECT_EQ(made.line["topologies"], Json::parse(R"([{"name":"dc","levels":["zone","x/rack"]}])"));
  EXPECT_EQ(made.gang("team/g")["topology"], (Json{{"name", "dc"}, {"required", "x/rack"}, {"preferred", "zone"}}));
  const ImportedObjects unknown = imported({topology, constrained("row"), kai_pod("p")});
  EXPECT_EQ(unknown.pod("team/p")["status"], "gated");
  EXPECT_TRUE(unknown.says("a topology level that its Topology does not have"));
}

Json topology_of(const char* name, const char* levels, const char* version = "kai.scheduler/v1alpha1") {
  return object(version, "Topology", name, {{"levels", Json::parse(levels)}});
}

Json constraint(const char* topology, const char* required) {
  return {{"topology", topology}, {"requiredTopologyLevel", required}};
}

TEST(KubernetesKai, EachSubgroupFindsItsLevelInTheTopologyThatItNames) {
  const Json group =
      kai("g", {{"subGroups",
                 {{{"name", "a"}, {"minMember", 1}, {"topologyConstraint", constraint("net", "rack")}},
                  {{"name", "b"}, {"minMember", 1}, {"topologyConstraint", constraint("power", "rack")}}}}});
  const auto made = imported({topology_of("net", R"([{"nodeLabel":"rack"}])"),
                              topology_of("power", R"([{"nodeLabel":"zone"},{"nodeLabel":"rack"}])"), group});
  EXPECT_EQ(made.line["topologies"],
            Json::parse(R"([{"name":"net","levels":["rack"]},{"name":"power","levels":["zone","rack"]}])"));
  const Json subgroups = made.gang("team/g")["subgroups"];
  EXPECT_EQ(subgroups[0]["topology"], (Json{{"name", "net"}, {"required", "rack"}}));
  EXPECT_EQ(subgroups[1]["topology"], (Json{{"name", "power"}, {"required", "rack"}}));
}

TEST(KubernetesKai, AGroupOfATopologyThatIsNotThereIsHeld) {
  const Json group = kai("g", {{"topologyConstraint", constraint("gone", "rack")}});
  const auto made = imported({topology_of("net", R"([{"nodeLabel":"rack"}])"), group, kai_pod("p")});
  EXPECT_EQ(made.pod("team/p")["status"], "gated");
  EXPECT_TRUE(made.says("its group names a Topology that is not in the input"));
  // Topologies of Kueue are none of KAI.
  const auto of_kueue =
      imported({topology_of("gone", R"([{"nodeLabel":"rack"}])", "kueue.x-k8s.io/v1beta1"), group, kai_pod("p")});
  EXPECT_EQ(of_kueue.pod("team/p")["status"], "gated");
}

TEST(KubernetesTopology, OfTheSameLevelsAreWrittenOnce) {
  const char* const racks = R"([{"nodeLabel":"zone"},{"nodeLabel":"rack"}])";
  const Json first = kai("g", {{"topologyConstraint", constraint("b", "rack")}});
  const auto made = imported({topology_of("a", racks), topology_of("b", racks), first});
  EXPECT_EQ(made.line["topologies"], Json::parse(R"([{"name":"a","levels":["zone","rack"]}])"));
  EXPECT_EQ(made.gang("team/g")["topology"]["name"], "a");
}

TEST(KubernetesTopology, OfTwoSystemsWithOneNameAreTold) {
  const auto made = imported({topology_of("dc", R"([{"nodeLabel":"rack"}])"),
                              topology_of("dc", R"([{"nodeLabel":"zone"}])", "kueue.x-k8s.io/v1beta1")});
  EXPECT_EQ(made.line["topologies"],
            Json::parse(R"([{"name":"dc","levels":["rack"]},{"name":"dc@kueue.x-k8s.io","levels":["zone"]}])"));
}

// KAI evicts nothing for a group before it has waited so long, since it was made or last evicted.
TEST(KubernetesKai, AGroupWithinItsPreemptionDelayPreemptsNever) {
  Json group = in_namespace(object("scheduling.run.ai/v2alpha2", "PodGroup", "g",
                                   {{"minMember", 1}, {"queue", "q"}, {"preemptionDelay", "10m"}}));
  group["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z";
  const Json queue = object("scheduling.run.ai/v2", "Queue", "q", Json::object());
  constexpr std::int64_t kMidnight = 1'767'225'600;
  const auto policy_at = [&](std::int64_t seconds) {
    KubernetesOptions options;
    options.time = (kMidnight + seconds) * kNanosecondsPerSecond;
    const Json gang = imported({group, queue}, options).gang("team/g");
    return gang.value("preemptionPolicy", std::string("none"));
  };
  EXPECT_EQ(policy_at(599), "Never");
  EXPECT_EQ(policy_at(600), "none");
  group = annotated(group, "kai.scheduler/last-eviction-timestamp", "2026-01-01T01:00:00Z");
  EXPECT_EQ(policy_at(3600 + 300), "Never");
  EXPECT_EQ(policy_at(3600 + 600), "none");
}

// kube-scheduler looks at the values of this key alone.
TEST(KubernetesTopology, AKeyOfTheWorkloadApiIsATopologyByItself) {
  Json spec = gang_policy(2);
  spec["schedulingConstraints"]["topology"] = {{{"key", "rack"}}};
  const auto made = imported(
      {beta("g", spec), beta("h", spec), topology_of("rack", R"([{"nodeLabel":"zone"},{"nodeLabel":"rack"}])")});
  EXPECT_EQ(made.line["topologies"],
            Json::parse(R"([{"name":"rack","levels":["zone","rack"]},{"name":"rack@label","levels":["rack"]}])"));
  EXPECT_EQ(made.gang("team/g")["topology"], (Json{{"name", "rack@label"}, {"required", "rack"}}));
  EXPECT_EQ(made.gang("team/h")["topology"], made.gang("team/g")["topology"]);
}

TEST(KubernetesKai, QueuesHaveTheirOwnUnitsAndDefaults) {
  const ImportedObjects made =
      imported({kai_queue("top"), kai_queue("q", Json::parse(R"({"parentQueue":"top","priority":200,"displayName":"x",
        "preemptMinRuntime":"1m0s","reclaimMinRuntime":"30s","resources":{
        "gpu":{"quota":1.5,"limit":-1,"overQuotaWeight":2},"cpu":{"quota":2500,"limit":4000},"memory":{"quota":-1,"limit":5}}})"))});
  EXPECT_EQ(made.queue("q"),
            Json::parse(R"({"name":"q","parent":"top","priority":200,"cpu":{"quota":2.5,"limit":4,"weight":0},
              "gpu":{"quota":1.5,"weight":2},"memory":{"limit":5000000,"weight":0},
              "preemptMinRuntime":60,"reclaimMinRuntime":30})"));
  const Json nothing = {{"quota", 0}, {"limit", 0}, {"weight", 0}};
  EXPECT_EQ(made.queue("top"), (Json{{"name", "top"}, {"cpu", nothing}, {"gpu", nothing}, {"memory", nothing}}));
}

TEST(KubernetesKai, SharersOfOneGroupShareADevice) {
  const auto sharer = [](const char* name, const char* of) {
    return labelled(running(annotated(pod(name), "gpu-fraction", "0.5"), "n"), "runai-gpu-group", of);
  };
  Json two = running(annotated(annotated(pod("two"), "gpu-fraction", "0.5"), "gpu-fraction-num-devices", "2"), "n");
  two = labelled(labelled(two, "runai-gpu-group/a", "a"), "runai-gpu-group/c", "c");
  const Json whole = running(asking(pod("whole"), "nvidia.com/gpu", "2"), "n");
  Json reservation = running(asking(pod("reservation"), "nvidia.com/gpu", "1"), "n");
  reservation["metadata"]["namespace"] = "kai-resource-reservation";
  reservation = labelled(reservation, "app", "kai-resource-reservation");
  const ImportedObjects made = imported({node("n"), sharer("s1", "b"), two, sharer("s2", "a"), whole, reservation});
  EXPECT_EQ(made.pod("team/whole")["gpus"], (Json{0, 1}));
  EXPECT_EQ(made.pod("team/s2")["gpus"], (Json{2}));
  EXPECT_EQ(made.pod("team/s1")["gpus"], (Json{3}));
  EXPECT_EQ(made.pod("team/two")["gpus"], (Json{2, 4}));
  const Json holder = made.pod("kai-resource-reservation/reservation");
  EXPECT_FALSE(holder.contains("gpu"));
  EXPECT_EQ(holder["preemptible"], false);
}

TEST(KubernetesKai, BoundPodsCountAsRunning) {
  const auto request = [](const char* phase) {
    Json made = in_namespace(object("scheduling.run.ai/v1alpha2", "BindRequest", "r",
                                    {{"podName", "p"}, {"selectedNode", "n"}, {"selectedGPUGroups", {"b"}}}));
    made["status"]["phase"] = phase;
    return made;
  };
  const Json waiting = annotated(pod("p"), "gpu-fraction", "0.5");
  const ImportedObjects made = imported({node("n"), waiting, request("Pending")});
  EXPECT_EQ(made.pod("team/p")["node"], "n");
  EXPECT_EQ(made.pod("team/p")["gpus"], (Json{0}));
  EXPECT_FALSE(imported({node("n"), waiting, request("Failed")}).pod("team/p").contains("node"));
}

TEST(KubernetesWorkload, GroupsOf135AreNamedWithinTheirWorkload) {
  Json late = workload_pod("p", "r1"), early = workload_pod("q", "r1");
  late["metadata"]["creationTimestamp"] = "2026-03-01T10:00:00Z";
  early["metadata"]["creationTimestamp"] = "2026-03-01T09:00:00Z";
  const Json policy = {{"gang", {{"minCount", 2}, {"timeout", 120}}}};
  const ImportedObjects made = imported({workload(policy), late, early, workload_pod("r", "r2")});
  EXPECT_EQ(made.gang("team/w/g/r1"),
            Json::parse(R"({"name":"team/w/g/r1","queue":"default","priority":0,"preemptible":true,"minMember":2,
                            "timeout":120,"created":1772355600})"));
  EXPECT_EQ(made.gang("team/w/g/r2")["minMember"], 2);
  EXPECT_EQ(made.find("gangs", "team/w/g"), nullptr) << "each key is a gang";
  EXPECT_NE(imported({workload(policy)}).find("gangs", "team/w/g"), nullptr);
  EXPECT_FALSE(imported({workload({{"basic", Json::object()}}), workload_pod("p")}).pod("team/p").contains("gang"));
}

TEST(KubernetesWorkload, GroupsOf136And137SpeakForThemselvesOrTheirPods) {
  const Json high = beta_pod("a", {{"priority", 9}, {"preemptionPolicy", "Never"}});
  const Json low = beta_pod("b", {{"priority", 4}, {"preemptionPolicy", "Never"}});
  EXPECT_EQ(imported({beta("g"), high, low}).gang("team/g")["priority"], 9);
  EXPECT_EQ(imported({beta("g"), high, low}).gang("team/g")["preemptionPolicy"], "Never");
  EXPECT_FALSE(imported({beta("g"), high, beta_pod("b")}).gang("team/g").contains("preemptionPolicy"));
  Json spec = gang_policy(2);
  spec["priorityClassName"] = "train";
  EXPECT_EQ(imported({priority_class("train", 60), beta("g", spec), high}).gang("team/g")["priority"], 60);
  spec["priority"] = 500;
  spec["preemptionPolicy"] = "PreemptLowerPriority";
  EXPECT_EQ(imported({beta("g", spec), high}).gang("team/g")["priority"], 500);
  EXPECT_FALSE(imported({beta("g", spec), high}).gang("team/g").contains("preemptionPolicy"));
  for (const char* version : {"scheduling.k8s.io/v1alpha2", "scheduling.k8s.io/v1alpha3"}) {
    EXPECT_EQ(imported({group(version, "g", gang_policy(3))}).gang("team/g")["minMember"], 3) << version;
  }
  EXPECT_TRUE(imported({group("scheduling.k8s.io/v7", "g")}).says("PodGroup is ignored"));
}

TEST(KubernetesWorkload, TheDisruptionModeSaysHowPodsLeave) {
  const auto gang = [](const Json& mode, const char* version = "scheduling.k8s.io/v1beta1") {
    Json spec = gang_policy(1);
    spec["disruptionMode"] = mode;
    return imported({group(version, "g", spec), beta_pod("p")}).gang("team/g");
  };
  EXPECT_EQ(gang({{"all", Json::object()}})["disruption"], "whole");
  EXPECT_FALSE(gang({{"single", Json::object()}}).contains("disruption"));
  EXPECT_EQ(gang("PodGroup", "scheduling.k8s.io/v1alpha2")["disruption"], "whole");
  EXPECT_FALSE(gang("Pod", "scheduling.k8s.io/v1alpha2").contains("disruption"));
  EXPECT_EQ(gang({{"none", Json::object()}})["preemptible"], false) << "what is unknown protects";
  Json basic = {{"schedulingPolicy", {{"basic", Json::object()}}}, {"disruptionMode", {{"all", Json::object()}}}};
  const Json together = imported({beta("g", basic), beta_pod("p")}).gang("team/g");
  EXPECT_EQ(together["disruption"], "whole");
  EXPECT_EQ(together["minMember"], 0) << "its pods start one by one";
}

TEST(KubernetesWorkload, WhatCannotBeToldIsHeld) {
  Json tied = {{"schedulingPolicy", {{"basic", Json::object()}}}};
  EXPECT_FALSE(imported({beta("g", tied), beta_pod("p")}).pod("team/p").contains("status"));
  tied["schedulingConstraints"]["topology"] = {{{"key", "zone"}}};
  EXPECT_EQ(imported({beta("g", tied), beta_pod("p")}).pod("team/p")["status"], "gated");
  EXPECT_FALSE(imported({beta("g", tied), beta_pod("p")}).pod("team/p").contains("gang"));
  for (const char* key : {"parentCompositePodGroupName", "resourceClaims"}) {
    Json spec = gang_policy(2);
    spec[key] = *key == 'p' ? Json("other") : Json::parse(R"([{"name":"c"}])");
    EXPECT_EQ(imported({beta("g", spec), beta_pod("p")}).pod("team/p")["status"], "gated") << key;
  }
}

TEST(KubernetesGangs, AreNotPreemptibleWithThePriorityOfTheSystemOrADaemon) {
  EXPECT_EQ(imported({beta("g"), beta_pod("a", {{"priority", 2'000'000'000}})}).gang("team/g")["preemptible"], false);
  EXPECT_EQ(imported({beta("g"), beta_pod("a", {{"priority", 1'000'000'000}})}).gang("team/g")["preemptible"], true);
  Json daemon = beta_pod("a");
  daemon["metadata"]["ownerReferences"] = {{{"kind", "DaemonSet"}}};
  EXPECT_EQ(imported({beta("g"), daemon}).gang("team/g")["preemptible"], false);
}

TEST(KubernetesCoscheduling, GroupsOfBothKindsAreAlikeButForTheClass) {
  const Json spec = Json::parse(R"({"minMember":4,"minResources":{"nvidia.com/gpu":4},"scheduleTimeoutSeconds":120,
                                    "priorityClassName":"train"})");
  Json one = x_k8s("g", spec), other = sigs("g", spec);
  one["metadata"]["creationTimestamp"] = other["metadata"]["creationTimestamp"] = "2026-03-01T09:00:00Z";
  other["status"]["scheduleStartTime"] = "2026-03-01T09:30:00Z";
  const Json member = labelled(pod("p", {{"priority", 5}}), "scheduling.x-k8s.io/pod-group", "g");
  EXPECT_EQ(imported({priority_class("train", 60), one, member}).gang("team/g"),
            Json::parse(R"({"name":"team/g","queue":"default","priority":5,"preemptible":true,"minMember":4,
                            "minResources":{"gpu":4},"created":1772355600,"timeout":120})"));
  const Json made = imported({priority_class("train", 60), other}).gang("team/g");
  EXPECT_EQ(made["priority"], 60);
  EXPECT_EQ(made["created"], 1772357400);
}

TEST(KubernetesCoscheduling, AnElasticQuotaIsNamed) {
  const Json quota =
      in_namespace(object("scheduling.x-k8s.io/v1alpha1", "ElasticQuota", "eq", {{"max", {{"cpu", 1}}}}));
  const ImportedObjects made = imported({quota});
  ASSERT_EQ(made.line["unread"].size(), 1U) << made.line.dump();
  EXPECT_EQ(made.line["unread"][0]["kind"], "ElasticQuota");
}

TEST(KubernetesCoscheduling, LabelsAloneMakeAGang) {
  const auto member = [](const char* name, const char* least) {
    const Json made = labelled(pod(name), "pod-group.scheduling.sigs.k8s.io/name", "g");
    return *least == '\0' ? made : labelled(made, "pod-group.scheduling.sigs.k8s.io/min-available", least);
  };
  const ImportedObjects made = imported({member("a", "2"), member("b", "3"), member("c", "")});
  EXPECT_EQ(made.gang("team/g")["minMember"], 3);
  EXPECT_FALSE(made.pod("team/a").contains("status"));
  EXPECT_FALSE(imported({member("a", "")}).gang("team/g").contains("minMember")) << "all of them";
  EXPECT_EQ(imported({sigs("g", {{"minMember", 5}}), member("a", "2")}).gang("team/g")["minMember"], 5);
}

TEST(KubernetesQueues, PodsWithoutAQueueGoToDefaultOrKubernetes) {
  EXPECT_FALSE(imported({pod("p")}).line.contains("queues")) << "the format has one";
  const ImportedObjects beside = imported({kai_queue("q"), pod("p")});
  EXPECT_EQ(beside.queue("default"), unbounded_queue("default"));
  const ImportedObjects taken = imported({volcano_queue("default"), pod("p"), volcano("g"), x_k8s("x")});
  EXPECT_EQ(taken.pod("team/p")["queue"], "kubernetes");
  EXPECT_EQ(taken.gang("team/g")["queue"], "default");
  EXPECT_EQ(taken.gang("team/x")["queue"], "kubernetes");
  EXPECT_EQ(taken.queue("kubernetes"), unbounded_queue("kubernetes"));
}

TEST(KubernetesQueues, OfTwoSystemsWithOneNameAreRefused) {
  const InputError error = refused({kai_queue("q"), volcano_queue("q")});
  EXPECT_EQ(error_code_text(error.code), "DuplicateName");
  EXPECT_EQ(error.message.rfind("Queue q: ", 0), 0U) << error.message;
  EXPECT_EQ(error_code_text(refused({kai_queue("q", {{"parentQueue", "gone"}})}).code), "UnknownQueue");
}

}  // namespace
}  // namespace muster::kubernetes
