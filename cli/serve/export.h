// The request and response of `POST /v1/export`: an NDJSON body of a plan, or of a snapshot and then its plan; the
// format, the phase and the gates in the query.
#pragma once

#include <string_view>

#include "cli/line/export_line.h"
#include "cli/line/line.h"

namespace muster::cli {

// The values of `format`, `phase`, `gate` and `allow-shared` in a query ("format=bindings&phase=now", percent-encoded),
// without the snapshot. Errors: InvalidValue, of unknown or repeated keys and broken encoding.
Result<ExportWords> export_words(std::string_view query);

// Of the whole body. The objects, one a line; the remarks as the log. Errors: those of export_options() and
// export_line(); InvalidValue, if there are not one or two lines.
Answer export_answer(muster_v1::SnapshotReader& reader, std::string_view body, ExportWords words);

}  // namespace muster::cli
