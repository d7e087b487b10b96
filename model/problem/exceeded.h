// Rule Exceeded: nodes whose pods take more than they report.
//
// NodeClass::capacity and device_count of such nodes are what their pods take, and `reported` is a class without nodes
// that has what they report. A resource is free there only if the end state fits into what is reported of it: the free
// amount is counted from that, and may be negative. Devices beyond the reported ones hold the pods that run on them,
// and never any other. If a node has such devices, the last of the snapshot's resources is the number of devices that
// pods ask for, a sharer's counted whole; nodes without them have more of it than all pods ask for.
#pragma once

#include "model/problem/problem.h"
#include "model/snapshot/filters.h"

namespace muster {

inline constexpr char kDeviceCount[] = "number of devices";

// Whether it is the name of that resource. A resource of the input may be called the same: its name is stored
// elsewhere.
inline bool is_device_count(std::string_view name) { return name.data() == kDeviceCount; }

inline bool is_exceeded(const NodeClass& node_class) { return !node_class.reported.is_none(); }

// The class itself if nothing is exceeded.
inline const NodeClass& as_reported(const Problem& problem, const NodeClass& node_class) {
  return is_exceeded(node_class) ? problem.node_classes[node_class.reported] : node_class;
}

// The resource that is the number of devices; none: there is none.
inline ResourceIndex device_count_resource(const Problem& problem) {
  const auto& names = problem.snapshot->resource_names;
  const bool is_counted = !names.empty() && is_device_count(names.raw().back());
  return is_counted ? ResourceIndex(names.size() - 1) : ResourceIndex::none();
}

// Held nodes (docs/semantics.md, "Reservations"): NodeClass::held_for.
//
// PodClass::allowed says for held nodes whether pods may start there in spite of the hold. Pods that may not are of
// other classes than equal pods that may.
//
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
