// Node and Pod, as docs/kubernetes.md maps them.
#include <string>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

TEST(KubernetesNode, HasWhatItCanAllocateButItsDevicesApart) {
  const Json made = imported({node("a", 4)}).at("nodes", "a");
  EXPECT_EQ(made["resources"], (Json{{"cpu", 64}, {"memory", "262144Mi"}}));
  EXPECT_EQ(made["gpus"], (Json{{"count", 4}}));
  EXPECT_FALSE(made.contains("unschedulable"));
}

TEST(KubernetesNode, WithoutDevicesHasNone) {
  Json without = node("a");
  without["status"]["allocatable"].erase("nvidia.com/gpu");
  EXPECT_FALSE(imported({without}).at("nodes", "a").contains("gpus"));
  EXPECT_FALSE(imported({labelled(without, "nvidia.com/gpu.count", "8")}).at("nodes", "a").contains("gpus"));
  EXPECT_FALSE(imported({node("a", 0)}).at("nodes", "a").contains("gpus"));
}

TEST(KubernetesNode, CountsEachSliceOfADevice) {
  const Json sliced =
      labelled(labelled(node("a", 32), "nvidia.com/gpu.replicas", "4"), "nvidia.com/gpu.memory", "81920");
  EXPECT_EQ(imported({sliced}).at("nodes", "a")["gpus"], Json({{"count", 32}})) << "a slice has no memory of its own";
  const ImportedObjects both = imported({labelled(sliced, "nvidia.com/gpu.count", "2")});
  EXPECT_EQ(both.at("nodes", "a")["gpus"]["count"], 8) << "4 slices of each of 2 devices";
  EXPECT_TRUE(both.says("time-slicing")) << "and says so";
  EXPECT_EQ(imported({labelled(node("a", 1), "nvidia.com/gpu.count", "2")}).at("nodes", "a")["gpus"]["count"], 1);
}

TEST(KubernetesNode, ReadsDeviceMemoryInMebibytesOrBytes) {
  const auto memory = [](const char* label) {
    return imported({labelled(node("a"), "nvidia.com/gpu.memory", label)}).at("nodes", "a")["gpus"]["memory"];
  };
  EXPECT_EQ(memory("81920"), "81920Mi");
  EXPECT_EQ(memory("1048575"), "1048575Mi");
  EXPECT_EQ(memory("1048576"), "1Mi");
  EXPECT_EQ(memory("85899345920"), "81920Mi");
  EXPECT_EQ(imported({labelled(node("a"), "nvidia.com/gpu.product", "A100")}).at("nodes", "a")["gpus"]["model"],
            "A100");
}

TEST(KubernetesNode, IsClosedByACordonOrWhereItIsNotReady) {
  Json cordoned = node("a");
  cordoned["spec"]["unschedulable"] = true;
  cordoned["spec"]["taints"] = Json::array({{{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}},
                                            {{"key", "test"}, {"value", "x"}, {"effect", "NoExecute"}}});
  const Json made = imported({cordoned}).at("nodes", "a");
  EXPECT_EQ(made["unschedulable"], true);
  EXPECT_EQ(made["taints"], Json::parse(R"([{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},
                                            {"key":"test","value":"x","effect":"NoExecute"}])"))
      << "a spread that honours taints reads that of the cordon";
  for (const char* status : {"False", "Unknown"}) {
    Json not_ready = node("a");
    not_ready["status"]["conditions"][0]["status"] = status;
    EXPECT_EQ(imported({not_ready}).at("nodes", "a")["unschedulable"], true) << status;
  }
}

TEST(KubernetesPods, WithAGateOfTheirOwnAreGatedNotHeld) {
  const Json spec{{"resourceClaims", {{{"name", "c"}}}}, {"schedulingGates", {{{"name", "g"}}}}};
  const Json made = imported({pod("a", spec)}).pod("team/a");
  EXPECT_EQ(made["status"], "gated");
  EXPECT_FALSE(made.contains("held"));
}

TEST(KubernetesPod, IsNamedWithItsNamespace) {
  const Json made = imported({labelled(pod("a"), "app", "web")}).pod("team/a");
  EXPECT_EQ(made["namespace"], "team");
  EXPECT_EQ(made["labels"], (Json{{"app", "web"}}));
  EXPECT_EQ(imported({object("v1", "Pod", "a", Json::object())}).pod("default/a")["namespace"], "default");
}

