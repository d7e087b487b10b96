// The imports of `muster import`: each turns a foreign source into lines of Muster.
#pragma once

#include <string>
#include <string_view>

#include "io/kubernetes/import.h"

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

// `muster import kai-snapshot`: the archive of KAI's scheduler becomes a snapshot line.
const CommandSyntax& import_kai_snapshot_syntax();
// argv[0] is "kai-snapshot"; the exit code is returned. Errors: UsageError.
int run_import_kai_snapshot(int argc, const char* const* argv);

// `muster import kubernetes`: the output of kubectl becomes a snapshot line.
const CommandSyntax& import_kubernetes_syntax();
// argv[0] is "kubernetes"; the exit code is returned. Errors: UsageError.
int run_import_kubernetes(int argc, const char* const* argv);

// `muster import openb`: the Alibaba GPU trace of 2023 becomes a snapshot or a workload.
const CommandSyntax& import_openb_syntax();
// argv[0] is "openb"; the exit code is returned. Errors: UsageError.
int run_import_openb(int argc, const char* const* argv);

// `muster import philly` and `muster import inventory`: a trace of jobs, and a list of nodes.
const CommandSyntax& import_philly_syntax();
const CommandSyntax& import_inventory_syntax();
// argv[0] is "philly" or "inventory"; the exit code is returned. Errors: UsageError.
int run_import_philly(int argc, const char* const* argv);
int run_import_inventory(int argc, const char* const* argv);

// Shared by the imports of Kubernetes objects: one snapshot line out, and the records on stderr.
//
// A line on stderr; returns the exit code.
int complain_of_import(std::string_view message, int exit_code);
int complain_of_import(const InputError& error, std::string_view file);

// The snapshot of a text of JSON documents on stdout, remarks on stderr. Returns the exit code.
enum class Remarks : std::uint8_t { kTold, kQuiet };
int print_imported(const json::JsonText& text, const kubernetes::KubernetesOptions& options, Remarks remarks);

}  // namespace muster::cli
