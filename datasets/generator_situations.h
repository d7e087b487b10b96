// Four situations of policy that are hard at scale, each made so that what the best plan does can be told beforehand.
//
// reclaim-gang: every GPU under a preemptible 1-GPU pod of one queue; the other queue's one gang wants a tenth of the
//   nodes whole, which is within its share. Best: it runs, and just as many pods go as it has GPUs.
// reclaim-singles: the same cluster, and in the other queue as many pending 1-GPU pods as run. Best: half and half.
// consolidate: every node has the same few GPUs in use, and each pod of the pending gangs wants one GPU more than any
//   node has free. Best: all gangs run and nothing goes, for one small pod moved out of the way of each.
// unplaceable: nearly full; one gang wants whole nodes, and all but half as many as it needs have a pod that may not be
//   evicted. Best: nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "datasets/generator.h"
#include "datasets/instance.h"

namespace muster {

// Line k. Requires a situation other than kDrawn and no generator_fault.
Instance situation_instance(const GeneratorOptions& options, std::uint64_t k);

// What is wrong with the options of a situation, none: nothing.
std::optional<InputError> situation_fault(const GeneratorOptions& options);

}  // namespace muster
