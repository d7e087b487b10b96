// Objects that make pods, beyond those of expand_test.cpp: what is made is like what a cluster would hold.
#include <algorithm>
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

constexpr KubernetesOptions kExpand{.expand = true, .time = {}};

Json spec_of(const char* gpus, const char* scheduler = nullptr) {
  Json spec{{"containers", Json::array({{{"name", "node"}, {"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}}}})}};
  if (scheduler != nullptr) spec["schedulerName"] = scheduler;
  return spec;
}

Json template_of(const char* gpus, const char* scheduler = nullptr) { return {{"spec", spec_of(gpus, scheduler)}}; }

Json maker(const char* api_version, const char* kind, const char* name, Json spec) {
  return in_namespace(object(api_version, kind, name, std::move(spec)));
}

Json owned_by(Json made, const char* kind, const char* name) {
  made["metadata"]["ownerReferences"] = Json::array({{{"kind", kind}, {"name", name}, {"controller", true}}});
  return made;
}

// The gangs, and the pods without one, without their names: sizes, terms and what a pod asks for.
std::vector<std::string> shapes_of(const ImportedObjects& made) {
  std::vector<std::string> shapes;
  const auto pod_shape = [](const Json& one) {
    return one.value("gpu", Json()).dump() + one.value("resources", Json()).dump() +
           one.value("nodeSelector", Json()).dump() + one.value("subgroup", "");
  };
  for (Json gang : made.line.value("gangs", Json::array())) {
    std::vector<std::string> pods;
    for (const Json& one : made.line["pods"]) {
      if (one.value("gang", "") == gang["name"]) pods.push_back(pod_shape(one));
    }
    std::ranges::sort(pods);
    for (const char* key : {"name", "created", "minResources"}) gang.erase(key);
    shapes.push_back(gang.dump() + Json(pods).dump());
  }
  for (const Json& one : made.line["pods"]) {
    if (!one.contains("gang")) shapes.push_back(pod_shape(one) + one.value("queue", ""));
  }
  std::ranges::sort(shapes);
  return shapes;
}

// Live pods of an owner and the groups of their controller, and the owner.
struct LiveCase {
  std::string name;
  Json owner;
  std::vector<Json> groups, pods;
};

void PrintTo(const LiveCase& one, std::ostream* out) { *out << one.name; }

Json volcano_group(const char* name, int members, const char* queue) {
  return in_namespace(
      object("scheduling.volcano.sh/v1beta1", "PodGroup", name, {{"minMember", members}, {"queue", queue}}));
}

Json of_group(Json made, const char* group) {
  return annotated(std::move(made), "scheduling.k8s.io/group-name", group);
}

std::vector<LiveCase> live_cases() {
  std::vector<LiveCase> all;
  const auto task = [](const char* name, const char* task) {
    return annotated(of_group(owned_by(pod(name, spec_of("1", "volcano")), "Job", "vc"), "vc-6a1c"),
                     "volcano.sh/task-spec", task);
  };
  Json tasks = volcano_group("vc-6a1c", 2, "research");
  tasks["spec"]["minTaskMember"] = {{"master", 1}, {"worker", 1}};
  all.push_back(
      {"VolcanoJob",
       maker("batch.volcano.sh/v1alpha1", "Job", "vc",
             {{"queue", "research"},
              {"minAvailable", 2},
              {"tasks",
               {{{"name", "master"}, {"replicas", 1}, {"template", template_of("1")}},
                {{"name", "worker"}, {"replicas", 2}, {"minAvailable", 1}, {"template", template_of("1")}}}}}),
       {tasks},
       {task("vc-master-0", "master"), task("vc-worker-0", "worker"), task("vc-worker-1", "worker")}});
  const auto torch = [](const char* name, const char* role) {
    return labelled(of_group(owned_by(pod(name, spec_of("2", "volcano")), "PyTorchJob", "torch"), "torch"),
                    "training.kubeflow.org/replica-type", role);
  };
  all.push_back(
      {"PyTorchJobOfVolcano",
       maker("kubeflow.org/v1", "PyTorchJob", "torch",
             {{"runPolicy", {{"schedulingPolicy", {{"minAvailable", 2}, {"queue", "research"}}}}},
              {"pytorchReplicaSpecs",
               {{"Master", {{"replicas", 1}, {"template", template_of("2", "volcano")}}},
                {"Worker", {{"replicas", 2}, {"template", template_of("2", "volcano")}}}}}}),
       {volcano_group("torch", 2, "research")},
       {torch("torch-master-0", "master"), torch("torch-worker-0", "worker"), torch("torch-worker-1", "worker")}});
  const auto of_set = [](const char* name, const char* group) {
    return of_group(pod(name, spec_of("4", "volcano")), group);
  };
  Json set = maker(
      "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "llm",
      {{"replicas", 2}, {"leaderWorkerTemplate", {{"size", 2}, {"workerTemplate", template_of("4", "volcano")}}}});
  set = annotated(set, "scheduling.volcano.sh/queue-name", "research");
  all.push_back({"LeaderWorkerSetOfVolcano",
                 set,
                 {volcano_group("llm-0-7f", 2, "research"), volcano_group("llm-1-7f", 2, "research")},
                 {of_set("llm-0", "llm-0-7f"), of_set("llm-0-1", "llm-0-7f"), of_set("llm-1", "llm-1-7f"),
                  of_set("llm-1-1", "llm-1-7f")}});
  const auto asks = [](Json made) {
    return annotated(std::move(made), "kueue.x-k8s.io/podset-required-topology", "rack");
  };
  Json job = labelled(
      maker("batch/v1", "Job", "tas", {{"parallelism", 2}, {"completions", 2}, {"template", template_of("8")}}),
      "kueue.x-k8s.io/queue-name", "users");
  job["spec"]["template"]["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] = "rack";
  const auto of_job = [&](const char* name) { return asks(owned_by(pod(name, spec_of("8")), "Job", "tas")); };
  all.push_back({"JobOfKueueInARack", job, {}, {of_job("tas-x1"), of_job("tas-x2")}});
  const auto of_web = [](const char* name) {
    return labelled(owned_by(pod(name, spec_of("1", "kai-scheduler")), "Deployment", "web"), "kai.scheduler/queue",
                    "q");
  };
  Json web = maker("apps/v1", "Deployment", "web", {{"replicas", 2}, {"template", template_of("1", "kai-scheduler")}});
  web["spec"]["template"]["metadata"]["labels"]["kai.scheduler/queue"] = "q";
  all.push_back({"DeploymentOfKai", web, {}, {of_web("web-x1"), of_web("web-x2")}});
  const auto of_ray = [](const char* name, const char* group) {
    return labelled(of_group(owned_by(pod(name, spec_of("1", "volcano")), "RayCluster", "ray"), "ray-ray-pg"),
                    "ray.io/group", group);
  };
  all.push_back(
      {"RayClusterOfVolcano",
       labelled(maker("ray.io/v1", "RayCluster", "ray",
                      {{"headGroupSpec", {{"template", template_of("1")}}},
                       {"workerGroupSpecs", {{{"groupName", "w"}, {"replicas", 2}, {"template", template_of("1")}}}}}),
                "ray.io/scheduler-name", "volcano"),
       {volcano_group("ray-ray-pg", 3, "default")},
       {of_ray("ray-head-x", "headgroup"), of_ray("ray-w-worker-x", "w"), of_ray("ray-w-worker-y", "w")}});
  return all;
}

// Of owners whose group follows from what they are, without an object yet.
std::vector<LiveCase> awaiting_cases() {
  const char* kai = "kai-scheduler";
  std::vector<LiveCase> all;
  const auto in_q = [](Json made) { return labelled(std::move(made), "kai.scheduler/queue", "q"); };
  const auto pods_of = [&](const char* kind, const char* owner, const char* scheduler, int pods) {
    std::vector<Json> made;
    for (int i = 0; i < pods; ++i)
      made.push_back(
          owned_by(pod((owner + std::string("-x") + std::to_string(i)).c_str(), spec_of("1", scheduler)), kind, owner));
    return made;
  };
  const auto least = [&](int pods) {
    Json job = maker("batch/v1", "Job", "sweep",
                     {{"parallelism", pods}, {"completions", pods}, {"template", template_of("1", kai)}});
    return annotated(in_q(std::move(job)), "kai.scheduler/batch-min-member", "2");
  };
  all.push_back({"JobOfKaiWithAMinimum", least(3), {}, pods_of("Job", "sweep", kai, 3)});
  Json semi = labelled(least(2), "kai.scheduler/preemptibility", "semi-preemptible");
  semi = annotated(semi, "kai.scheduler/preemption-delay", "1h");
  all.push_back({"JobOfKaiThatKeepsItsMinimum", semi, {}, pods_of("Job", "sweep", kai, 2)});
  Json torch =
      in_q(maker("kubeflow.org/v1", "PyTorchJob", "torch",
                 {{"pytorchReplicaSpecs", {{"Worker", {{"replicas", 4}, {"template", template_of("1", kai)}}}}}}));
  torch["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"]["kai.scheduler/segment-size"] =
      "2";
  std::vector<Json> workers;
  for (const char* index : {"0", "1", "2", "3"}) {
    const std::string name = std::string("torch-worker-") + index;
    const Json worker = labelled(owned_by(pod(name.c_str(), spec_of("1", kai)), "PyTorchJob", "torch"),
                                 "training.kubeflow.org/replica-type", "worker");
    workers.push_back(labelled(worker, "training.kubeflow.org/replica-index", index));
  }
  all.push_back({"PyTorchJobOfKaiInSegments", torch, {}, workers});
  Json set = maker("apps/v1", "StatefulSet", "db", {{"replicas", 2}, {"template", template_of("2", "volcano")}});
  set = annotated(set, "scheduling.volcano.sh/group-min-member", "2");
  set["spec"]["template"]["metadata"]["annotations"]["scheduling.volcano.sh/queue-name"] = "research";
  std::vector<Json> members;
  for (const char* name : {"db-0", "db-1"}) {
    members.push_back(annotated(owned_by(pod(name, spec_of("2", "volcano")), "StatefulSet", "db"),
                                "scheduling.volcano.sh/queue-name", "research"));
  }
  all.push_back({"StatefulSetOfVolcanoWithAMinimum", set, {}, members});
  return all;
}

std::vector<Json> queues() {
  Json local = in_namespace(object("kueue.x-k8s.io/v1beta2", "LocalQueue", "users", {{"clusterQueue", "farm"}}));
  Json cluster = object("kueue.x-k8s.io/v1beta2", "ClusterQueue", "farm", {{"namespaceSelector", Json::object()}});
  Json topology = object("kueue.x-k8s.io/v1beta2", "Topology", "dc", {{"levels", {{{"nodeLabel", "rack"}}}}});
  return {local, cluster, topology, object("scheduling.run.ai/v2", "Queue", "q", Json::object()),
          object("scheduling.volcano.sh/v1beta1", "Queue", "research", Json::object())};
}

class LiveCases : public testing::TestWithParam<LiveCase> {};

TEST_P(LiveCases, WithoutTheirPodsAreMadeAsTheyWere) {
  std::vector<Json> live = queues(), made = queues();
  made.push_back(GetParam().owner);
  live.insert(live.end(), GetParam().groups.begin(), GetParam().groups.end());
  live.insert(live.end(), GetParam().pods.begin(), GetParam().pods.end());
  live.push_back(GetParam().owner);
  const ImportedObjects expected = imported(live), found = imported(made, kExpand);
  EXPECT_EQ(shapes_of(found), shapes_of(expected)) << found.line.dump() << "\n" << expected.line.dump();
  EXPECT_EQ(shapes_of(imported(live, kExpand)), shapes_of(expected)) << "of which none is missing";
}

INSTANTIATE_TEST_SUITE_P(All, LiveCases, testing::ValuesIn(live_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Awaiting, LiveCases, testing::ValuesIn(awaiting_cases()),
                         [](const auto& info) { return info.param.name; });

std::size_t pods_in(const ImportedObjects& made) { return made.line["pods"].size(); }

TEST(KubernetesTemplates, MissingPodsJoinTheGangOfThoseThatExist) {
  const LiveCase ray = live_cases().back();
  std::vector<Json> items = {ray.owner, ray.groups[0], ray.pods[0], ray.pods[2]};
  const ImportedObjects made = imported(items, kExpand);
  EXPECT_EQ(pods_in(made), 3U);
  for (const Json& one : made.line["pods"]) EXPECT_EQ(one["gang"], "team/ray-ray-pg") << one.dump();
}

TEST(KubernetesTemplates, OfAnObjectWhoseControllerHasMadeItNothingIsMadeTwice) {
  const Json jobs = {{"replicatedJobs",
                      {{{"name", "node"},
                        {"template",
                         {{"metadata", {{"labels", {{"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}}}}},
                          {"spec", {{"template", template_of("1")}}}}}}}}};
  const Json runtime = object("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", "torch",
                              {{"mlPolicy", {{"numNodes", 1}}}, {"template", {{"spec", jobs}}}});
  const Json train = maker("trainer.kubeflow.org/v1alpha1", "TrainJob", "fine",
                           {{"runtimeRef", {{"name", "torch"}}}, {"trainer", {{"numNodes", 3}}}});
  EXPECT_EQ(pods_in(imported({train, runtime}, kExpand)), 3U);
  const ImportedObjects unknown = imported({train}, kExpand);
  EXPECT_EQ(pods_in(unknown), 0U);
  EXPECT_TRUE(
      unknown.says("TrainJob cannot be expanded: its runtime, ClusterTrainingRuntime torch, is not in the input"));
  Json set = owned_by(maker("jobset.x-k8s.io/v1alpha2", "JobSet", "fine", jobs), "TrainJob", "fine");
  set["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = 3;
  EXPECT_EQ(pods_in(imported({train, runtime, set}, kExpand)), 3U);
  const Json there = labelled(labelled(labelled(owned_by(pod("fine-node-0-0-x", spec_of("1")), "Job", "fine-node-0"),
                                                "jobset.sigs.k8s.io/jobset-name", "fine"),
                                       "jobset.sigs.k8s.io/replicatedjob-name", "node"),
                              "jobset.sigs.k8s.io/job-index", "0");
  EXPECT_EQ(pods_in(imported({train, runtime, set, there}, kExpand)), 3U) << "known by its labels";
}

TEST(KubernetesTemplates, AnAutoscalerIsAContainerOfTheHead) {
  Json ray = maker("ray.io/v1", "RayCluster", "ray",
                   {{"enableInTreeAutoscaling", true}, {"headGroupSpec", {{"template", template_of("1")}}}});
  EXPECT_EQ(imported({ray}, kExpand).pod("team/ray-head-0")["resources"]["cpu"], "500m");
  ray["spec"]["autoscalerOptions"]["resources"]["requests"]["cpu"] = "2";
  EXPECT_EQ(imported({ray}, kExpand).pod("team/ray-head-0")["resources"]["cpu"], 2);
}

TEST(KubernetesTemplates, TheTrainJobsResourcesReplaceThoseOfItsNode) {
  const Json jobs = {{"replicatedJobs",
                      {{{"name", "node"},
                        {"template",
                         {{"metadata", {{"labels", {{"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}}}}},
                          {"spec", {{"template", template_of("1")}}}}}}}}};
  const Json runtime =
      maker("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", "torch", {{"template", {{"spec", jobs}}}});
  Json train = maker("trainer.kubeflow.org/v1alpha1", "TrainJob", "fine",
                     {{"runtimeRef", {{"name", "torch"}, {"kind", "TrainingRuntime"}}},
                      {"trainer", {{"resourcesPerNode", {{"limits", {{"nvidia.com/gpu", "4"}}}}}}}});
  EXPECT_EQ(imported({train, runtime}, kExpand).pod("team/fine-node-0-0")["gpu"]["count"], 4);
}

Json kata() {
  Json made = object("node.k8s.io/v1", "RuntimeClass", "kata", Json::object());
  made["overhead"]["podFixed"] = {{"cpu", "250m"}};
  made["scheduling"] = {{"nodeSelector", {{"runtime", "kata"}}},
                        {"tolerations", {{{"key", "kata"}, {"operator", "Exists"}}}}};
  return made;
}

TEST(KubernetesTemplates, AdmissionAddsWhatTheRuntimeClassSays) {
  Json web = maker("apps/v1", "Deployment", "web", {{"template", template_of("1")}});
  Json& spec = web["spec"]["template"]["spec"];
  spec["runtimeClassName"] = "kata";
  spec["nodeSelector"] = {{"zone", "a"}};
  spec["tolerations"] = {{{"key", "own"}, {"operator", "Exists"}}};
  const Json made = imported({web, kata()}, kExpand).pod("team/web-0");
  EXPECT_EQ(made["resources"]["cpu"], "250m");
  EXPECT_EQ(made["nodeSelector"], Json({{"runtime", "kata"}, {"zone", "a"}}));
  EXPECT_EQ(made["tolerations"].size(), 2U);
  spec["nodeSelector"] = {{"runtime", "runc"}};
  EXPECT_TRUE(imported({web, kata()}, kExpand).says("contradicts that of its RuntimeClass"));
  spec["runtimeClassName"] = "gvisor";
  EXPECT_TRUE(imported({web, kata()}, kExpand).says("\"gvisor\" is no RuntimeClass of the input"));
  EXPECT_TRUE(imported({web}, kExpand).says("runtimeClassName \"gvisor\": no RuntimeClass is in the input"));
}

TEST(KubernetesTemplates, PodsThatExistHaveWhatAdmissionAddedAlready) {
  Json live = pod("p", spec_of("1"));
  live["spec"]["runtimeClassName"] = "kata";
  EXPECT_FALSE(imported({live, kata()}).pod("team/p")["resources"].contains("cpu"));
  KubernetesOptions created = kExpand;
  created.expand_only = {"Pod team/p"};
  EXPECT_EQ(imported({live, kata()}, created).pod("team/p")["resources"]["cpu"], "250m");
}

TEST(KubernetesTemplates, NewPodsHaveThePreemptionPolicyOfTheirClass) {
  Json polite = object("scheduling.k8s.io/v1", "PriorityClass", "polite", Json::object());
  polite["value"] = 7;
  polite["preemptionPolicy"] = "Never";
  Json web = maker("apps/v1", "Deployment", "web", {{"template", template_of("1")}});
  web["spec"]["template"]["spec"]["priorityClassName"] = "polite";
  EXPECT_EQ(imported({web, polite}, kExpand).pod("team/web-0")["preemptionPolicy"], "Never");
}

TEST(KubernetesTemplates, AKindThatIsNotKnownCannotBeExpanded) {
  const Json flow = in_namespace(object("argoproj.io/v1alpha1", "Workflow", "flow", Json::object()));
  const Json service = in_namespace(object("v1", "Service", "svc", Json::object()));
  const ImportedObjects made = imported({flow, service}, kExpand);
  EXPECT_TRUE(
      made.says("Workflow cannot be expanded: Muster does not know which pods it makes; first: Workflow team/flow"));
  EXPECT_FALSE(made.says("Service cannot be expanded"));
  EXPECT_FALSE(imported({flow}).says("cannot be expanded"));
}

}  // namespace
}  // namespace muster::kubernetes
