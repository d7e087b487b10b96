// Values of Kubernetes objects that cannot be read, or are not understood: what they may mean is kept, and the rest is
// planned. None of them is an error of the whole list, unless that is read strictly.
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Snapshot imported_anyway(const std::vector<Json>& items) {
  const std::string text = list_of(items);
  Result<Snapshot> made = import_kubernetes_text(text, {.strict = false}, {text.size(), 64});
  EXPECT_TRUE(made) << made.error().path << ": " << made.error().message;
  if (!made) return {};
  const auto again = muster_v1::SnapshotReader().read(line_of(*made));  // strictly
  EXPECT_TRUE(again) << again.error().path << ": " << again.error().message;
  return *std::move(made);
}

bool is_refused(const std::vector<Json>& items) {
  const std::string text = list_of(items);
  return !import_kubernetes_text(text, {}, {text.size(), 64});
}

const SnapshotPod& pod_of(const Snapshot& snapshot, std::string_view name) {
  static const SnapshotPod none;
  for (const SnapshotPod& one : snapshot.pods) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << name;
  return none;
}

std::string warnings_of(const Snapshot& snapshot) {
  std::string text;
  for (const Warning& warning : snapshot.anomalies.warnings) {
    if (!is_remark(warning)) text += warning.object + " " + warning.name + ": " + warning.message + "\n";
  }
  return text;
}

Json with_toleration(const char* name, const Json& toleration) {
  return pod(name, {{"tolerations", Json::array({toleration})}});
}
const Json kBadToleration = {{"key", "k"}, {"operator", "Exists"}, {"value", "x"}};

TEST(KubernetesUnclearValues, ABudgetWhoseSelectorIsNotUnderstoodProtectsItsNamespace) {
  Json budget = in_namespace(object("policy/v1", "PodDisruptionBudget", "b",
                                    Json::parse(R"({"selector":{"matchLabels":{"app":"a"},"matchCEL":"x"}})")));
  budget["status"] = {{"disruptionsAllowed", 3}};
  const Snapshot made = imported_anyway({budget});
  ASSERT_EQ(made.disruption_budgets.size(), 1U);
  EXPECT_EQ(made.disruption_budgets[0].allowed, 0);
  EXPECT_TRUE(made.disruption_budgets[0].selector && made.disruption_budgets[0].selector->requirements.empty());
  EXPECT_NE(warnings_of(made).find("disruptionBudget team/b: spec.selector.matchCEL"), std::string::npos)
      << warnings_of(made);
  EXPECT_TRUE(is_refused({budget}));
}

TEST(KubernetesUnclearValues, APodWhoseSelectorsAreNotUnderstoodIsHeld) {
  const char* required = "requiredDuringSchedulingIgnoredDuringExecution";
  const Json odd = {{"matchCEL", "x"}};
  const Json term = {{"topologyKey", "zone"}, {"labelSelector", odd}};
  const Json spread = {
      {"maxSkew", 1}, {"topologyKey", "zone"}, {"whenUnsatisfiable", "DoNotSchedule"}, {"labelSelector", odd}};
  const std::vector<Json> specs = {
      {{"affinity", {{"nodeAffinity", {{required, {{"nodeSelectorTerms", {odd}}}}}}}}},
      {{"affinity", {{"nodeAffinity", {{"requiredDuringSchedulingRequiredDuringExecution", odd}}}}}},
      {{"affinity", {{"podAntiAffinity", {{required, {term}}}}}}},
      {{"affinity", {{"podAffinity", {{required, {term}}}}}}},
      {{"topologySpreadConstraints", {spread}}}};
  for (const Json& spec : specs) {
    const Snapshot made = imported_anyway({node("n"), pod("odd", spec), pod("good")});
    EXPECT_EQ(pod_of(made, "team/odd").status, PodStatus::kGated) << spec;
    EXPECT_EQ(pod_of(made, "team/good").status, PodStatus::kPending) << spec;
    EXPECT_NE(warnings_of(made).find("pod team/odd: "), std::string::npos) << spec << warnings_of(made);
    EXPECT_TRUE(is_refused({node("n"), pod("odd", spec)})) << spec;
  }
}

TEST(KubernetesUnclearValues, OtherKeysOfTermsAndConstraintsArePassedOver) {
  const Json term = {{"topologyKey", "zone"}, {"labelSelector", Json::object()}, {"new", 1}};
  const Json spread = {{"maxSkew", 1}, {"topologyKey", "zone"}, {"whenUnsatisfiable", "ScheduleAnyway"}, {"new", 1}};
  const Json spec = {
      {"affinity", {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", {term}}}}}},
      {"topologySpreadConstraints", {spread}},
      {"tolerations", {{{"key", "k"}, {"operator", "Exists"}, {"tolerationSeconds", "300"}, {"new", 1}}}}};
  EXPECT_FALSE(is_refused({node("n"), pod("p", spec)}));
}

TEST(KubernetesUnclearValues, APodThatRequestsWhatItsVolumesCountAsIsHeld) {
  Json limits = object("storage.k8s.io/v1", "CSINode", "n",
                       Json::parse(R"({"drivers":[{"name":"d.csi","allocatable":{"count":3}}]})"));
  const Json volume = object("v1", "PersistentVolume", "v", Json::parse(R"({"csi":{"driver":"d.csi"}})"));
  Json claim = in_namespace(object("v1", "PersistentVolumeClaim", "c", {{"volumeName", "v"}}));
  claim["status"]["phase"] = "Bound";
  Json odd = asking(pod("odd"), "attachable-volumes-csi-d.csi", "100");
  odd["spec"]["volumes"] = {{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "c"}}}}};
  const Snapshot made = imported_anyway({node("n"), limits, volume, claim, odd, pod("good")});
  EXPECT_EQ(pod_of(made, "team/odd").status, PodStatus::kGated) << warnings_of(made);
  EXPECT_EQ(pod_of(made, "team/good").status, PodStatus::kPending);
}

