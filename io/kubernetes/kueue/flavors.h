// ResourceFlavors: the nodes to which Kueue would admit a pod of a ClusterQueue.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/kueue/quota_tree.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

class KueueFlavors {
 public:
  [[nodiscard]] bool add(KubernetesReading& reading, const KubernetesObject& object);
  bool has(std::string_view name) const { return flavors_.contains(name); }
  // No object of the list is a ResourceFlavor: then nothing is known of any.
  bool empty() const { return flavors_.empty(); }

  // The flavors of a group with which Kueue could admit the pod, in their order: labels and taints let it in, and the
  // topology has the level that it asks for. Flavors that are not known let everything in. Errors: WrongType.
  [[nodiscard]] bool find(KubernetesReading& reading, const KueueResourceGroup& group, const KubernetesPod& pod,
                          std::vector<std::string_view>& out) const;

  // Restricts a pod that Kueue has not admitted to the nodes of its flavors, one of each group whose resources it asks
  // for, and adds their tolerations. Errors: WrongType, of the pod's affinity.
  [[nodiscard]] bool restrict(KubernetesReading& reading, const KueueQuotas& quotas, KubernetesPod& pod) const;

 private:
  struct Taint {
    std::string_view key, value;
    std::string_view effect;
  };
  struct Flavor {
    std::map<std::string_view, std::string_view> labels;
    std::vector<Taint> taints;
    json::JsonValue tolerations;
    std::string_view topology;
  };
  [[nodiscard]] static bool read_taints(KubernetesReading& reading, json::JsonValue list, std::vector<Taint>& out);
  [[nodiscard]] bool admits(KubernetesReading& reading, const Flavor& flavor, const KueueResourceGroup& group,
                            const KubernetesPod& pod, bool& out) const;
  bool has_key(const KueueResourceGroup& group, std::string_view key) const;

  std::map<std::string_view, Flavor> flavors_;
};

// Whether the pod asks for a resource of the group.
bool asks_for(const KubernetesPod& pod, const KueueResourceGroup& group);

}  // namespace muster::kubernetes
