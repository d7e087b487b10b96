// The objects of snapshot lines and plan lines with their keys, as the readers know them; for checks of the schemas and
// of docs/format.md.
#pragma once

#include <vector>

#include "io/json/known_keys.h"

namespace muster::muster_v1 {

std::vector<json::KnownObject> known_snapshot_objects();
std::vector<json::KnownObject> known_plan_objects();

}  // namespace muster::muster_v1
