// Pods that templates ask for and that are not there yet.
#include <algorithm>
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

constexpr KubernetesOptions kExpand{.expand = true, .time = {}};

Json template_of(const char* cpu = "1") {
  return {{"metadata", {{"labels", {{"app", "web"}}}}},
          {"spec", {{"priority", 7}, {"containers", Json::array({{{"resources", {{"requests", {{"cpu", cpu}}}}}}})}}}};
}

Json owner(const char* api_version, const char* kind, const char* name, Json spec) {
  return in_namespace(object(api_version, kind, name, std::move(spec)));
}

Json owned(Json made, const char* kind, const char* name) {
  made["metadata"]["ownerReferences"] = Json::array({{{"kind", kind}, {"name", name}, {"controller", true}}});
  return made;
}

std::vector<std::string> names_of(const ImportedObjects& made) {
  std::vector<std::string> names;
  for (const Json& one : made.line["pods"]) names.push_back(one["name"]);
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(KubernetesExpand, MakesThePodsOfADeployment) {
  const Json web = owner("apps/v1", "Deployment", "web", {{"replicas", 2}, {"template", template_of("500m")}});
  const auto made = imported({web}, kExpand);
  EXPECT_EQ(names_of(made), (Names{"team/web-0", "team/web-1"}));
  Json one = made.pod("team/web-0");
  EXPECT_EQ(one["resources"], Json({{"cpu", "500m"}}));
  EXPECT_EQ(one["labels"]["app"], "web");
  EXPECT_EQ(one["priority"], 7);
  EXPECT_FALSE(one.contains("status"));
  EXPECT_FALSE(made.says("is ignored"));
}

TEST(KubernetesExpand, WithoutBeingAskedNothingIsMade) {
  const auto made = imported({owner("apps/v1", "Deployment", "web", {{"template", template_of()}})});
  EXPECT_EQ(names_of(made), Names{});
  EXPECT_TRUE(made.says("Deployment is ignored"));
}

TEST(KubernetesExpand, CountsThePodsThatAreThereByTheChainOfOwners) {
  const Json web = owner("apps/v1", "Deployment", "web", {{"replicas", 4}, {"template", template_of()}});
  const Json set = owned(owner("apps/v1", "ReplicaSet", "web-6d4b", {{"replicas", 4}, {"template", template_of()}}),
                         "Deployment", "web");
  Json there = owned(labelled(running(pod("web-6d4b-x"), "n"), "pod-template-hash", "6d4b"), "ReplicaSet", "web-6d4b");
  Json finished = owned(pod("web-6d4b-y"), "ReplicaSet", "web-6d4b");
  finished["status"]["phase"] = "Failed";
  Json leaving = owned(pod("web-6d4b-z"), "ReplicaSet", "web-6d4b");
  leaving["metadata"]["deletionTimestamp"] = "2026-03-01T10:00:00Z";
  const Names expected = {"team/web-0", "team/web-1", "team/web-2", "team/web-6d4b-x", "team/web-6d4b-y"};
  EXPECT_EQ(names_of(imported({node("n"), web, set, there, finished, leaving}, kExpand)), expected);
  // Without its ReplicaSet, too: its name determines the Deployment.
  Json hashed = labelled(finished, "pod-template-hash", "6d4b");
  EXPECT_EQ(names_of(imported({node("n"), there, hashed, web}, kExpand)), expected);
}

TEST(KubernetesExpand, MakesTheOrdinalsOfAStatefulSetThatAreMissing) {
  const Json set = owner("apps/v1", "StatefulSet", "db",
                         {{"replicas", 3}, {"ordinals", {{"start", 5}}}, {"template", template_of()}});
  const auto made = imported({set, owned(pod("db-6"), "StatefulSet", "db")}, kExpand);
  EXPECT_EQ(names_of(made), (Names{"team/db-5", "team/db-6", "team/db-7"}));
  EXPECT_EQ(made.pod("team/db-7")["labels"]["statefulset.kubernetes.io/pod-name"], "db-7");
  EXPECT_EQ(made.pod("team/db-7")["labels"]["app"], "web");
}

TEST(KubernetesExpand, MakesWhatAJobStillNeeds) {
  const struct {
    Json spec, status;
    std::size_t active, made;
  } cases[] = {{{}, {}, 0, 1},
               {{{"parallelism", 3}}, {}, 0, 3},
               {{{"parallelism", 3}}, {}, 1, 2},
               {{{"parallelism", 3}}, {{"succeeded", 1}}, 0, 0},
               {{{"parallelism", 0}}, {}, 0, 0},
               {{{"parallelism", 3}, {"completions", 5}}, {}, 0, 3},
               {{{"parallelism", 3}, {"completions", 5}}, {{"succeeded", 4}}, 0, 1},
               {{{"completions", 5}}, {{"succeeded", 4}}, 1, 0},
               {{{"parallelism", 3}}, {{"conditions", {{{"type", "Failed"}, {"status", "True"}}}}}, 0, 0},
               {{{"parallelism", 3}}, {{"conditions", {{{"type", "Failed"}, {"status", "False"}}}}}, 0, 3}};
  for (const auto& [spec, status, active, count] : cases) {
    Json job = owner("batch/v1", "Job", "train", spec.is_null() ? Json::object() : spec);
    job["spec"]["template"] = template_of();
    if (!status.is_null()) job["status"] = status;
    std::vector<Json> items = {job};
    for (std::size_t i = 0; i < active; ++i) {
      items.push_back(owned(pod(("train-x" + std::to_string(i)).c_str()), "Job", "train"));
    }
    EXPECT_EQ(names_of(imported(items, kExpand)).size(), active + count) << job.dump();
  }
}

TEST(KubernetesExpand, PodsOfASuspendedJobAreGated) {
  Json job = owner("batch/v1", "Job", "train", {{"parallelism", 2}, {"suspend", true}, {"template", template_of()}});
  const auto made = imported({job}, kExpand);
  EXPECT_EQ(made.line["pods"].size(), 2U);
  EXPECT_EQ(made.pod("team/train-1")["status"], "gated");
}

TEST(KubernetesExpand, PodsOfATemplateJoinItsGang) {
  Json job = owner("batch/v1", "Job", "train", {{"parallelism", 2}, {"template", template_of()}});
  job["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "gang";
  const Json group = in_namespace(object("scheduling.x-k8s.io/v1alpha1", "PodGroup", "gang", {{"minMember", 2}}));
  EXPECT_EQ(imported({job, group}, kExpand).pod("team/train-0")["gang"], "team/gang");
}

Json leader_workers(int replicas, int size) {
  return owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "llm",
               {{"replicas", replicas},
                {"leaderWorkerTemplate",
                 {{"size", size}, {"leaderTemplate", template_of("2")}, {"workerTemplate", template_of("1")}}}});
}

TEST(KubernetesExpand, MakesGroupsOfALeaderAndWorkers) {
  const auto made = imported({leader_workers(2, 3)}, kExpand);
  EXPECT_EQ(names_of(made),
            (Names{"team/llm-0", "team/llm-0-1", "team/llm-0-2", "team/llm-1", "team/llm-1-1", "team/llm-1-2"}));
  EXPECT_EQ(made.pod("team/llm-0")["resources"]["cpu"], 2);
  EXPECT_EQ(made.pod("team/llm-1-2")["resources"]["cpu"], 1);
  EXPECT_EQ(made.pod("team/llm-1-2")["labels"]["leaderworkerset.sigs.k8s.io/worker-index"], "2");
  EXPECT_FALSE(made.pod("team/llm-1-2").contains("gang"));
}

TEST(KubernetesExpand, GroupsAreGangsWhereAnAnnotationSaysSo) {
  Json set = leader_workers(2, 3);
  set["metadata"]["annotations"]["scheduling.volcano.sh/queue-name"] = "llm";
  const Json queue = object("scheduling.volcano.sh/v1beta1", "Queue", "llm", Json::object());
  const auto made = imported({set, queue}, kExpand);
  EXPECT_EQ(made.pod("team/llm-1")["gang"], "team/llm-1");
  EXPECT_EQ(made.pod("team/llm-1-2")["gang"], "team/llm-1");
  EXPECT_EQ(made.gang("team/llm-1")["minMember"], 3);
  EXPECT_EQ(made.gang("team/llm-1")["queue"], "llm");
  EXPECT_EQ(made.gang("team/llm-1")["minResources"], Json({{"cpu", 4}}));
  set["spec"]["startupPolicy"] = "LeaderReady";
  EXPECT_EQ(imported({set, queue}, kExpand).gang("team/llm-0")["minMember"], 1);
}

TEST(KubernetesExpand, WorkersThatAreMissingJoinTheGangOfTheirLeader) {
  const Json leader = annotated(running(pod("llm-0"), "n"), "scheduling.k8s.io/group-name", "llm-0-6c67");
  const Json group =
      in_namespace(object("scheduling.volcano.sh/v1beta1", "PodGroup", "llm-0-6c67", {{"minMember", 1}}));
  const Json set = owned(owner("apps/v1", "StatefulSet", "llm", {{"replicas", 1}, {"template", template_of()}}),
                         "LeaderWorkerSet", "llm");
  const auto made = imported({node("n"), leader, group, set, leader_workers(2, 2)}, kExpand);
  EXPECT_EQ(names_of(made), (Names{"team/llm-0", "team/llm-0-1", "team/llm-1", "team/llm-1-1"}));
  EXPECT_EQ(made.pod("team/llm-0-1")["gang"], "team/llm-0-6c67");
  EXPECT_EQ(made.pod("team/llm-1-1")["gang"], "team/llm-1");
}

TEST(KubernetesExpand, AnExclusiveTopologyIsHeld) {
  Json set = leader_workers(1, 2);
  set["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/exclusive-topology"] = "rack";
  const auto made = imported({set}, kExpand);
  EXPECT_EQ(made.pod("team/llm-0-1")["status"], "gated");
  EXPECT_TRUE(made.says("exclusive-topology"));
}

TEST(KubernetesExpand, WhatCannotBeMadeIsRefused) {
  const auto refusal = [](const Json& one) {
    const auto made = import_kubernetes_text(list_of({one}), kExpand, {std::size_t{1} << 20, 64});
    EXPECT_FALSE(made) << one.dump();
    return made ? InputError{} : made.error();
  };
  EXPECT_EQ(error_code_text(refusal(owner("apps/v1", "Deployment", "web", Json::object())).code), "MissingKey");
  const Json huge = {{"replicas", 2'000'000'000}, {"template", template_of()}};
  for (const char* kind : {"Deployment", "ReplicaSet", "StatefulSet"}) {
    const InputError error = refusal(owner("apps/v1", kind, "web", huge));
    EXPECT_EQ(error_code_text(error.code), "TooLarge");
    EXPECT_EQ(error.message.find(std::string(kind) + " team/web: "), 0U) << error.message;
  }
  EXPECT_EQ(error_code_text(refusal(leader_workers(2'000'000'000, 2'000'000'000)).code), "TooLarge");
  EXPECT_EQ(error_code_text(
                refusal(owner("apps/v1", "Deployment", "web", {{"replicas", "2"}, {"template", template_of()}})).code),
            "WrongType");
  Json share = owner("apps/v1", "Deployment", "web", {{"template", template_of()}});
  share["spec"]["template"]["metadata"]["annotations"] = {{"gpu-fraction", "2"}};
  EXPECT_EQ(refusal(share).message.find("Deployment team/web: "), 0U);
}

TEST(KubernetesExpand, OwnersInACircleMakeNothing) {
  const Json one = owned(owner("apps/v1", "Deployment", "a", {{"template", template_of()}}), "Deployment", "b");
  const Json other = owned(owner("apps/v1", "Deployment", "b", {{"template", template_of()}}), "Deployment", "a");
  EXPECT_EQ(names_of(imported({one, other, owned(pod("p"), "Deployment", "a")}, kExpand)), Names{"team/p"});
}

}  // namespace
}  // namespace muster::kubernetes