TEST(KubernetesPod, SharesDevicesByAnnotation) {
  EXPECT_EQ(imported({annotated(pod("a"), "gpu-memory", "4000")}).pod("team/a")["gpu"], (Json{{"memory", "4000Mi"}}));
  EXPECT_EQ(imported({annotated(pod("a"), "gpu-fraction", "0.25")}).pod("team/a")["gpu"], (Json{{"fraction", 0.25}}));
  const Json two = annotated(annotated(pod("a"), "gpu-fraction", "0.5"), "gpu-fraction-num-devices", "2");
  EXPECT_EQ(imported({two}).pod("team/a")["gpu"], (Json{{"fraction", 0.5}, {"devices", 2}}));
  EXPECT_EQ(imported({asking(pod("a"), "nvidia.com/gpu", "2")}).pod("team/a")["gpu"], (Json{{"count", 2}}));
}

TEST(KubernetesPod, IsRefusedWhereItAsksForDevicesInTwoWays) {
  const Json whole = asking(pod("a"), "nvidia.com/gpu", "1");
  const struct {
    Json made;
    const char* message;
  } cases[] = {
      {annotated(whole, "gpu-memory", "10"), "cannot request both GPU and GPU memory"},
      {annotated(annotated(pod("a"), "gpu-memory", "10"), "gpu-fraction", "0.5"),
       "cannot request both GPU and GPU memory"},
      {annotated(whole, "gpu-fraction", "0.5"),
       "cannot have both GPU fraction request and whole GPU resource request/limit"},
      {annotated(pod("a"), "gpu-fraction-num-devices", "2"), "gpu-fraction-num-devices"},
      {annotated(whole, "gpu-fraction-num-devices", "2"), "gpu-fraction-num-devices"},
      {annotated(pod("a"), "gpu-fraction", "1"), "less than 1"},
      {annotated(pod("a"), "gpu-fraction", "0"), "greater than 0"},
      {annotated(pod("a"), "gpu-fraction", "half"), "not a number"},
      {annotated(pod("a"), "gpu-fraction", "-0.5"), "negative"},
      {annotated(pod("a"), "gpu-memory", "0"), "at least 1"},
      {annotated(pod("a"), "gpu-memory", "1.5"), "whole number"},
      {annotated(pod("a"), "gpu-memory", "-1"), "whole number"},
      {annotated(annotated(pod("a"), "gpu-memory", "1"), "gpu-fraction-num-devices", "0"), "greater than 0"},
      {asking(pod("a"), "nvidia.com/gpu", "500m"), "whole number"},
  };
  for (const auto& [made, message] : cases) {
    const InputError error = refused({made});
    EXPECT_EQ(error_code_text(error.code), "InvalidValue") << made.dump();
    EXPECT_EQ(error.message.rfind("Pod team/a: ", 0), 0U) << error.message;
    EXPECT_NE(error.message.find(message), std::string::npos) << error.message;
    EXPECT_EQ(error.path.rfind("$.items[0]", 0), 0U) << error.path;
  }
}

TEST(KubernetesPod, RunsWhereItHasANodeEvenBeforeItHasStarted) {
  Json bound = running(pod("a"), "n");
  bound["status"]["phase"] = "Pending";
  bound["status"]["startTime"] = "2026-03-01T10:00:00Z";
  const Json made = imported({node("n"), bound}).pod("team/a");
  EXPECT_EQ(made["node"], "n");
  EXPECT_FALSE(made.contains("status"));
  EXPECT_EQ(made["started"], 1772359200);
}

TEST(KubernetesPod, KeepsNoNodeOnceItIsFinished) {
  for (const auto& [phase, status] : {std::pair("Succeeded", "succeeded"), std::pair("Failed", "failed")}) {
    Json finished = running(pod("a"), "n");
    finished["status"]["phase"] = phase;
    const Json made = imported({node("n"), finished}).pod("team/a");
    EXPECT_EQ(made["status"], status);
    EXPECT_FALSE(made.contains("node"));
  }
}

TEST(KubernetesPod, OnItsWayOutIsReleasingOrLeftOut) {
  Json leaving = running(pod("a"), "n"), unplaced = pod("b");
  leaving["metadata"]["deletionTimestamp"] = "2026-03-01T10:00:00Z";
  unplaced["metadata"]["deletionTimestamp"] = "2026-03-01T10:00:00Z";
  const ImportedObjects made = imported({node("n"), leaving, unplaced});
  EXPECT_EQ(made.pod("team/a")["status"], "releasing");
  EXPECT_EQ(made.find("pods", "team/b"), nullptr);
  EXPECT_FALSE(made.line.contains("time")) << "deletion lies ahead";
}

