// Whether and where Kueue may admit a pod that waits: namespaces and covered resources of its ClusterQueue, flavors.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

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

}  // namespace muster::kubernetes
