// Kinds of objects that the cluster has and the API server cannot list or watch now: a conversion webhook that is down,
// an error of etcd, an aggregated server that is away. What depends on one is held; everything else is planned.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/object/kinds.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

class UnreadableKinds {
 public:
  // Requires kinds of known_kinds().
  explicit UnreadableKinds(const std::vector<const KnownKind*>& kinds);

  // Holds the pod if its group, its queue, its volumes or what made it is of such a kind; if it runs, it stays. Of
  // a pod whose membership is known. Cost: O(kinds).
  void heed(KubernetesPod& pod) const;

 private:
  std::vector<std::pair<const KnownKind*, std::string>> kinds_;  // each with why pods are held
};

}  // namespace muster::kubernetes