TEST(KubernetesUnclearValues, APodOfMoreResourcesThanASnapshotHasCostsItsQueueAlone) {
  Json many = labelled(pod("many"), "kueue.x-k8s.io/queue-name", "lq");
  Json requests = Json::object();
  for (int i = 0; i < 1100; ++i) requests["ex.com/r" + std::to_string(i)] = "1";
  many["spec"]["containers"] = Json::array({{{"resources", {{"requests", requests}}}}});
  const Json local = in_namespace(object("kueue.x-k8s.io/v1beta1", "LocalQueue", "lq", {{"clusterQueue", "cq"}}));
  const Json cluster = object("kueue.x-k8s.io/v1beta1", "ClusterQueue", "cq", Json::parse(R"({"resourceGroups":[
      {"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]})"));
  const Snapshot made = imported_anyway({node("n"), local, cluster, many, pod("good")});
  EXPECT_EQ(pod_of(made, "team/good").status, PodStatus::kPending);
  EXPECT_EQ(pod_of(made, "team/many").status, PodStatus::kGated);
  EXPECT_NE(warnings_of(made).find("queue cq: "), std::string::npos) << warnings_of(made);
}

TEST(KubernetesUnclearValues, APodThatHasFinishedDoesNotWait) {
  for (const char* phase : {"Succeeded", "Failed"}) {
    Json done = with_toleration("done", kBadToleration);
    done["status"]["phase"] = phase;
    const PodStatus status = pod_of(imported_anyway({node("n"), done}), "team/done").status;
    EXPECT_EQ(status, *phase == 'S' ? PodStatus::kSucceeded : PodStatus::kFailed);
  }
}

TEST(KubernetesUnclearValues, APodThatRunsStaysWithWhatIsKnownOfIt) {
  Json odd = asking(labelled(running(with_toleration("odd", kBadToleration), "n"), "app", "x"), "nvidia.com/gpu", "2");
  odd["spec"]["schedulerName"] = "other";
  const Snapshot made = imported_anyway({node("n"), odd});
  const SnapshotPod& one = pod_of(made, "team/odd");
  EXPECT_EQ(one.status, PodStatus::kRunning);
  EXPECT_EQ(one.node, "n");
  EXPECT_EQ(one.scheduler.name, "other");
  ASSERT_EQ(one.labels.size(), 1U);
  EXPECT_EQ(one.labels[0].second, "x");
  const PodSpec& spec = made.pod_specs[one.spec];
  EXPECT_EQ(spec.gpu.devices, 2);
  ASSERT_TRUE(spec.node_affinity.required);
  EXPECT_EQ(spec.node_affinity.required->front().match_fields.front().values.front(), "n");
  EXPECT_EQ(made.own_gang_terms[static_cast<std::size_t>(one.own_gang)].preemptible, false);
  EXPECT_TRUE(made.nodes[0].unschedulable);
}

TEST(KubernetesUnclearValues, RemarksAreToldHoweverManyObjectsAreOdd) {
  std::vector<Json> items = {node("n")};
  for (int i = 0; i < 1005; ++i) items.push_back(with_toleration(("p" + std::to_string(i)).c_str(), kBadToleration));
  items.push_back(in_namespace(object("v1", "ConfigMap", "c", Json::object())));
  const std::vector<std::string> remarks = remarks_of(imported_anyway(items));
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_NE(remarks[0].find("ConfigMap is ignored"), std::string::npos) << remarks[0];
}

TEST(KubernetesUnclearValues, EachPodWithATolerationThatIsIgnoredCounts) {
  const Json toleration = {{"key", "k"}, {"operator", "Weird"}};
  const std::vector<std::string> remarks =
      remarks_of(imported_anyway({node("n"), with_toleration("a", toleration), with_toleration("b", toleration),
                                  with_toleration("c", toleration)}));
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_TRUE(remarks[0].starts_with("3 times: a toleration")) << remarks[0];
}

TEST(KubernetesUnclearValues, AGroupThatNamesItsGpusTwiceIsHeld) {
  const Json group = in_namespace(object("scheduling.x-k8s.io/v1alpha1", "PodGroup", "g",
                                         Json::parse(R"({"minResources":{"nvidia.com/gpu":"400","gpu":"1"}})")));
  const Json member = labelled(pod("p"), "scheduling.x-k8s.io/pod-group", "g");
  const Snapshot made = imported_anyway({node("n"), group, member});
  EXPECT_EQ(made.anomalies.held_gangs, std::vector<std::string_view>{"team/g"}) << warnings_of(made);
  EXPECT_TRUE(is_refused({node("n"), group, member}));
}

}  // namespace
}  // namespace muster::kubernetes
