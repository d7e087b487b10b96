// The shapes of pods, gangs and nodes as options and arguments give them.
//
// Amounts are Kubernetes quantities: `cpu=4`, `memory=16Gi`, `ephemeral-storage=100Gi`. Errors: InvalidValue; the
// message names the part that cannot be read. Cost: O(length of the text).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/error_code.h"
#include "model/change/change.h"

namespace muster::cli {

// `[PODSx]GPUS[:MODEL][,KEY=VALUE...]`, or without GPUS: `[PODSx]KEY=VALUE[,KEY=VALUE...]`.
//
// GPUS is a number of devices, or a part of one ("0.5"). The keys: `gpu-memory` (of each of GPUS devices, of one by
// default), `model` (may be repeated: any of them), `level` (a topology level that the gang requires), `tolerate` (the
// key of a taint, may be repeated), `gpu` (as GPUS); every other key is a resource. Requests of one pod.
Result<change::GangShape> parse_shape(std::string_view text);

// `[NUMBERx]gpu=GPUS[:MODEL][,cpu=N][,memory=Q][,gpu-memory=Q][,label=KEY:VALUE][,RESOURCE=Q...]`. `gpu-memory`: of
// one device.
Result<change::AddShapedNodes> parse_node_shape(std::string_view text);

// Whether the text is that of a shape of nodes, and not of the name of a node.
bool is_node_shape(std::string_view text);

// For the error of an option or argument: "SHAPE: ...".
std::string shape_error(std::string_view text, const InputError& error);

}  // namespace muster::cli
