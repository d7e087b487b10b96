// PodDisruptionBudget (policy/v1) -> disruptionBudgets[].
#pragma once

#include <string_view>

#include "io/kubernetes/object/object.h"
#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// Writes one entry. As in the eviction API, a budget whose status is absent or older than its specification allows
// nothing, and a pod that several budgets select cannot be evicted.
[[nodiscard]] bool import_disruption_budget(KubernetesReading& reading, const KubernetesObject& object,
                                            json::JsonWriter& writer);
// Writes an entry for a budget that cannot be read, which allows no eviction of the pods that it may select.
void write_unclear_budget(KubernetesReading& reading, const KubernetesObject& object, std::string_view why,
                          json::JsonWriter& writer);

// A label selector in the syntax of kubectl: "team=infra,tier in (prod, edge),!spot".
//
// Requirements between commas: `key=value`, `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key`,
// `!key`. The selector's words are views of `text`. Errors: InvalidValue; the message names the requirement.
Result<LabelSelector> parse_label_selector(std::string_view text);

}  // namespace muster::kubernetes
