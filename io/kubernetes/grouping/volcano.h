// The PodGroup that Volcano's controller is going to make for pods which have none yet (pkg/controllers/podgroup of
// Volcano): one for the pods of one controller, as its annotations have it.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

inline constexpr std::string_view kVolcanoScheduler = "volcano";
// Of pods, of objects that make them, and of their namespace.
inline constexpr std::string_view kVolcanoQueueAnnotation = "scheduling.volcano.sh/queue-name";

class VolcanoPodGrouper {
 public:
  // Whether Volcano places the pod, but has not made its PodGroup yet.
  static bool awaits_group(const KubernetesPod& pod);

  // A Namespace may name the queue of its new groups that name none. Its texts outlive the object.
  void add_namespace(const KubernetesObject& object);
  void settle_queue(KubernetesGroup& group) const;

  // Sets the reference of the pod and returns the group that it names. `above`: the objects above the pod that the list
  // has, the nearest first. Cost: O(labels and annotations).
  KubernetesGroup join(KubernetesPod& pod, const std::vector<const KubernetesObject*>& above) const;

 private:
  std::unordered_map<std::string_view, std::string_view> queues_;  // by namespace
};

}  // namespace muster::kubernetes
