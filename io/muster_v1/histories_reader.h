// Reads histories: of a plan, and of the file in which a server keeps them.
#pragma once

#include <string_view>
#include <vector>

#include "io/json/reading.h"
#include "io/muster_v1/histories.h"
#include "io/muster_v1/known_objects.h"
#include "model/base/error.h"

namespace muster::muster_v1 {

// Errors as those of SnapshotReader.
Result<Histories> read_histories(std::string_view text);
// The same in a plan line. False: `in.error` describes what is wrong.
[[nodiscard]] bool read_histories(::muster::json::Reading& in, ::muster::json::JsonValue object, Histories& out);
void add_history_objects(std::vector<::muster::json::KnownObject>& out);

}  // namespace muster::muster_v1
