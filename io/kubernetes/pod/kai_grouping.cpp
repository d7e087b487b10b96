#include "io/kubernetes/pod/kai_grouping.h"

#include <algorithm>
#include <array>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kJobSet = "JobSet", kLeaderWorkerSet = "LeaderWorkerSet";

constexpr std::array<std::string_view, 10> kTogether = {"PyTorchJob", "TFJob",         "XGBoostJob", "JAXJob",
                                                        "MPIJob",     "RayCluster",    "RayJob",     "RayService",
                                                        kJobSet,      kLeaderWorkerSet};

// Those whose pods each have a group.
constexpr std::array<std::string_view, 3> kAlone = {"Job", "Deployment", "Pod"};

// Those that KAI passes over: what they own counts.
constexpr std::array<std::string_view, 8> kPassedOver = {"Workflow",
                                                         "TrainJob",
                                                         "TrainingWorkload",
                                                         "InteractiveWorkload",
                                                         "DistributedWorkload",
                                                         "InferenceWorkload",
                                                         "DistributedInferenceWorkload",
                                                         "DynamoGraphDeployment"};

template <std::size_t N>
bool is_any(std::string_view kind, const std::array<std::string_view, N>& kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

std::string_view label_of(const KubernetesPod& pod, std::string_view key) {
  for (const auto& [added, value] : pod.labels.added) {
    if (added == key) return value;
  }
  if (!pod.labels.own) return {};
  for (const json::JsonMember label : pod.labels.own.members()) {
    if (label.key == key) return label.value.is(json::JsonKind::kString) ? label.value.string() : std::string_view();
  }
  return {};
}

// If the objects between are not in the list, labels tell.
ObjectName top_of(const KubernetesPod& pod) {
  const PodOwner& owner = pod.owner;
  if (owner.top.kind != owner.kind) return owner.top;
  const bool is_of_job = owner.kind == "Job", is_of_set = owner.kind == "StatefulSet";
  if (!is_of_job && !is_of_set) return owner.top;
  const std::string_view name =
      label_of(pod, is_of_job ? "jobset.sigs.k8s.io/jobset-name" : "leaderworkerset.sigs.k8s.io/name");
  return name.empty() ? owner.top : ObjectName{is_of_job ? kJobSet : kLeaderWorkerSet, name};
}

// Of the groups that one owner has, by the label that tells them apart.
std::string_view part_of(const KubernetesPod& pod, std::string_view kind) {
  if (kind == kJobSet) return label_of(pod, "jobset.sigs.k8s.io/replicatedjob-name");
  if (kind == kLeaderWorkerSet) return label_of(pod, "leaderworkerset.sigs.k8s.io/group-index");
  return {};
}

}  // namespace

GroupReference kai_group_of(const KubernetesPod& pod) {
  const GroupReference alone{GroupSystem::kKaiPod, pod.name, {}, {}};
  const PodOwner& owner = pod.owner;
  auto [kind, name] = top_of(pod);
  // Of a CronJob, each Job has a group of its own.
  if (is_any(kind, kPassedOver) || (kind == "CronJob" && owner.kind == "Job")) {
    if (kind == owner.kind) return alone;
    if (kind != "CronJob" && is_any(owner.kind, kAlone)) return alone;
    kind = owner.kind;
    name = owner.name;
  } else if (is_any(kind, kAlone)) {
    return alone;
  }
  if (kind.empty() || name.empty()) return alone;
  return {GroupSystem::kKaiOwner, name, kind, part_of(pod, kind)};
}

bool starts_together(std::string_view owner_kind) { return is_any(owner_kind, kTogether); }

std::string_view kai_priority_class(const PodOwner& owner) {
  if (owner.top.kind == "Deployment") return "inference";
  return owner.top.kind == "Notebook" ? "build" : "train";
}

}  // namespace muster::kubernetes
