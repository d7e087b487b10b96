// What a line that is given to a report holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/json/json_document.h"
#include "model/base/error_code.h"

namespace muster::reporting {

enum class ReportLineKind : std::uint8_t {
  kSnapshot,
  kPlan,              // or an error record
  kTrace,             // of `solve --trace`
  kTimePlan,          // the first line of such a trace
  kEvent,             // of a simulation
  kSummary,           // of a simulation, also as the answer of `simulate --grid`
  kFailedExperiment,  // an error record of `simulate --grid`
  kFigures            // any other object: of a benchmark, shown as a row of a table
};

// Parses the line; `document` holds it afterwards. Errors as SnapshotReader's, for broken JSON and for values that are
// not objects.
Result<ReportLineKind> read_report_line(std::string_view line, json::JsonDocument& document);

// The member of an object; none if it is not there. Cost: O(members).
json::JsonValue member_of(json::JsonValue object, std::string_view key);

}  // namespace muster::reporting
