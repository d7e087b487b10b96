// Lists, single objects, several documents, watch events; and objects that are not what they should be.
#include <algorithm>
#include <set>
#include <string>

#include "io/kubernetes/object/documents.h"
#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json event(const char* type, Json of) { return {{"type", type}, {"object", std::move(of)}}; }

std::vector<std::string> names(const Json& list) {
  std::vector<std::string> all;
  for (const Json& one : list) all.push_back(one["name"]);
  return all;
}

TEST(KubernetesItems, MayBeOneObjectOrListsWithinLists) {
  EXPECT_EQ(names(imported_text(pod("a").dump()).line["pods"]), (std::vector<std::string>{"team/a"}));
  const Json inner{{"apiVersion", "v1"}, {"kind", "PodList"}, {"items", {pod("b")}}};
  EXPECT_EQ(names(imported({pod("a"), inner}).line["pods"]), (std::vector<std::string>{"team/a", "team/b"}));
}

TEST(KubernetesItems, OfATypedListNeedNotSayWhatTheyAre) {
  Json bare = pod("a");
  bare.erase("kind");
  bare.erase("apiVersion");
  const Json list{{"apiVersion", "v1"}, {"kind", "PodList"}, {"items", {bare}}};
  EXPECT_EQ(names(imported_text(list.dump()).line["pods"]), (std::vector<std::string>{"team/a"}));
}

TEST(KubernetesItems, OfOtherKindsAreCountedAndPassedOver) {
  const ImportedObjects made = imported({object("apps/v1", "Deployment", "d", Json::object()),
                                         object("apps/v1", "Deployment", "e", Json::object()), pod("a")});
  EXPECT_EQ(made.line["pods"].size(), 1U);
  EXPECT_EQ(made.remarks, (std::vector<std::string>{"2 times: Deployment is ignored; first: Deployment default/d"}));
}

TEST(KubernetesItems, ThatAreThereTwiceAreAnError) {
  const InputError error = refused({pod("a"), pod("a")});
  EXPECT_EQ(error_code_text(error.code), "DuplicateName");
  EXPECT_EQ(error.path, "$.items[1]");
  EXPECT_EQ(error.message.rfind("Pod team/a: ", 0), 0U) << error.message;
}

TEST(KubernetesEvents, AddReplaceAndRemove) {
  const ImportedObjects made = imported(
      {event("ADDED", pod("a")), event("ADDED", pod("b", {{"priority", 1}})), event("ADDED", node("n")),
       event("MODIFIED", pod("b", {{"priority", 2}})), event("DELETED", pod("a")), event("DELETED", pod("never")),
       event("BOOKMARK", Json{{"kind", "Pod"}, {"metadata", {{"resourceVersion", "1"}}}}), event("ADDED", pod("c")),
       event("DELETED", pod("c")), event("ADDED", pod("c"))});
  EXPECT_EQ(names(made.line["pods"]), (std::vector<std::string>{"team/b", "team/c"}));
  EXPECT_EQ(made.pod("team/b")["priority"], 2);
  EXPECT_EQ(error_code_text(refused({event("ERROR", pod("a"))}).code), "InvalidValue");
}

TEST(KubernetesEvents, ReplaceWhatAListHas) {
  const ImportedObjects made = imported({pod("a", {{"priority", 1}}), event("MODIFIED", pod("a", {{"priority", 2}}))});
  EXPECT_EQ(made.line["pods"].size(), 1U);
  EXPECT_EQ(made.pod("team/a")["priority"], 2);
}

TEST(KubernetesDocuments, OneAfterAnotherBecomeAList) {
  EXPECT_EQ(join_documents(" {\"a\":\"}{\"} \n"), " {\"a\":\"}{\"} \n") << "one stays as it is";
  const std::string first = node("n").dump(2), second = list_of({pod("a"), pod("b")});
  const ImportedObjects made =
      imported_text(join_documents(first + "\n" + second + "\n" + event("ADDED", pod("c")).dump(4)));
  EXPECT_EQ(names(made.line["nodes"]), (std::vector<std::string>{"n"}));
  EXPECT_EQ(names(made.line["pods"]), (std::vector<std::string>{"team/a", "team/b", "team/c"}));
  const Json quoted = annotated(pod("q"), "text", "}{ \\\" ][");
  EXPECT_EQ(imported_text(join_documents(quoted.dump() + pod("r").dump())).line["pods"].size(), 2U);
}

