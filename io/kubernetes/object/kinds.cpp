#include "io/kubernetes/object/kinds.h"

#include <array>
#include <cstddef>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kNoGroup = "pods that refer to one are held and not planned";
constexpr std::string_view kNoQueue = "gangs that name one of these queues are not planned";
constexpr std::string_view kNoOwner = "queues and expected durations that only these objects state are unknown";

constexpr std::size_t kAsked = 35;  // the first of the rows
constexpr std::array<KnownKind, kAsked + 20> kKnownKinds = {{
    {"", "Pod", " v1 ", KubernetesKind::kPod, true, "nothing is known to run or to wait"},
    {"", "Node", " v1 ", KubernetesKind::kNode, false, "nothing can be planned"},
    {"", "Namespace", " v1 ", KubernetesKind::kNamespace, false,
     "pods whose affinity selects namespaces by label are held and not planned"},
    {"scheduling.k8s.io", "PriorityClass", " v1 ", KubernetesKind::kPriorityClass, false,
     "groups that name a priority class have the default priority"},
    {"scheduling.k8s.io", "Workload", " v1alpha1 ", KubernetesKind::kWorkload, true, kNoGroup},
    {"scheduling.k8s.io", "PodGroup", " v1alpha2 v1alpha3 v1beta1 ", KubernetesKind::kPodGroup, true, kNoGroup},
    {"scheduling.run.ai", "PodGroup", " v2alpha2 ", KubernetesKind::kKaiGroup, true, kNoGroup},
    {"scheduling.run.ai", "Queue", " v2 ", KubernetesKind::kKaiQueue, false, kNoQueue},
    {"scheduling.run.ai", "BindRequest", " v1alpha2 ", KubernetesKind::kBindRequest, true,
     "pods that KAI is about to bind count as pending"},
    {"kai.scheduler", "Topology", " v1alpha1 ", KubernetesKind::kTopology, false,
     "groups that require a level of a topology are held and not planned"},
    {"kai.scheduler", "SchedulingShard", " v1 ", KubernetesKind::kKaiShard, false,
     "each node pool counts as one that a scheduler of KAI looks after, without default minimum run times"},
    {"scheduling.volcano.sh", "PodGroup", " v1beta1 ", KubernetesKind::kVolcanoGroup, true, kNoGroup},
    {"scheduling.volcano.sh", "Queue", " v1beta1 ", KubernetesKind::kVolcanoQueue, false, kNoQueue},
    {"scheduling.x-k8s.io", "PodGroup", " v1alpha1 ", KubernetesKind::kCoschedulingGroup, true,
     "pods of its groups count as independent pods"},
    {"scheduling.sigs.k8s.io", "PodGroup", " v1alpha1 ", KubernetesKind::kCoschedulingSigsGroup, true,
     "the minimum of its groups is what labels of their pods state"},
    {"scheduling.x-k8s.io", "ElasticQuota", " v1alpha1 ", KubernetesKind::kElasticQuota, true,
     "nothing tells whether a plan keeps quotas of namespaces"},
    {"apps", "Deployment", " v1 ", KubernetesKind::kDeployment, true, kNoOwner},
    {"apps", "ReplicaSet", " v1 ", KubernetesKind::kReplicaSet, true, kNoOwner},
    {"apps", "StatefulSet", " v1 ", KubernetesKind::kStatefulSet, true, kNoOwner},
    {"batch", "Job", " v1 ", KubernetesKind::kJob, true, kNoOwner},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", " v1 ", KubernetesKind::kLeaderWorkerSet, true, kNoOwner},
    {"kueue.x-k8s.io", "LocalQueue", " v1beta1 v1beta2 ", KubernetesKind::kLocalQueue, true,
     "each local queue counts as a queue without quota and limit"},
    {"kueue.x-k8s.io", "ClusterQueue", " v1beta1 v1beta2 ", KubernetesKind::kClusterQueue, false,
     "its queues count as queues without quota and limit"},
    {"kueue.x-k8s.io", "Cohort", " v1alpha1 v1beta1 v1beta2 ", KubernetesKind::kCohort, false,
     "cohorts have only the quotas of their queues"},
    {"kueue.x-k8s.io", "ResourceFlavor", " v1beta1 v1beta2 ", KubernetesKind::kResourceFlavor, false,
     "pods that Kueue has not admitted may go to any node"},
    {"kueue.x-k8s.io", "WorkloadPriorityClass", " v1beta1 v1beta2 ", KubernetesKind::kWorkloadPriorityClass, false,
     "pods that name one have their own priority, evict nothing, and are not evicted"},
    {"kueue.x-k8s.io", "Workload", " v1beta1 v1beta2 ", KubernetesKind::kKueueWorkload, true,
     "jobs that Kueue has suspended are planned from their templates, if at all, and priorities and expected durations "
     "that only these objects state are unknown"},
    {"", "PersistentVolume", " v1 ", KubernetesKind::kVolume, false,
     "bound volumes do not restrict the nodes of their pods"},
    {"", "PersistentVolumeClaim", " v1 ", KubernetesKind::kVolumeClaim, true,
     "volumes do not restrict the nodes of their pods"},
    {"storage.k8s.io", "StorageClass", " v1 ", KubernetesKind::kStorageClass, false,
     "pods with a claim that is not bound are held and not planned"},
    {"storage.k8s.io", "CSINode", " v1 ", KubernetesKind::kCsiNode, false,
     "limits on the volumes of a node do not count"},
    {"policy", "PodDisruptionBudget", " v1 ", KubernetesKind::kDisruptionBudget, true,
     "the API server may refuse evictions of the plan"},
    {"scheduling.koordinator.sh", "Device", " v1alpha1 ", KubernetesKind::kKoordinatorDevice, false,
     "cards that Koordinator shares count as cards of one size, all of them healthy"},
    {"kueue.x-k8s.io", "Topology", " v1alpha1 v1beta1 v1beta2 ", KubernetesKind::kTopology, false,
     "levels that only topologies of Kueue name are unknown"},
    {"node.k8s.io", "RuntimeClass", " v1 ", KubernetesKind::kRuntimeClass, false,
     "overhead, node selector and tolerations that they add to new pods are unknown"},
    {"", "ReplicationController", " v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"apps", "DaemonSet", " v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"batch", "CronJob", " v1 v1beta1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"batch.volcano.sh", "Job", " v1alpha1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"disaggregatedset.x-k8s.io", "DisaggregatedSet", " v1alpha1 v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"grove.io", "PodCliqueSet", " v1alpha1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"jobset.x-k8s.io", "JobSet", " v1alpha2 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"kubeflow.org", "JAXJob", " v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"kubeflow.org", "MPIJob", " v1 v2beta1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"kubeflow.org", "Notebook", " v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"kubeflow.org", "PaddleJob", " v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"kubeflow.org", "PyTorchJob", " v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"kubeflow.org", "TFJob", " v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"kubeflow.org", "XGBoostJob", " v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"ray.io", "RayCluster", " v1alpha1 v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"ray.io", "RayJob", " v1alpha1 v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"ray.io", "RayService", " v1alpha1 v1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"trainer.kubeflow.org", "TrainJob", " v1alpha1 ", KubernetesKind::kPodMaker, true, kNoOwner},
    {"trainer.kubeflow.org", "ClusterTrainingRuntime", " v1alpha1 ", KubernetesKind::kTrainingRuntime, false, kNoOwner},
    {"trainer.kubeflow.org", "TrainingRuntime", " v1alpha1 ", KubernetesKind::kTrainingRuntime, true, kNoOwner},
}};

}  // namespace

bool KnownKind::reads(std::string_view version) const {
  if (version.empty() || version.find(' ') != std::string_view::npos) return false;  // the list has spaces around each
  for (std::size_t at = versions.find(version); at != std::string_view::npos; at = versions.find(version, at + 1)) {
    if (versions[at - 1] == ' ' && versions[at + version.size()] == ' ') return true;
  }
  return false;
}

std::span<const KnownKind> known_kinds() { return std::span(kKnownKinds).first(kAsked); }

std::span<const KnownKind> readable_kinds() { return kKnownKinds; }

const KnownKind* find_known_kind(std::string_view group, std::string_view version, std::string_view kind) {
  for (const KnownKind& known : kKnownKinds) {
    if (known.kind == kind && known.group == group) return known.reads(version) ? &known : nullptr;
  }
  return nullptr;
}

}  // namespace muster::kubernetes
