// Whether and where Kueue may admit a pod that waits: namespaces and covered resources of its ClusterQueue, flavors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/kueue/flavors.h"
#include "io/kubernetes/kueue/queues.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

class KueueAdmission {
 public:
  // Refers to both, which outlive it.
  KueueAdmission(const KueueQueues& queues, const KueueFlavors& flavors) : queues_(queues), flavors_(flavors) {}

  [[nodiscard]] bool add_namespace(KubernetesReading& reading, const KubernetesObject& object);

  // Holds a pod that waits and that its ClusterQueue does not admit, and restricts one that is not admitted yet to the
  // nodes of the flavors. Errors: WrongType.
  [[nodiscard]] bool settle(KubernetesReading& reading, KubernetesPod& pod) const;

  // Holds pods that wait if one flavor has to have all of their pod set, and none of their ClusterQueue's can: of
  // queues with several flavors, whose quotas a snapshot adds up. Once all pods have joined. Cost: O(pods log pods).
  void hold_beyond_flavors(KubernetesReading& reading, std::vector<KubernetesPod>& pods) const;

 private:
  using Sums = std::map<std::string_view, std::int64_t>;
  bool fits(KubernetesReading& reading, const KueueQueue& queue, const KubernetesPod& pod, const Sums& sums) const;
  [[nodiscard]] bool selects(KubernetesReading& reading, json::JsonValue selector, const KubernetesPod& pod,
                             bool& out) const;
  [[nodiscard]] bool hold(KubernetesReading& reading, const KueueQueue& queue, KubernetesPod& pod) const;

  const KueueQueues& queues_;
  const KueueFlavors& flavors_;
  std::map<std::string_view, json::JsonValue> namespaces_;  // their labels
};

// The pod sets of a Workload of Kueue, from the pods of its gang.
class KueuePodSets {
 public:
  // Counts the pod with its set. The subgroup of that name, if the sets need subgroups.
  std::string_view add(const KubernetesPod& pod);

  // The minimum and the topology of the gang, once all pods are added. A Workload is admitted whole; once it is, each
  // of its pods starts by itself. If several sets ask for a topology, each is a subgroup.
  void settle(KubernetesGroup& group) const;

 private:
  struct PodSet {
    std::string_view name;
    std::int64_t there = 0, started = 0;  // that have not failed or left; that run or have succeeded
    TopologyRequest topology;
  };
  std::vector<PodSet> sets_;
  std::unordered_map<std::string_view, std::size_t> positions_;  // by name
};

}  // namespace muster::kubernetes
