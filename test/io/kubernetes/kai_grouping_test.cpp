// Pods of KAI that have no PodGroup yet: as its pod grouper is going to group them.
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

constexpr const char* kQueueLabel = "kai.scheduler/queue";

Json queue(const char* name) { return object("scheduling.run.ai/v2", "Queue", name, Json::object()); }

Json of_kai(const char* name) { return pod(name, {{"schedulerName", "kai-scheduler"}}); }

Json owned_by_job(Json made, const char* kind, const char* name) {
  made["metadata"]["ownerReferences"] = Json::array({{{"kind", kind}, {"name", name}, {"controller", true}}});
  return made;
}

Json job_owner(const char* api_version, const char* kind, const char* name, int pods = 2) {
  const Json containers = {{"spec", {{"schedulerName", "kai-scheduler"}, {"containers", Json::array()}}}};
  return in_namespace(
      object(api_version, kind, name, {{"replicas", pods}, {"parallelism", pods}, {"template", containers}}));
}

Json priority_class(const char* name, int value) {
  Json made = object("scheduling.k8s.io/v1", "PriorityClass", name, Json::object());
  made["value"] = value;
  return made;
}

// Of the pod `p`, with the queue `q`.
std::string queue_of(const Json& made, const std::vector<Json>& more = {}, const KubernetesOptions& options = {}) {
  std::vector<Json> items = {queue("q"), queue("other"), made};
  items.insert(items.end(), more.begin(), more.end());
  const ImportedObjects all = imported(items, options);
  const Json one = all.pod("team/p");
  return one.contains("gang") ? all.gang(std::string(one["gang"]))["queue"] : one["queue"];
}

TEST(KubernetesKaiGrouping, TakesTheQueueOfTheLabel) {
  EXPECT_EQ(queue_of(labelled(of_kai("p"), kQueueLabel, "q")), "q");
  EXPECT_EQ(queue_of(labelled(of_kai("p"), "runai/queue", "q")), "q");
  EXPECT_EQ(queue_of(labelled(pod("p"), kQueueLabel, "q")), "q") << "whatever the scheduler";
  EXPECT_EQ(queue_of(labelled(of_kai("p"), kQueueLabel, "gone")), "gone") << "which KAI does not place either";
  EXPECT_EQ(queue_of(labelled(pod("p"), kQueueLabel, "gone")), "default") << "nothing tells that it is a pod of KAI";
  EXPECT_EQ(queue_of(of_kai("p")), "default");
  EXPECT_EQ(queue_of(of_kai("p"), {queue("default-queue")}), "default-queue");
  EXPECT_EQ(queue_of(pod("p"), {queue("default-queue")}), "default");
}

TEST(KubernetesKaiGrouping, TakesTheLabelOfTheOwnerFirst) {
  const Json made = owned_by_job(labelled(of_kai("p"), kQueueLabel, "q"), "Job", "train");
  EXPECT_EQ(queue_of(made, {job_owner("batch/v1", "Job", "train")}), "q");
  EXPECT_EQ(queue_of(made, {labelled(job_owner("batch/v1", "Job", "train"), kQueueLabel, "other")}), "other");
  const Json unlabelled = owned_by_job(of_kai("p"), "Job", "train");
  EXPECT_EQ(queue_of(unlabelled, {labelled(job_owner("batch/v1", "Job", "train"), kQueueLabel, "other")}), "other");
}

TEST(KubernetesKaiGrouping, KnowsTheNamesOfAConfiguration) {
  KubernetesOptions options;
  options.kai_queue_label = "team/queue";
  options.kai_scheduler = "night-shift";
  EXPECT_EQ(queue_of(labelled(pod("p"), "team/queue", "q"), {}, options), "q");
  EXPECT_EQ(queue_of(labelled(pod("p"), kQueueLabel, "q"), {}, options), "default");
  EXPECT_EQ(queue_of(pod("p", {{"schedulerName", "night-shift"}}), {queue("default-queue")}, options), "default-queue");
  EXPECT_EQ(queue_of(of_kai("p"), {queue("default-queue")}, options), "default");
}

