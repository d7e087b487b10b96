// Options that every front which solves has in common.
#pragma once

#include "cli/line.h"
#include "cli/options.h"
#include "io/snapshot_reader.h"

namespace muster {

// Of --budget, --engine, --threads, --seed, --gap, --deterministic and --write-model, as far as the command has them.
// Throws UsageError.
LineOptions line_options(const Settings& settings);

// Of --lenient, --strict, --time and --max-line-bytes, as far as the command has them. Throws UsageError.
ReaderOptions reader_options(const Settings& settings);

}  // namespace muster
