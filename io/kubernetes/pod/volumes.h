// The nodes on which the volumes of pods let them run: rules of kube-scheduler's VolumeBinding, VolumeZone and
// VolumeRestrictions (v1.37), as terms of nodes, or as a reason to hold the pod.
#pragma once

#include <cstddef>
#include <vector>

#include "io/kubernetes/pod/pod.h"
#include "io/kubernetes/pod/storage.h"

namespace muster::kubernetes {

// Most terms that two volumes of one pod, with several terms each, are joined to; a pod with more is held.
inline constexpr std::size_t kMostNodeTerms = 128;

// Sets `volume_terms`, `unbound_volumes` and `held` of pods with claims. `made` is the position of the first pod that
// does not exist yet; its claims may not exist either. If the list contains no claims, claims are ignored with a
// remark. Errors: WrongType.
[[nodiscard]] bool settle_volumes(KubernetesReading& reading, const KubernetesStorage& storage,
                                  std::vector<KubernetesPod>& pods, std::size_t made);

}  // namespace muster::kubernetes
