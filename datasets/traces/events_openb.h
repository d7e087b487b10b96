// The OpenB trace as a workload: its pods one after another, in the published order of arrival.
#pragma once

#include <string>

#include "datasets/traces/openb.h"

namespace muster::traces {

// A snapshot line with the empty nodes, then one event line (docs/simulation.md) a pod, a second apart from second 1
// on; pods run for ever. `arrived_percent`, `id` and `place_only` of the options count, the others must have their
// defaults. A repeated row is a further pod, named as in openb_snapshot. Requires no openb_fault. Equal arguments give
// equal bytes.
std::string openb_workload(const OpenbInput& input, const OpenbOptions& options);

}  // namespace muster::traces
