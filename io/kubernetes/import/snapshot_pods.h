// A pod, its gang and its devices known -> an entry of Snapshot::pods.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/kubernetes/import/gangs.h"
#include "io/kubernetes/import/queues.h"
#include "io/kubernetes/pod/pod.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::kubernetes {

// Adds what of a pod's spec does not depend on other objects.
void add_own(muster_v1::SpecSignature& signature, KubernetesReading& reading, const KubernetesPod& pod);

// Appends pods to the snapshot of `out`, which reads as Kubernetes does: null is absent.
//
// Equal specs are kept once. Cost, a pod: that of its signature and its labels; a spec that is new is read.
class SnapshotPods {
 public:
  SnapshotPods(KubernetesReading& in, muster_v1::SnapshotInput& out, const KubernetesGangs& gangs,
               KubernetesQueues& queues)
      : in_(in), out_(out), gangs_(gangs), queues_(queues) {}

  // A pod of which something cannot be read is an error of a strict reading; else it is there with what can be read,
  // its gang is held, it stays where it runs, and nothing new is placed there.
  [[nodiscard]] bool add(const KubernetesPod& pod);

 private:
  [[nodiscard]] bool read(const KubernetesPod& pod, SnapshotPod& out);
  InputError take_error();
  void set_unclear(const std::string& why, SnapshotPod& out);
  SnapshotPod readable_part(const KubernetesPod& pod);
  void set_rest(const KubernetesPod& pod, SnapshotPod& out);
  void identify(const KubernetesPod& pod, SnapshotPod& out);
  [[nodiscard]] bool place(const KubernetesPod& pod, SnapshotPod& out);
  [[nodiscard]] bool read_labels(const KubernetesPod& pod, Labels& out);
  void set_owner(const ObjectName& owner, SnapshotPod& out);
  void set_own_terms(const KubernetesPod& pod, SnapshotPod& out);

  [[nodiscard]] bool find_spec(const KubernetesPod& pod, PodSpecIndex& out);
  [[nodiscard]] bool read_spec(const KubernetesPod& pod, const NodeTerm& of_gang, PodSpec& out);
  [[nodiscard]] bool read_requests(const KubernetesPod& pod, PodSpec& out);
  [[nodiscard]] bool read_gpus(const KubernetesPod& pod, GpuRequest& out);
  [[nodiscard]] bool read_tolerations(const KubernetesPod& pod, json::JsonValue list, std::vector<Toleration>& out);
  void remark_on_tolerations(const KubernetesPod& pod, std::int64_t count);
  [[nodiscard]] bool read_node_affinity(const KubernetesPod& pod, const NodeTerm& of_gang, NodeAffinity& out);
  [[nodiscard]] bool read_terms(const KubernetesPod& pod, const NodeTerms& terms, std::vector<NodeSelectorTerm>& out);
  [[nodiscard]] bool read_pod_terms(const PodTermValues& terms, std::vector<PodTerm>& required,
                                    std::vector<PreferredPodTerm>& preferred);
  [[nodiscard]] bool read_spread(json::JsonValue list, std::vector<SpreadConstraint>& out);

  KubernetesReading& in_;
  muster_v1::SnapshotInput& out_;
  const KubernetesGangs& gangs_;
  KubernetesQueues& queues_;
  muster_v1::SpecSignature signature_;                     // of one pod at a time
  std::unordered_map<std::string, std::int64_t> ignored_;  // tolerations, by signature; only where there are any
};

}  // namespace muster::kubernetes
