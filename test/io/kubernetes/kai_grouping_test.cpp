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
  const Json& one = all.pod("team/p");
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
  EXPECT_EQ(gangs_of_two("Job"), (Texts{"team/a", "team/b"}));
  EXPECT_EQ(gangs_of_two("Pod"), (Texts{"team/a", "team/b"}));
  for (const char* kind : {"PyTorchJob", "TFJob", "XGBoostJob", "JAXJob", "MPIJob", "RayCluster"}) {
    EXPECT_EQ(gangs_of_two(kind), (Texts{"team/o"})) << kind << ": of all its pods";
  }
  for (const char* kind : {"StatefulSet", "ReplicaSet", "Experiment"}) {
    EXPECT_EQ(gangs_of_two(kind), (Texts{"team/o 1"})) << kind << ": one group, each pod on its own";
  }
  EXPECT_EQ(gangs_of_two("Workflow"), (Texts{"team/a", "team/b"})) << "which KAI passes over";
  EXPECT_EQ(gangs_of_two("Job", {owned_by_job(job_owner("batch/v1", "Job", "o"), "Workflow", "w")}),
            (Texts{"team/a", "team/b"}));
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
  EXPECT_EQ(gangs_of(of_set("a", "work"), of_set("b", "work")), (Texts{"team/set/work"}));
  EXPECT_EQ(gangs_of(of_set("a", "lead"), of_set("b", "work")), (Texts{"team/set/lead", "team/set/work"}));
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
  EXPECT_EQ(made.gang("team/train-0")["queue"], "q");
  EXPECT_EQ(made.gang("team/train-1")["queue"], "q");
  const ImportedObjects set = imported({queue("q"), job_owner("apps/v1", "StatefulSet", "db")}, {.expand = true});
  EXPECT_EQ(set.pod("team/db-0")["gang"], "team/db");
  EXPECT_EQ(set.pod("team/db-1")["gang"], "team/db");
}

}  // namespace
}  // namespace muster::kubernetes
