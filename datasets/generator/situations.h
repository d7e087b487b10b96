// Four situations of policy that are hard at scale, each built so that the best plan is known in advance.
//
// reclaim-gang: every GPU under a preemptible 1-GPU pod of one queue; the other queue's one gang wants a tenth of the
//   nodes whole, which is within its share. Best: it runs, and exactly as many pods are evicted as it has GPUs.
// reclaim-singles: the same cluster, and in the other queue as many pending 1-GPU pods as run. Best: half and half.
// consolidate: every node has the same few GPUs in use, and each pod of the pending gangs wants one GPU more than any
//   node has free. Best: all gangs run and nothing is evicted; for each, one small pod is moved away.
// unplaceable: nearly full; one gang wants whole nodes, and all but half as many as it needs have a pod that may not be
//   evicted. Best: nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "datasets/generator/instance.h"
#include "datasets/generator/options.h"
#include "model/base/error_code.h"

namespace muster::generator {

// Line k. Requires a situation other than kDrawn and no generator_fault.
Instance situation_instance(const GeneratorOptions& options, std::uint64_t k);

// What is wrong with the options of a situation, none: nothing.
std::optional<InputError> situation_fault(const GeneratorOptions& options);

}  // namespace muster::generator