TEST(KubernetesPod, WithGatesWaits) {
  EXPECT_EQ(imported({pod("a", {{"schedulingGates", {{{"name", "g"}}}}})}).pod("team/a")["status"], "gated");
  EXPECT_FALSE(imported({pod("a", {{"schedulingGates", Json::array()}})}).pod("team/a").contains("status"));
}

TEST(KubernetesPod, CarriesItsConstraintsOver) {
  const Json spec = Json::parse(R"({"nodeSelector":{"zone":"a"},
      "tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},
                     {"key":"new","operator":"Gt","value":"5"}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                      {"matchExpressions":[{"key":"x","operator":"In","values":["1","2"]}]}]}},
                  "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
                      {"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"web"}},
                       "matchLabelKeys":["pod-template-hash"]}],
                    "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"podAffinityTerm":
                      {"topologyKey":"zone","labelSelector":{},"matchLabelKeys":["a"]}}]}}})");
  Json made_of = pod("a", spec);
  made_of["status"]["nominatedNodeName"] = "n";
  const ImportedObjects made = imported({made_of});
  Json one = made.pod("team/a");
  EXPECT_EQ(one["nodeSelector"], (Json{{"zone", "a"}}));
  EXPECT_EQ(one["nodeAffinity"], spec["affinity"]["nodeAffinity"]);
  EXPECT_EQ(one["tolerations"], Json::parse(R"([{"key":"k","operator":"Exists","effect":"NoExecute"}])"));
  EXPECT_EQ(one["podAntiAffinity"], Json::parse(R"({
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname",
                                                         "labelSelector":{"matchExpressions":[{"key":"app","operator":"In","values":["web"]}]}}],
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"podAffinityTerm":{"topologyKey":"zone",
                                                          "labelSelector":{}}}]})"));
  EXPECT_EQ(one["nominatedNode"], "n");
  EXPECT_TRUE(made.says("a toleration with an operator other than"));
}

TEST(KubernetesPod, SaysItsPriorityItselfWithoutAGang) {
  const Json made = imported({pod("a", {{"priority", 7}, {"preemptionPolicy", "Never"}})}).pod("team/a");
  EXPECT_EQ(made["priority"], 7);
  EXPECT_EQ(made["preemptionPolicy"], "Never");
  EXPECT_EQ(made["preemptible"], true);
  EXPECT_EQ(made["queue"], "default");
}

