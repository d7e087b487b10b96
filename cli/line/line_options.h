// Options that every front which solves has in common.
#pragma once

#include <string>
#include <vector>

#include "cli/line/line.h"
#include "cli/terminal/options.h"
#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::cli {

// The choices of --engine.
inline constexpr const char* kEngines = "auto greedy milp";

// Of --budget, --engine, --threads, --seed, --gap, --deterministic, --remedies and --write-model, as far as the command
// has them. Throws UsageError.
LineOptions line_options(const Settings& settings);

// The rows of the options that override the policy of every snapshot, for CommandSyntax: --scheduler-name, --actions,
// --no-evictions, --max-moves and --protect. `others` follow them.
std::vector<OptionRow> with_policy_options(std::vector<OptionRow> others);
// Their values. Throws UsageError.
muster_v1::PolicyOverrides policy_overrides(const Settings& settings);

// The row of --remedies, for the commands that write plan lines.
OptionRow remedies_row();

// The rows of --duration-annotation and --planned-gate, for every command that reads Kubernetes objects; the second is
// among those of with_policy_options.
OptionRow duration_annotation_row();
OptionRow planned_gate_row();
// Of --strict, --time, --duration-annotation and --planned-gate, as far as the command has them. Throws UsageError.
kubernetes::KubernetesOptions kubernetes_options(const Settings& settings);

// Of --lenient, --strict, --time, --duration-annotation, --max-line-bytes and the policy's, as far as the command has
// them. Throws UsageError.
muster_v1::ReaderOptions reader_options(const Settings& settings);

}  // namespace muster::cli
