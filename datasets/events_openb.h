// The OpenB trace as a workload: its pods one after another, in the published order of arrival.
#pragma once

#include <string>

#include "datasets/openb.h"

namespace muster {

// A snapshot line with the empty nodes, then one event line (docs/simulation.md) a pod, a second apart from second 1
// on; pods run for ever. `arrived_percent`, `id` and `place_only` of the options count, the others must be as they are
// at first. A row that comes again is a further pod, named as in openb_snapshot. Requires no openb_fault. Equal
// arguments give equal bytes.
std::string openb_workload(const OpenbInput& input, const OpenbOptions& options);

}  // namespace muster