TEST(KubernetesKaiGrouping, LeavesPodsWithAGroupAndFixedPods) {
  const Json group = in_namespace(object("scheduling.run.ai/v2alpha2", "PodGroup", "g", {{"queue", "other"}}));
  const Json grouped = annotated(labelled(of_kai("p"), kQueueLabel, "q"), "pod-group-name", "g");
  EXPECT_EQ(queue_of(grouped, {group}), "other");
  const Json fixed = owned_by_job(labelled(of_kai("p"), kQueueLabel, "q"), "DaemonSet", "agent");
  EXPECT_EQ(queue_of(fixed), "default");
}

// The gangs of two pods of one owner, and their minimum: "team/a 1".
std::vector<std::string> gangs_of(const Json& a, const Json& b, const std::vector<Json>& more = {}) {
  std::vector<Json> items = {a, b};
  items.insert(items.end(), more.begin(), more.end());
  const ImportedObjects made = imported(items);
  std::vector<std::string> texts;
  for (const Json& gang : made.line["gangs"]) {
    texts.push_back(gang["name"]);
    if (gang.contains("minMember")) texts.back() += " " + gang["minMember"].dump();
  }
  return texts;
}
std::vector<std::string> gangs_of_two(const char* kind, const std::vector<Json>& more = {}) {
  return gangs_of(owned_by_job(of_kai("a"), kind, "o"), owned_by_job(of_kai("b"), kind, "o"), more);
}

using Texts = std::vector<std::string>;

TEST(KubernetesKaiGrouping, MakesTheGangsThatKaiMakes) {
  EXPECT_EQ(gangs_of(of_kai("a"), of_kai("b")), (Texts{"team/a", "team/b"}));
  EXPECT_EQ(gangs_of_two("Job"), (Texts{"team/o 1"}));
  EXPECT_EQ(gangs_of_two("Pod"), (Texts{"team/a", "team/b"}));
  for (const char* kind : {"PyTorchJob", "TFJob", "XGBoostJob", "JAXJob", "MPIJob", "RayCluster"}) {
    EXPECT_EQ(gangs_of_two(kind), (Texts{"team/o"})) << kind << ": of all its pods";
  }
  for (const char* kind : {"StatefulSet", "ReplicaSet", "Experiment"}) {
    EXPECT_EQ(gangs_of_two(kind), (Texts{"team/o 1"})) << kind << ": one group, each pod on its own";
  }
  EXPECT_EQ(gangs_of_two("Workflow"), (Texts{"team/a", "team/b"})) << "which KAI passes over";
  EXPECT_EQ(gangs_of_two("Job", {owned_by_job(job_owner("batch/v1", "Job", "o"), "Workflow", "w")}),
            (Texts{"team/o 1"}));
  EXPECT_EQ(gangs_of_two("Job", {owned_by_job(job_owner("batch/v1", "Job", "o"), "CronJob", "c")}),
            (Texts{"team/o 1"}));
  EXPECT_EQ(gangs_of_two("Job", {owned_by_job(job_owner("batch/v1", "Job", "o"), "MPIJob", "mpi")}),
            (Texts{"team/mpi"}));
  EXPECT_EQ(gangs_of_two("ReplicaSet", {owned_by_job(job_owner("apps/v1", "ReplicaSet", "o"), "Deployment", "web")}),
            (Texts{"team/a", "team/b"}));
}

TEST(KubernetesKaiGrouping, TellsThePartsOfAnOwnerApart) {
  const auto of_set = [](const char* name, const char* part) {
    return labelled(labelled(owned_by_job(of_kai(name), "Job", name), "jobset.sigs.k8s.io/jobset-name", "set"),
                    "jobset.sigs.k8s.io/replicatedjob-name", part);
  };
  EXPECT_EQ(gangs_of(of_set("a", "lead"), of_set("b", "work")), (Texts{"team/set"})) << "of all its pods";
  const auto of_workers = [](const char* name, const char* index) {
    return labelled(
        labelled(owned_by_job(of_kai(name), "StatefulSet", "llm"), "leaderworkerset.sigs.k8s.io/name", "llm"),
        "leaderworkerset.sigs.k8s.io/group-index", index);
  };
  EXPECT_EQ(gangs_of(of_workers("a", "0"), of_workers("b", "1")), (Texts{"team/llm/0", "team/llm/1"}));
}

