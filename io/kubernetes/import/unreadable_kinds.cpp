#include "io/kubernetes/import/unreadable_kinds.h"

#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

// Whether what the pod may do depends on objects of this kind. What is missing for a pod only changes its value, such
// as a priority class, or is checked by the API server, such as a disruption budget, does not count.
bool depends_on(const KubernetesPod& pod, const KnownKind& known) {
  const GroupSystem system = pod.membership.reference.system;
  const bool is_of_kai =
      system == GroupSystem::kKai || system == GroupSystem::kKaiOwner || system == GroupSystem::kKaiPod;
  const bool is_of_volcano = system == GroupSystem::kVolcano || system == GroupSystem::kVolcanoOwner;
  const bool is_of_kueue = system == GroupSystem::kKueue || !pod.membership.labels.kueue_queue.empty();
  switch (known.meaning) {
    case KubernetesKind::kTopology:
      return known.group == "kueue.x-k8s.io" ? is_of_kueue : is_of_kai;
    case KubernetesKind::kKaiQueue:
    case KubernetesKind::kKaiGroup:
    case KubernetesKind::kBindRequest:
    case KubernetesKind::kKaiShard:
      return is_of_kai;
    case KubernetesKind::kVolcanoQueue:
    case KubernetesKind::kVolcanoGroup:
      return is_of_volcano;
    case KubernetesKind::kWorkload:
      return system == GroupSystem::kWorkload;
    case KubernetesKind::kPodGroup:
      return system == GroupSystem::kPodGroup;
    case KubernetesKind::kCoschedulingGroup:
      return system == GroupSystem::kCoscheduling;
    case KubernetesKind::kCoschedulingSigsGroup:
      return system == GroupSystem::kCoschedulingSigs || system == GroupSystem::kKoordinator;
    case KubernetesKind::kLocalQueue:
    case KubernetesKind::kClusterQueue:
    case KubernetesKind::kCohort:
    case KubernetesKind::kResourceFlavor:
    case KubernetesKind::kWorkloadPriorityClass:
    case KubernetesKind::kKueueWorkload:
      return is_of_kueue;
    case KubernetesKind::kVolume:
    case KubernetesKind::kVolumeClaim:
    case KubernetesKind::kStorageClass:
    case KubernetesKind::kCsiNode:
      return static_cast<bool>(pod.volumes.list);
    default:
      return pod.owner.kind == known.kind && (is_of_kai || is_of_volcano);  // whose groups are made from owners
  }
}

}  // namespace

UnreadableKinds::UnreadableKinds(const std::vector<const KnownKind*>& kinds) {
  for (const KnownKind* known : kinds) {
    MUSTER_REQUIRE(known != nullptr);
    const std::string name = std::string(known->kind) + (known->group.empty() ? "" : "." + std::string(known->group));
    kinds_.emplace_back(known, "the API server cannot list " + name + " now, which it depends on");
  }
}

void UnreadableKinds::heed(KubernetesPod& pod) const {
  for (const auto& [known, why] : kinds_) {
    if (depends_on(pod, *known)) pod.heed(known::Effect{why, true});
  }
}

}  // namespace muster::kubernetes
