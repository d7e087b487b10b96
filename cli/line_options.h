// Options that every front which solves has in common.
#pragma once

#include <vector>

#include "cli/line.h"
#include "cli/options.h"
#include "io/snapshot_reader.h"

namespace muster {

// Of --budget, --engine, --threads, --seed, --gap, --deterministic and --write-model, as far as the command has them.
// Throws UsageError.
LineOptions line_options(const Settings& settings);

// The rows of the options that say something of the policy of every snapshot, for CommandSyntax: --scheduler-name,
// --actions, --no-evictions, --max-moves and --protect. `others` follow them.
std::vector<OptionRow> with_policy_options(std::vector<OptionRow> others);
// What they say. Throws UsageError.
PolicyOverrides policy_overrides(const Settings& settings);

// Of --lenient, --strict, --time, --max-line-bytes and the policy's, as far as the command has them. Throws UsageError.
ReaderOptions reader_options(const Settings& settings);

}  // namespace muster
