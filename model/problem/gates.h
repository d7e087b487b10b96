// Gates: the cluster's own (a scheduling gate, a suspended job), and those of an importer that holds a pod because it
// cannot plan it correctly. See docs/semantics.md, "Phases" and "Reasons".
#pragma once

#include <functional>
#include <string_view>

#include "model/problem/problem.h"

namespace muster {

enum class GateKind : std::uint8_t { kNone, kGated, kHeld };

// The gate that a gang waits for, if any: one of its pods is gated, and either no pending pod remains, or the minimum
// cannot be met without the gated pods and could be met with them. `kHeld` if one of the gated pods is held.
// `is_present(pod)`: it runs or is placed after the plan. Cost: O(pods + groups) of the gang.
GateKind gate_of(const Problem& problem, const Gang& gang, const std::function<bool(PodIndex)>& is_present);

// Why the gang's pods are held: what is said of the first, with the details of another. Empty: none is, or none is
// gated.
std::string_view held_message(const Problem& problem, const Gang& gang);

// Whether all pods that exist, gated ones included, would meet the minimum. Cost: as gate_of.
bool has_enough_pods(const Problem& problem, const Gang& gang);

}  // namespace muster
