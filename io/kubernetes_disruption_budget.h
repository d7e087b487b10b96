// PodDisruptionBudget (policy/v1) -> disruptionBudgets[].
#pragma once

#include "io/kubernetes_object.h"

namespace muster {

// Writes one entry. As for the eviction API, a budget whose status is absent or behind its specification allows
// nothing, and a pod that several budgets select cannot be evicted.
[[nodiscard]] bool import_disruption_budget(KubernetesReading& reading, const KubernetesObject& object,
                                            JsonWriter& writer);
// Writes an entry of one that cannot be read, which lets none of the pods go that it may select.
void write_unclear_budget(KubernetesReading& reading, const KubernetesObject& object, std::string_view why,
                          JsonWriter& writer);

}  // namespace muster
