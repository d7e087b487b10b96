// `muster import philly` and `muster import inventory`: a trace of jobs, and a list of nodes.
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& import_philly_syntax();
const CommandSyntax& import_inventory_syntax();
// argv[0] is "philly" or "inventory"; the exit code is returned. Errors: UsageError.
int run_import_philly(int argc, const char* const* argv);
int run_import_inventory(int argc, const char* const* argv);

}  // namespace muster::cli
