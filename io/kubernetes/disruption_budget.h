// PodDisruptionBudget (policy/v1) -> disruptionBudgets[].
#pragma once

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

// Writes one entry. As in the eviction API, a budget whose status is absent or older than its specification allows
// nothing, and a pod that several budgets select cannot be evicted.
[[nodiscard]] bool import_disruption_budget(KubernetesReading& reading, const KubernetesObject& object,
                                            json::JsonWriter& writer);
// Writes an entry for a budget that cannot be read, which allows no eviction of the pods that it may select.
void write_unclear_budget(KubernetesReading& reading, const KubernetesObject& object, std::string_view why,
                          json::JsonWriter& writer);

}  // namespace muster::kubernetes
