// `muster import kubernetes`: the output of kubectl becomes a snapshot line.
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& import_kubernetes_syntax();
// argv[0] is "kubernetes"; the exit code is returned. Errors: UsageError.
int run_import_kubernetes(int argc, const char* const* argv);

}  // namespace muster::cli
