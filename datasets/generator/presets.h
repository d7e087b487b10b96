// Named options of the generator, and what is wrong with options.
#pragma once

#include <optional>
#include <string_view>

#include "datasets/generator/options.h"
#include "model/base/error_code.h"

namespace muster::generator {

// Named options: "synth" (40 % fractional, 35 % 1-GPU, 10 % 2, 5 % 4, 10 % 8-GPU pods in gangs of 1..64 on nodes of
// 8 GPUs, 96 cores, 768 GiB), "full" (some of every feature), "contended" (synth with three queues and three
// priorities on 1,000 nodes, half occupied, nearly all of it by one queue; a fifth of the load fits only where
// a pod is evicted), and the situations "reclaim-gang", "reclaim-singles",
// "consolidate" and "unplaceable". None: there is no such preset.
std::optional<GeneratorOptions> generator_preset(std::string_view name);

// What is wrong with the options, none: nothing. Code InvalidOption, path: the option's name on the command line.
std::optional<InputError> generator_fault(const GeneratorOptions& options);

}  // namespace muster::generator
