// The outermost owner of a pod, as far as the objects of the list tell.
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json owner_of_pod(const char* api_version, const char* kind, const char* name) {
  return in_namespace(object(api_version, kind, name, {{"replicas", 1}}));
}

Json owned_pod(Json made, const char* kind, const char* name) {
  made["metadata"]["ownerReferences"] = Json::array({{{"kind", kind}, {"name", name}, {"controller", true}}});
  return made;
}

// Of the pod `p`.
std::string owner_in(const std::vector<Json>& items) {
  const ImportedObjects all = imported(items);
  const Json& made = all.pod("team/p");
  return made.contains("owner") ? std::string(made["owner"]) : "";
}

TEST(KubernetesPodOwners, AreThoseThatControl) {
  EXPECT_EQ(owner_in({pod("p")}), "");
  EXPECT_EQ(owner_in({owned_pod(pod("p"), "PyTorchJob", "train")}), "PyTorchJob/train");
  Json two = owned_pod(pod("p"), "Job", "train");
  two["metadata"]["ownerReferences"].insert(two["metadata"]["ownerReferences"].begin(),
                                            Json{{"kind", "Ticket"}, {"name", "t"}});
  EXPECT_EQ(owner_in({two}), "Job/train");
}

TEST(KubernetesPodOwners, AreTheLastOfTheChain) {
  const Json made = owned_pod(pod("p"), "ReplicaSet", "web-6d4b");
  const Json set = owned_pod(owner_of_pod("apps/v1", "ReplicaSet", "web-6d4b"), "Deployment", "web");
  EXPECT_EQ(owner_in({made, set, owner_of_pod("apps/v1", "Deployment", "web")}), "Deployment/web");
  EXPECT_EQ(owner_in({made, set}), "Deployment/web") << "which is not in the list itself";
  EXPECT_EQ(owner_in({made}), "ReplicaSet/web-6d4b");
  EXPECT_EQ(owner_in({labelled(made, "pod-template-hash", "6d4b")}), "Deployment/web") << "by the name";
  const Json job = owned_pod(owner_of_pod("batch/v1", "Job", "night-1"), "CronJob", "night");
  EXPECT_EQ(owner_in({owned_pod(pod("p"), "Job", "night-1"), job}), "CronJob/night");
  Json in_other = job;
  in_other["metadata"]["namespace"] = "other";
  EXPECT_EQ(owner_in({owned_pod(pod("p"), "Job", "night-1"), in_other}), "Job/night-1");
}

TEST(KubernetesPodOwners, OfACircleAreAnyOfIt) {
  const Json job = owned_pod(owner_of_pod("batch/v1", "Job", "a"), "ReplicaSet", "b");
  const Json set = owned_pod(owner_of_pod("apps/v1", "ReplicaSet", "b"), "Job", "a");
  EXPECT_NE(owner_in({owned_pod(pod("p"), "Job", "a"), job, set}), "");
}

TEST(KubernetesPodOwners, ThatHaveNoNameAreNone) {
  EXPECT_EQ(owner_in({owned_pod(pod("p"), "", "train")}), "");
  EXPECT_EQ(owner_in({owned_pod(pod("p"), "Job", "a/b")}), "") << "what the format would refuse";
}

TEST(KubernetesPodOwners, OfPodsThatTemplatesMakeAreTheirObjects) {
  Json job = owned_pod(owner_of_pod("batch/v1", "Job", "sweep"), "JobSet", "set");
  job["spec"]["template"]["spec"]["containers"] = Json::array();
  EXPECT_EQ(imported({job}, {.expand = true}).pod("team/sweep-0")["owner"], "JobSet/set");
}

}  // namespace
}  // namespace muster::kubernetes
