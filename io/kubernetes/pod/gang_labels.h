// Labels and annotations of Koordinator's and YuniKorn's gangs -> the membership of a pod, the terms of a PodGroup
#pragma once

#include <string_view>

#include "io/kubernetes/pod/gang_terms.h"
#include "io/kubernetes/pod/membership.h"

namespace muster::kubernetes {

// After read_group_reference: a pod that names no group of another system may name one of these. `held`: see
// keep_first_reason. Errors: WrongType, InvalidValue, of a number of pods.
[[nodiscard]] bool read_dialect_labels(KubernetesReading& reading, const PodParts& parts, GroupMembership& out,
                                       std::string_view& held);

// Koordinator's annotations of a PodGroup. `held` as above. Errors: WrongType.
[[nodiscard]] bool read_koordinator_annotations(KubernetesReading& reading, const KubernetesObject& object,
                                                DialectLabels& out, std::string_view& held);

}  // namespace muster::kubernetes