// One of each kind, with all that is read of it.
std::vector<Json> rich_objects() {
  Json rich_node = labelled(labelled(node("rich-node"), "nvidia.com/gpu.memory", "81920"), "nvidia.com/gpu.count", "8");
  rich_node["spec"] =
      Json::parse(R"({"unschedulable":false,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]})");
  Json rich_pod = annotated(pod("rich-pod", Json::parse(R"({"nodeName":"rich-node","priority":5,"priorityClassName":"c",
      "preemptionPolicy":"Never","nodeSelector":{"a":"b"},"overhead":{"cpu":"1m"},"schedulingGates":[],
      "tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute"}],"volumes":[{"name":"v"}],"resourceClaims":[],
      "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"x","whenUnsatisfiable":"ScheduleAnyway"}],
      "containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}}],
      "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"x","operator":"In","values":["1"]}]}]}},
        "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
          {"topologyKey":"zone","labelSelector":{"matchLabels":{"a":"b"}}}]}}})")),
                            "gpu-memory", "10");
  rich_pod["metadata"]["creationTimestamp"] = "2026-03-01T09:00:00Z";
  rich_pod["metadata"]["ownerReferences"] = {{{"kind", "ReplicaSet"}}};
  rich_pod["metadata"]["labels"] = {{"pod-group.scheduling.sigs.k8s.io/name", "l"},
                                    {"pod-group.scheduling.sigs.k8s.io/min-available", "1"}};
  rich_pod["status"] = {{"phase", "Running"}, {"startTime", "2026-03-01T09:00:00Z"}};
  Json rich_class = object("scheduling.k8s.io/v1", "PriorityClass", "rich-class", nullptr);
  rich_class["value"] = 5;
  rich_class["globalDefault"] = true;
  rich_class["preemptionPolicy"] = "Never";
  const auto grouped = [](const char* version, const char* kind, const char* name, const char* spec) {
    return in_namespace(object(version, kind, name, Json::parse(spec)));
  };
  return {
      rich_node,
      rich_pod,
      rich_class,
      object("kai.scheduler/v1alpha1", "Topology", "rich-topology",
             Json::parse(R"({"levels":[{"nodeLabel":"zone"}]})")),
      object("scheduling.run.ai/v2", "Queue", "rich-queue", Json::parse(R"({"priority":1,"preemptMinRuntime":"1s",
              "resources":{"gpu":{"quota":1,"limit":-1,"overQuotaWeight":1},"cpu":{"quota":1},"memory":{"limit":1}}})")),
      object("scheduling.volcano.sh/v1beta1", "Queue", "rich-volcano-queue", Json::parse(R"({"weight":1,"priority":1,
              "deserved":{"cpu":"1"},"capability":{"nvidia.com/gpu":"1"},"guarantee":{"resource":{"cpu":"1"}}})")),
      grouped("scheduling.run.ai/v2alpha2", "PodGroup", "rich-kai", R"({"minMember":1,"queue":"rich-queue",
              "priorityClassName":"c","preemptibility":"preemptible","stalenessGracePeriod":"1s","minSubGroup":1,
              "subGroups":[{"name":"a","minMember":1,"topologyConstraint":{"requiredTopologyLevel":"zone"}}],
              "topologyConstraint":{"topology":"rich-topology","requiredTopologyLevel":"zone"}})"),
      grouped("scheduling.volcano.sh/v1beta1", "PodGroup", "rich-volcano", R"({"minMember":1,"queue":"q",
              "minTaskMember":{"a":1},"minResources":{"cpu":"1"},"networkTopology":{"mode":"soft"}})"),
      grouped("scheduling.x-k8s.io/v1alpha1", "PodGroup", "rich-x", R"({"minMember":1,"scheduleTimeoutSeconds":1,
              "minResources":{"cpu":"1"}})"),
      grouped("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "rich-sigs", R"({"minMember":1,"priorityClassName":"c"})"),
      grouped("scheduling.k8s.io/v1beta1", "PodGroup", "rich-group", R"({"schedulingPolicy":{"gang":{"minCount":1}},
              "schedulingConstraints":{"topology":[{"key":"zone"}]},"priority":1,"preemptionPolicy":"Never"})"),
      grouped("scheduling.k8s.io/v1alpha1", "Workload", "rich-workload",
              R"({"podGroups":[{"name":"g","policy":{"gang":{"minCount":1}}}]})"),
      grouped("scheduling.run.ai/v1alpha2", "BindRequest", "rich-request",
              R"({"podName":"x","selectedNode":"rich-node","selectedGPUGroups":["a"]})")};
}

