// `muster import openb`: the Alibaba GPU trace of 2023 becomes a snapshot or a workload.
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& import_openb_syntax();
// argv[0] is "openb"; the exit code is returned. Errors: UsageError.
int run_import_openb(int argc, const char* const* argv);

}  // namespace muster::cli
