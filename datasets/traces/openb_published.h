// The published results of the OpenB experiment: what six policies left unallocated, by arrived percent.
//
// Source: Weng et al., "Beware of Fragmentation", USENIX ATC 2023, as repeated in hkust-adsl/
// kubernetes-scheduler-simulator (`experiments/analysis/expected_results`); mean over ten seeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/base/error.h"

namespace muster::traces {

struct OpenbPublished {
  std::string trace, policy;           // "BestFit", "DotProd", "FGD", "GpuClustering", "GpuPacking", "Random"
  std::int32_t arrived = 0;            // percent of the cluster's GPUs that the pods so far have asked for, rounded
  std::int32_t unallocated_milli = 0;  // thousandths of a percent of the cluster's GPUs
};

// Of a directory laid out as datasets/openb. Errors: NoInput, MissingColumn, InvalidValue.
Result<std::vector<OpenbPublished>> load_openb_published(const std::string& directory);

}  // namespace muster::traces