TEST(KubernetesKaiGrouping, KeepsOwnersOfOneNameApart) {
  EXPECT_EQ(gangs_of(owned_by_job(of_kai("a"), "TFJob", "o"), owned_by_job(of_kai("b"), "PyTorchJob", "o")),
            (Texts{"team/o", "team/o@PyTorchJob"}));
  EXPECT_EQ(gangs_of(owned_by_job(of_kai("a"), "TFJob", "b"), of_kai("b")), (Texts{"team/b", "team/b@pod"}));
}

TEST(KubernetesKaiGrouping, GivesPrioritiesAsKai) {
  const auto gang = [](const Json& made, const std::vector<Json>& more = {}) {
    std::vector<Json> items = {priority_class("high", 200), made};
    items.insert(items.end(), more.begin(), more.end());
    return imported(items).gang("team/p");
  };
  Json unranked = of_kai("p");
  unranked["spec"]["priority"] = 0;  // as kube-apiserver writes it
  EXPECT_EQ(gang(unranked)["priority"], 50);
  EXPECT_EQ(gang(unranked)["preemptible"], true);
  EXPECT_EQ(gang(unranked, {priority_class("train", 40)})["priority"], 40);
  Json ranked = of_kai("p");
  ranked["spec"]["priorityClassName"] = "high";
  EXPECT_EQ(gang(ranked)["priority"], 200);
  EXPECT_EQ(gang(ranked)["preemptible"], false);
  const Json web = labelled(owned_by_job(of_kai("p"), "ReplicaSet", "web-6d4b"), "pod-template-hash", "6d4b");
  EXPECT_EQ(gang(web, {priority_class("inference", 125)})["priority"], 125);
}

TEST(KubernetesKaiGrouping, CountsForPodsThatTemplatesMake) {
  const Json job = labelled(job_owner("batch/v1", "Job", "train"), kQueueLabel, "q");
  const ImportedObjects made = imported({queue("q"), job}, {.expand = true});
  EXPECT_EQ(made.gang("team/train")["queue"], "q");
  EXPECT_EQ(made.pod("team/train-1")["gang"], "team/train");
  const ImportedObjects set = imported({queue("q"), job_owner("apps/v1", "StatefulSet", "db")}, {.expand = true});
  EXPECT_EQ(set.pod("team/db-0")["gang"], "team/db");
  EXPECT_EQ(set.pod("team/db-1")["gang"], "team/db");
}

// The gang of the pods of a Job that templates make.
Json gang_of_job(const Json& job, const std::vector<Json>& more = {}) {
  std::vector<Json> items = {queue("default-queue"), job};
  items.insert(items.end(), more.begin(), more.end());
  return imported(items, {.expand = true}).gang("team/train");
}
Json train_job(int pods = 3) { return job_owner("batch/v1", "Job", "train", pods); }

TEST(KubernetesKaiGrouping, AnAnnotationOfAJobIsItsMinimum) {
  EXPECT_EQ(gang_of_job(train_job())["minMember"], 1);
  EXPECT_EQ(gang_of_job(annotated(train_job(), "kai.scheduler/batch-min-member", "2"))["minMember"], 2);
  const ImportedObjects odd =
      imported({annotated(train_job(), "kai.scheduler/batch-min-member", "two")}, {.expand = true});
  EXPECT_EQ(odd.pod("team/train-0")["status"], "gated");
  EXPECT_TRUE(odd.says("annotation kai.scheduler/batch-min-member \"two\" must be a whole number"));
}

