// What a line that is given to a report holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/json_document.h"
#include "model/error.h"

namespace muster {

enum class ReportLineKind : std::uint8_t {
  kSnapshot,
  kPlan,     // or an error record
  kTrace,    // of `solve --trace`
  kEvent,    // of a simulation
  kSummary,  // of a simulation
  kFigures   // any other object: of a benchmark, shown as a row of a table
};

// Parses the line; `document` holds it afterwards. Errors as SnapshotReader's, of broken JSON and of what is no object.
Result<ReportLineKind> read_report_line(std::string_view line, JsonDocument& document);

// The member of an object; none where it is not there. Cost: O(members).
JsonValue member_of(JsonValue object, std::string_view key);

}  // namespace muster