std::vector<Json> wrong_values() {
  Json deep = 1;
  for (int i = 0; i < 40; ++i) deep = Json::array({deep});
  return {nullptr,
          true,
          -1,
          1e300,
          0.5,
          18446744073709551615U,
          "",
          "-1",
          "1e400",
          "9999999999Ei",
          "\u0000\u202e",
          std::string(5000, 'x'),
          Json::array(),
          Json::object(),
          Json::array({1, "a", nullptr}),
          {{"a", {{"b", 1}}}},
          deep};
}

// Every value of every object in turn is replaced by what it should not be: the objects are read all the same, or an
// error names the object.
TEST(KubernetesHostile, ValuesGiveAnErrorThatNamesTheObjectOrAreRead) {
  const std::vector<Json> objects = rich_objects();
  imported(objects);
  std::set<std::string> codes;
  std::size_t errors = 0, tried = 0;
  muster_v1::SnapshotReader reader;
  for (std::size_t at = 0; at < objects.size(); ++at) {
    const std::string name = objects[at]["metadata"]["name"];
    const Json flat = objects[at].flatten();
    for (const auto& [pointer, value] : flat.items()) {
      for (Json::json_pointer place(pointer); !place.empty(); place = place.parent_pointer()) {
        for (const Json& wrong : wrong_values()) {
          std::vector<Json> mutated = objects;
          mutated[at][place] = wrong;
          const auto read = reader.read(list_of(mutated));
          ++tried;
          if (read) continue;
          ++errors;
          codes.insert(std::string(error_code_text(read.error().code)));
          const std::string where = place.to_string();
          if (where == "/metadata/name" || where == "/metadata" || where == "/kind") continue;
          EXPECT_NE(read.error().message.find(name), std::string::npos)
              << name << where << " = " << wrong.dump() << ": " << error_code_text(read.error().code) << " "
              << read.error().path << " " << read.error().message;
        }
      }
    }
  }
  EXPECT_GT(tried, 2000U);
  EXPECT_GT(errors, 200U);
  EXPECT_TRUE(codes.contains("WrongType") && codes.contains("InvalidValue"));
}

TEST(KubernetesHostile, KeysThatAreThereTwiceAreAnErrorWhereTheyAreRead) {
  const auto read = muster_v1::SnapshotReader().read(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n"},"spec":{"priority":1,"priority":2}})");
  ASSERT_FALSE(read);
  EXPECT_EQ(error_code_text(read.error().code), "DuplicateKey");
  EXPECT_EQ(read.error().path, "$.spec.priority");
  EXPECT_EQ(read.error().message.rfind("Pod n/a: ", 0), 0U) << read.error().message;
  const auto labels = muster_v1::SnapshotReader().read(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","labels":{"x":"1","x":"2"}}})");
  ASSERT_FALSE(labels);
  EXPECT_NE(labels.error().message.find("n/a"), std::string::npos) << labels.error().message;
}

TEST(KubernetesHostile, DocumentsThatAreNoneAreRefusedAsLinesAre) {
  const std::string good = list_of({pod("a")});
  EXPECT_EQ(error_code_text(muster_v1::SnapshotReader().read(good.substr(0, good.size() - 1)).error().code),
            "InvalidJson");
  std::string broken = good;
  broken[broken.find("team")] = '\xFF';
  EXPECT_EQ(error_code_text(muster_v1::SnapshotReader().read(broken).error().code), "InvalidUtf8");
  std::string deep = good;
  for (int i = 0; i < 70; ++i) deep = R"({"kind":"List","items":[)" + deep + "]}";
  EXPECT_EQ(error_code_text(muster_v1::SnapshotReader().read(deep).error().code), "TooDeep");
  EXPECT_TRUE(muster_v1::SnapshotReader().read(R"({"kind":"List"})"));
  EXPECT_EQ(error_code_text(muster_v1::SnapshotReader().read(R"({"kind":"List","items":[3]})").error().code),
            "WrongType");
  EXPECT_EQ(error_code_text(muster_v1::SnapshotReader().read(R"({"apiVersion":"v1"})").error().code), "MissingKey");
  EXPECT_EQ(error_code_text(muster_v1::SnapshotReader().read(R"({"apiVersion":"v1","kind":"Pod"})").error().code),
            "MissingKey");
}

}  // namespace
}  // namespace muster::kubernetes