TEST(KubernetesKaiGrouping, AnnotationsOfTheOwnerAreItsTopology) {
  const Json topology = object("kai.scheduler/v1alpha1", "Topology", "t",
                               Json::parse(R"({"levels":[{"nodeLabel":"block"},{"nodeLabel":"rack"}]})"));
  Json job = annotated(train_job(), "kai.scheduler/topology", "t");
  job = annotated(annotated(job, "kai.scheduler/topology-required-placement", "rack"),
                  "kai.scheduler/topology-preferred-placement", "block");
  const Json gang = gang_of_job(job, {topology});
  EXPECT_EQ(gang["topology"]["required"], "rack") << gang.dump();
  EXPECT_EQ(gang["topology"]["preferred"], "block");
  const ImportedObjects unknown = imported({job}, {.expand = true});
  EXPECT_EQ(unknown.pod("team/train-0")["status"], "gated");
  EXPECT_TRUE(unknown.says("ask for the topology level \"rack\""));
  const Json alone = annotated(annotated(of_kai("p"), "kai.scheduler/topology", "t"),
                               "kai.scheduler/topology-required-placement", "rack");
  EXPECT_EQ(imported({topology, alone}).gang("team/p")["topology"]["required"], "rack") << "a pod is its own owner";
}

TEST(KubernetesKaiGrouping, LabelsOfOwnersAndPodsSetPriorityAndPreemptibility) {
  const std::vector<Json> classes = {priority_class("high", 200), priority_class("low", 20)};
  EXPECT_EQ(gang_of_job(labelled(train_job(), "priorityClassName", "low"), classes)["priority"], 20);
  EXPECT_EQ(gang_of_job(labelled(train_job(), "priorityClassName", "gone"), classes)["priority"], 50)
      << "KAI takes no class that does not exist";
  Json templated = train_job();
  templated["spec"]["template"]["metadata"]["labels"]["priorityClassName"] = "high";
  EXPECT_EQ(gang_of_job(templated, classes)["priority"], 200);
  EXPECT_EQ(gang_of_job(templated, classes)["preemptible"], false);
  templated["spec"]["template"]["metadata"]["labels"]["kai.scheduler/preemptibility"] = "preemptible";
  EXPECT_EQ(gang_of_job(templated, classes)["preemptible"], true);
  const char* key = "kai.scheduler/preemptibility";
  EXPECT_EQ(gang_of_job(labelled(train_job(), key, "non-preemptible"))["preemptible"], false);
  EXPECT_EQ(gang_of_job(labelled(train_job(), key, "semi-preemptible"))["disruption"], "surplus");
  EXPECT_EQ(gang_of_job(labelled(train_job(), key, "rarely"))["preemptible"], false) << "what is unknown protects";
}

TEST(KubernetesKaiGrouping, AnAnnotationDelaysPreemption) {
  const auto policy = [](const Json& delayed, const std::vector<Json>& more = {}) {
    std::vector<Json> items = more;
    items.push_back(delayed);
    KubernetesOptions options;
    options.time = *parse_instant("2026-09-01T08:00:00Z");
    const ImportedObjects made = imported(items, options);
    Json one = made.pod("team/p");
    return made.gang(std::string(one["gang"])).value("preemptionPolicy", "");
  };
  const auto delayed = [](const char* delay) {
    Json made = annotated(of_kai("p"), "kai.scheduler/preemption-delay", delay);
    made["metadata"]["creationTimestamp"] = "2026-09-01T07:59:30Z";
    return made;
  };
  EXPECT_EQ(policy(delayed("2m")), "Never");
  EXPECT_EQ(policy(delayed("20s")), "");
  EXPECT_EQ(policy(delayed("soon")), "") << "KAI ignores what is no duration";
  Json owned = owned_by_job(of_kai("p"), "Job", "train");
  owned["metadata"]["creationTimestamp"] = "2026-09-01T07:59:30Z";
  EXPECT_EQ(policy(owned, {annotated(train_job(), "kai.scheduler/preemption-delay", "1h")}), "Never");
}

