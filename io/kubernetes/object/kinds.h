// The kinds of Kubernetes objects that the import reads.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster::kubernetes {

enum class KubernetesKind : std::uint8_t {
  kNode,
  kPod,
  kNamespace,
  kPriorityClass,
  kTopology,
  kKaiQueue,
  kVolcanoQueue,
  kWorkload,
  kPodGroup,
  kKaiGroup,
  kVolcanoGroup,
  kCoschedulingGroup,
  kCoschedulingSigsGroup,
  kBindRequest,
  kDeployment,
  kReplicaSet,
  kStatefulSet,
  kJob,
  kLeaderWorkerSet,
  kLocalQueue,
  kClusterQueue,
  kCohort,
  kResourceFlavor,
  kWorkloadPriorityClass,
  kVolume,
  kVolumeClaim,
  kStorageClass,
  kDisruptionBudget,
  kCsiNode,
  kKueueWorkload,
  kKoordinatorDevice,
  kKaiShard,
  kElasticQuota,
  kRuntimeClass,
  kPodMaker,  // of io/kubernetes/templates/kind_table.cpp, but for those above
  kTrainingRuntime,
  kCount
};

struct KnownKind {
  std::string_view group, kind;
  std::string_view versions;  // that are read, from old to new, with a space before and after each
  KubernetesKind meaning;
  bool has_namespace;
  // What the plan does not respect or does not know if the input lacks objects of this kind that the cluster has; reads
  // after a colon.
  std::string_view without;

  bool reads(std::string_view version) const;
};

// Those that a cluster is asked for. Some kinds have several rows: those of several API groups, such as Topology.
std::span<const KnownKind> known_kinds();
// The same, and then those that are read only if the input has them: what makes pods makes them in the cluster.
std::span<const KnownKind> readable_kinds();

// None: objects of this kind, or of this version of it, are ignored.
const KnownKind* find_known_kind(std::string_view group, std::string_view version, std::string_view kind);

}  // namespace muster::kubernetes
