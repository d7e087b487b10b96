// Held nodes (docs/semantics.md, "Reservations"): NodeClass::held_for.
//
// PodClass::allowed says for held nodes whether pods may start there in spite of the hold. Pods that may not are of
// other classes than equal pods that may.
#pragma once

#include "model/problem/problem.h"
#include "model/snapshot/filters.h"

namespace muster {

// Whether the hold alone keeps the pods off the nodes of a class that has some.
inline bool is_closed_by_hold(const Problem& problem, const PodClass& pod_class, NodeClassIndex index) {
  const NodeClass& node_class = problem.node_classes[index];
  return !node_class.held_for.is_none() && !pod_class.allowed[index.value()] &&
         passes_filters(problem.snapshot->pod_specs[pod_class.spec],
                        problem.snapshot->nodes[node_class.nodes.front().value()]);
}

// Whether the pods may use the nodes of a class that has some, once no node is held.
inline bool passes_unless_held(const Problem& problem, const PodClass& pod_class, NodeClassIndex index) {
  return pod_class.allowed[index.value()] || is_closed_by_hold(problem, pod_class, index);
}

}  // namespace muster
