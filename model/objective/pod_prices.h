// Prices of pods that no node can exceed: the sum of the prices then bounds the number of nodes that the pods need.
//
// Any such price gives a valid bound. They are dual solutions of the bin packing relaxation (Martello and Toth 1990,
// section 8.3), chosen heuristically.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "model/objective/node_end.h"
#include "model/problem/problem.h"

namespace muster {

// A price of pods, and the maximum total of all pods in the capacity of a node.
struct PodPrice {
  std::function<std::int64_t(const PodClass&)> of_pod;
  std::function<std::int64_t(const NodeEnd&)> of_room;
};

// Whole devices that the pod asks for; 0: none, or parts of them.
std::int64_t whole_devices(const PodClass& pod_class);

// The tightest prices come first. `sizes`: the numbers of whole devices that pods ask for. The problem must outlive
// them.
std::vector<PodPrice> pod_prices(const Problem& problem, const std::set<std::int64_t>& sizes);

}  // namespace muster