TEST(KubernetesKaiGrouping, TheProjectAndTheNodePoolNameTheQueue) {
  EXPECT_EQ(queue_of(labelled(of_kai("p"), "project", "q")), "q");
  EXPECT_EQ(
      queue_of(labelled(labelled(of_kai("p"), "project", "q"), "kai.scheduler/node-pool", "b200"), {queue("q-b200")}),
      "q-b200");
  EXPECT_EQ(queue_of(labelled(labelled(of_kai("p"), "project", "other"), kQueueLabel, "q")), "q");
}

TEST(KubernetesKaiGrouping, TheNodePoolOfTheOwnerOrThePodHolds) {
  const auto pool_of = [](const Json& made, const std::vector<Json>& more = {}) {
    std::vector<Json> items = more;
    items.push_back(made);
    const Json pod = imported(items).pod("team/p");
    return pod["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]
              ["matchExpressions"][0]["values"][0];
  };
  EXPECT_EQ(pool_of(labelled(of_kai("p"), "kai.scheduler/node-pool", "a")), "a");
  const Json job = labelled(train_job(), "kai.scheduler/node-pool", "b");
  EXPECT_EQ(pool_of(owned_by_job(labelled(of_kai("p"), "kai.scheduler/node-pool", "a"), "Job", "train"), {job}), "b");
}

TEST(KubernetesKaiGrouping, LeavesPodsAloneThatAskForIt) {
  const ImportedObjects made = imported({annotated(of_kai("p"), "kai.scheduler/skip-podgrouper", "true")});
  EXPECT_EQ(made.pod("team/p")["status"], "gated") << "without a PodGroup KAI does not place it";
  EXPECT_TRUE(made.says("kai.scheduler/skip-podgrouper"));
}

// The subgroups of the gang `team/NAME`: "name parent minimum required".
Texts tree_of(const ImportedObjects& made, const char* gang) {
  Texts texts;
  const Json one = made.gang(gang);
  for (const Json& subgroup : one["subgroups"]) {
    std::string text = std::string(subgroup["name"]) + " " + subgroup.value("parent", "-") + " ";
    text += subgroup.contains("minMember") ? subgroup["minMember"].dump() : "of " + subgroup["minSubgroups"].dump();
    if (subgroup.contains("topology")) text += " " + subgroup["topology"].value("required", "");
    texts.push_back(text);
  }
  return texts;
}

TEST(KubernetesKaiGrouping, AGroupOfALeaderWorkerSetHasALeaderAndWorkers) {
  Json set = in_namespace(object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "llm", Json::parse(R"({"replicas":1,
      "leaderWorkerTemplate":{"size":4,"workerTemplate":{"spec":{"schedulerName":"kai-scheduler","containers":[]}}}})")));
  const auto tree = [&] { return tree_of(imported({set}, {.expand = true}), "team/llm/0"); };
  EXPECT_EQ(tree(), (Texts{"leader - 1", "workers - 3"}));
  set["spec"]["startupPolicy"] = "LeaderReady";
  EXPECT_EQ(tree(), (Texts{"leader - 1", "workers - 0"})) << "the workers come later";
  set["spec"]["startupPolicy"] = "LeaderCreated";
  set["spec"]["leaderWorkerTemplate"]["subGroupPolicy"]["subGroupSize"] = 2;
  EXPECT_EQ(tree(), (Texts{"segment-0 - of 2", "leader segment-0 1", "workers segment-0 1", "segment-1 - 2"}));
  const ImportedObjects made = imported({set}, {.expand = true});
  EXPECT_EQ(made.pod("team/llm-0")["subgroup"], "leader");
  EXPECT_EQ(made.pod("team/llm-0-1")["subgroup"], "workers");
  EXPECT_EQ(made.pod("team/llm-0-3")["subgroup"], "segment-1");
  set["spec"]["leaderWorkerTemplate"]["size"] = 5;
  set["spec"]["leaderWorkerTemplate"]["subGroupPolicy"]["subGroupPolicyType"] = "LeaderExcluded";
  EXPECT_EQ(tree(), (Texts{"leader - 1", "segment-0 - 2", "segment-1 - 2"}));
}

}  // namespace
}  // namespace muster::kubernetes
