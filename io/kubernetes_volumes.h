// Where the volumes of pods let them run: rules of kube-scheduler's VolumeBinding, VolumeZone and VolumeRestrictions
// (v1.37), as required node affinity, or as a reason to hold the pod.
#pragma once

#include <cstddef>
#include <vector>

#include "io/kubernetes_pod.h"
#include "io/kubernetes_storage.h"

namespace muster {

// Most terms of a node affinity that is joined out of two with several terms each, a pod's own or those of its volumes;
// a pod with more is held.
inline constexpr std::size_t kMostNodeTerms = 128;

// Sets `required_terms`, `unbound_volumes` and `held` of pods with claims. `made` is the position of the first pod that
// does not exist yet, whose claims may not either. Without any claim in the list, claims are passed over with a remark.
// Errors: WrongType.
[[nodiscard]] bool settle_volumes(KubernetesReading& reading, const KubernetesStorage& storage,
                                  std::vector<KubernetesPod>& pods, std::size_t made);

}  // namespace muster