TEST(KubernetesPod, IsPreemptibleWhateverItsNumberButForTheSystem) {
  const auto preemptible = [](const Json& made) { return imported({made}).pod("team/a")["preemptible"]; };
  EXPECT_EQ(preemptible(pod("a", {{"priority", 1'999'999'999}})), true);
  EXPECT_EQ(preemptible(pod("a", {{"priority", 2'000'000'000}})), false);
  EXPECT_EQ(preemptible(annotated(pod("a"), "kubernetes.io/config.mirror", "x")), false);
  Json daemon = pod("a");
  daemon["metadata"]["ownerReferences"] = {{{"kind", "DaemonSet"}}};
  EXPECT_EQ(preemptible(daemon), false);
}

TEST(KubernetesPod, IsHeldWhereItsConstraintsCannotBeTold) {
  const Json elsewhere = Json::parse(R"([{"topologyKey":"zone","labelSelector":{},
                                          "namespaceSelector":{"matchLabels":{"a":"b"}}}])");
  const char* required = "requiredDuringSchedulingIgnoredDuringExecution";
  const struct {
    Json spec;
    const char* why;
  } cases[] = {
      {{{"affinity", {{"podAffinity", {{required, elsewhere}}}}}}, "pod affinity over namespaces chosen by label"},
      {{{"resourceClaims", {{{"name", "c"}}}}}, "resource claims"},
      {{{"affinity", {{"podAntiAffinity", {{required, elsewhere}}}}}}, "anti-affinity over namespaces chosen by label"},
  };
  for (const auto& [spec, why] : cases) {
    const ImportedObjects made = imported({node("n"), pod("a", spec), running(pod("b", spec), "n")});
    EXPECT_EQ(made.pod("team/a")["status"], "gated") << why;
    EXPECT_NE(made.pod("team/a").value("held", "").find(why), std::string::npos) << why;
    EXPECT_FALSE(made.pod("team/b").contains("status")) << why;
    EXPECT_FALSE(made.pod("team/b").contains("held")) << "what runs does not wait: " << why;
    EXPECT_NE(made.pod("team/b")["nodeAffinity"].dump().find("metadata.name"), std::string::npos)
        << "what runs is not moved either: " << why;
    EXPECT_TRUE(made.says(why)) << why;
  }
  const Json anyway = {
      {"topologySpreadConstraints", {{{"maxSkew", 1}, {"topologyKey", "x"}, {"whenUnsatisfiable", "ScheduleAnyway"}}}}};
  EXPECT_FALSE(imported({pod("a", anyway)}).pod("team/a").contains("status"));
}

TEST(KubernetesPod, IsPlannedWithoutWhatItPrefersOfNamespacesThatAreNotTold) {
  const Json spec = Json::parse(R"({"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
      {"weight":5,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{},"namespaceSelector":{"matchLabels":{"a":"b"}}}},
      {"weight":6,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{}}}]}}})");
  const ImportedObjects made = imported({pod("a", spec)});
  Json terms = made.pod("team/a")["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
  ASSERT_EQ(terms.size(), 1U);
  EXPECT_EQ(terms[0]["weight"], 6);
  EXPECT_TRUE(made.says("preferred pod affinity over namespaces chosen by label is ignored"));
}

TEST(KubernetesPod, KeepsItsRequiredAffinityAndSpread) {
  const Json spec = Json::parse(R"({"affinity":{
      "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"db"}}}]},
      "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"rack","labelSelector":{},"matchLabelKeys":["app"]}]}},
      "topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","minDomains":3,
        "labelSelector":{"matchLabels":{"app":"web"}},"matchLabelKeys":["hash"],"nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor"},
        {"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"ScheduleAnyway"}]})");
  const Json made = imported({node("n"), pod("a", spec)}).pod("team/a");
  EXPECT_FALSE(made.contains("status")) << "it is not held";
  const auto selector = [](const char* app) {
    return Json{{"matchExpressions", {{{"key", "app"}, {"operator", "In"}, {"values", {app}}}}}};
  };
  EXPECT_EQ(made["podAffinity"], (Json{{"topologyKey", "zone"}, {"labelSelector", selector("db")}}));
  EXPECT_EQ(made["podAntiAffinity"], (Json{{"topologyKey", "rack"}, {"labelSelector", Json::object()}}))
      << "the API server has merged matchLabelKeys";
  Json spread = spec["topologySpreadConstraints"];
  spread[0]["labelSelector"] = selector("web");
  EXPECT_EQ(made["topologySpread"], spread);
}

TEST(KubernetesPod, MayChooseNamespacesByTheLabelsOfThoseInTheList) {
  const Json spec = Json::parse(R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
      {"topologyKey":"zone","labelSelector":{},"namespaceSelector":{"matchLabels":{"a":"b"}}}]}}})");
  const Json space =
      Json::parse(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team","labels":{"a":"b"}}})");
  const ImportedObjects made = imported({node("n"), space, pod("a", spec)});
  EXPECT_FALSE(made.pod("team/a").contains("status")) << "it is not held";
  EXPECT_EQ(made.pod("team/a")["podAffinity"]["namespaceSelector"]["matchExpressions"][0],
            Json::parse(R"({"key":"a","operator":"In","values":["b"]})"));
  ASSERT_EQ(made.line["namespaces"].size(), 1U);
  EXPECT_EQ(made.line["namespaces"][0]["labels"]["a"], "b");
}

TEST(KubernetesPod, OnANodeThatIsNotInTheListIsAnError) {
  const InputError error = refused({node("n"), running(pod("a"), "m")});
  EXPECT_EQ(error_code_text(error.code), "UnknownNode");
  EXPECT_EQ(error.message.rfind("Pod team/a: ", 0), 0U) << error.message;
}

TEST(KubernetesTime, IsTheLatestThatTheObjectsTell) {
  Json one = node("n");
  one["metadata"]["creationTimestamp"] = "2026-03-01T09:00:00Z";
  one["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-03-01T10:00:07Z";
  Json other = running(pod("a"), "n");
  other["metadata"]["deletionTimestamp"] = "2026-03-01T11:00:00Z";
  other["status"]["startTime"] = "2026-03-01T10:00:05Z";
  EXPECT_EQ(imported({one, other}).line["time"], 1772359207);
  other["status"]["containerStatuses"] = {{{"state", {{"running", {{"startedAt", "2026-03-01T10:00:09Z"}}}}}}};
  EXPECT_EQ(imported({one, other}).line["time"], 1772359209);
  other["status"]["conditions"] = {{{"lastTransitionTime", "2026-03-01T12:00:10+02:00"}}};
  EXPECT_EQ(imported({one, other}).line["time"], 1772359210);
  KubernetesOptions options;
  options.time = 1'000'500'000'000;
  EXPECT_EQ(imported({one, other}, options).line["time"], 1000.5);
}

}  // namespace
}  // namespace muster::kubernetes
