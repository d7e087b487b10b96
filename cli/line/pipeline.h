// Lines in, answers out: one thread reads and parses ahead, one solves, one writes.
#pragma once

#include <cstdint>
#include <string>

#include "cli/line/line.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"

namespace muster::cli {

enum class OutputForm : std::uint8_t { kJson, kTable };

struct PipelineOptions {
  muster_v1::ReaderOptions reader;
  LineOptions line;
  bool summaries = false;
  OutputForm form = OutputForm::kJson;  // a table has no rows for lines that cannot be read: the console reports them
  std::size_t width = 0;                // of the terminal that a table is for; 0: it is for none
};

struct PipelineOutcome {
  std::int64_t answered = 0;  // lines, error records included
  std::int64_t errors = 0;    // error records
  std::int64_t defects = 0;
  int write_error = 0;   // errno; 0: everything was written
  bool is_yaml = false;  // the input began with YAML and has not been read on
};

// Answers every line of `source` on `output`, in order, each as soon as it is ready. Ends at the end of the input,
// after the current line when a signal has been received, or when the output cannot be written. Memory: at most
// kLinesAhead parsed lines and as many answers wait at any time, and no more than kBytesAhead of text unless a single
// line is longer. Uses the calling thread to solve.
PipelineOutcome run_pipeline(LineSource& source, int output, LineSolver& solver, const PipelineOptions& options,
                             Console& console);

}  // namespace muster::cli
